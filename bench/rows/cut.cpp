// SPDX-License-Identifier: Apache-2.0
//
// What rows of one moment cost: the service that counts, and the reader.
#include <fmt/format.h>

#include "meterbank/reader/query.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

[[gnu::noinline]] void add_hot(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instance.add(0, 1);
}
[[gnu::noinline]] void update_eight(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    instance.update([](Values& values) noexcept {
      for (std::uint32_t word = 0; word < 8; ++word) values.add(word, 1);
    });
  }
}

void commits(const Effort& effort, Table& table) {
  const SetShape plain{.many = false, .checkpoint = true};
  SetShape with_cuts = plain;
  with_cuts.cuts = true;
  Workplace workplace;
  Instance off = std::move(workplace.fill(workplace.add(plain), plain, 1).front());
  Instance on = std::move(workplace.fill(workplace.add(with_cuts), with_cuts, 1).front());
  const std::uint64_t turns = effort.operations;
  table.ratio_row(
      "commit 1 of 8 of a set with cuts (limit: without)",
      compare(
          effort.rounds, turns, [&] { add_hot(on, turns); }, [&] { add_hot(off, turns); }),
      {});
  table.ratio_row("commit 8 of 8 of a set with cuts (limit: without)",
                  compare(
                      effort.rounds, turns / 4, [&] { update_eight(on, turns / 4); },
                      [&] { update_eight(off, turns / 4); }),
                  {});
}

void collects(const Effort& effort, Table& table) {
  const SetShape shape{.many = true, .checkpoint = true, .cuts = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> instances = workplace.fill(set, shape, effort.live);
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query plain = must(Query::compile(catalog, {}));
  Sample sample;
  plain.collect(sample, Timestamp{});
  const std::uint64_t turns = std::max<std::uint64_t>(4, effort.operations / 4 / effort.live);
  const auto collect = [&](Query& query, Cut cut) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) query.collect(sample, Timestamp{}, cut);
  };
  for (const Cut cut : {Cut::kTry, Cut::kEpoch}) {
    Query query = must(Query::compile(catalog, {}));
    table.ratio_row(fmt::format("collect {} instances of 8, idle, {} (limit: without a cut)",
                                effort.live, cut == Cut::kTry ? "Cut::kTry" : "Cut::kEpoch"),
                    compare(
                        effort.rounds, turns * effort.live, [&] { collect(query, cut); },
                        [&] { collect(plain, Cut::kNone); }),
                    {});
  }
}

}  // namespace

void cut_rows(const Effort& effort, Table& table) {
  commits(effort, table);
  collects(effort, table);
}

}  // namespace meterbank::bench
