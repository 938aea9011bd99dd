// SPDX-License-Identifier: Apache-2.0
//
// Reading as a monitoring program reads: a catalog, a query, samples.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "../../tests/support/sample_words.hpp"
#include "meterbank/reader/query.hpp"
#include "rows/bulk.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::uint64_t kSegmentsMax = std::uint64_t{4} << 30;

Catalog open_catalog(const Workplace& workplace) {
  return must(Catalog::open({.directory = workplace.directory(),
                             .segment_bytes_max = kSegmentsMax,
                             .user_bytes_max = kSegmentsMax}));
}

Query query_all(const Catalog& catalog) { return must(Query::compile(catalog, {})); }

void bulk(const Effort& effort, Table& table, const BulkShape& shape) {
  const SetShape set_shape{.counters = shape.words, .many = shape.tile};
  Workplace workplace;
  const Registration set = workplace.add(set_shape);
  const std::vector<Instance> live = workplace.fill(set, set_shape, shape.instances);
  const Catalog catalog = open_catalog(workplace);
  Query query = query_all(catalog);
  Sample sample;
  query.prepare(sample);
  const CollectSummary first = query.collect(sample);
  if (first.rows != shape.instances || first.not_fresh != 0) {
    give_up(fmt::format("bulk: {} of {} rows, {} not fresh", first.rows, shape.instances,
                        first.not_fresh));
  }
  for (std::size_t row = 0; row < first.rows; ++row) {
    if (content_of(sample).row(row)[shape.words - 1] != row * 100 + shape.words - 1) {
      give_up(fmt::format("bulk: row {} holds a wrong value", row));
    }
  }
  const Timestamp time = sample.time;
  bulk_row(effort, table, shape, [&] { keep(query.collect(sample, time).rows); });
}

void poll_one(const Effort& effort, Table& table) {
  const SetShape shape{.many = false, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, 1);
  const Catalog catalog = open_catalog(workplace);
  Query query = query_all(catalog);
  Sample sample;
  query.prepare(sample);
  const BlockParts<const SharedWord> block = test::block_of(*plan_of(query), 0);
  std::vector<std::uint64_t> values(block.words);
  const std::uint64_t turns = effort.operations / 10;
  const Timestamp time = Timestamp::now();
  table.time_row("did anything change? Catalog::stale (limit: one load)",
                 compare(
                     effort.rounds, turns,
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns; ++turn) keep(catalog.stale());
                     },
                     [&] {
                       // relaxed: it orders nothing
                       for (std::uint64_t turn = 0; turn < turns; ++turn) {
                         keep(StdAtomics::load_relaxed(*block.seq));
                       }
                     }),
                 20.0);
  table.ratio_row("one block through Query::collect, asked too (limit: the block alone)",
                  compare(
                      effort.rounds, turns,
                      [&] {
                        for (std::uint64_t turn = 0; turn < turns; ++turn) {
                          keep(query.collect(sample, time).stale);
                        }
                      },
                      [&] {
                        for (std::uint64_t turn = 0; turn < turns; ++turn) {
                          keep(read_bounded<StdAtomics>(block, values.data(), 0).version);
                        }
                      }),
                  {});
}

// Two samples of one plan, each value a rate.
void cook_all(const Effort& effort, Table& table) {
  constexpr std::size_t kInstances = 1000;
  const SetShape shape{.many = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, kInstances);
  const Catalog catalog = open_catalog(workplace);
  Query query = query_all(catalog);
  Sample older, newer;
  query.collect(older, {.monotonic_ns = 1'000'000'000});
  query.collect(newer, {.monotonic_ns = 2'000'000'000});
  const std::size_t values = kInstances * shape.counters;
  const std::uint64_t turns = std::max<std::uint64_t>(1, effort.operations / values);
  table.time_row("cook a plain counter, 1,000 instances of 8 (limit: collecting it)",
                 compare(
                     effort.rounds, turns * values,
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns; ++turn) {
                         double sum = 0;
                         for (const Row& row : newer.since(older)) {
                           for (const Value& value : row) sum += value.cooked.value;
                         }
                         keep(sum);
                       }
                     },
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns; ++turn) {
                         keep(query.collect(older, {.monotonic_ns = 1'000'000'000}).rows);
                       }
                     }),
                 4.0);
}

// What a monitor pays when an instance comes or goes among many registrations that stand still.
void follow_a_change(const Effort& effort, Table& table) {
  constexpr std::size_t kRegistrations = 32;
  const std::size_t instances = std::min<std::size_t>(effort.many / kRegistrations, 1000);
  const SetShape shape{.many = true};
  Workplace workplace;
  std::vector<Registration> sets;
  std::vector<std::vector<Instance>> live;
  for (std::size_t count = 0; count < kRegistrations; ++count) {
    sets.push_back(workplace.add(shape));
    live.push_back(workplace.fill(sets.back(), shape, instances));
  }
  Catalog catalog = open_catalog(workplace);
  Query query = query_all(catalog);
  std::optional<Instance> guest;
  const auto change = [&] {
    if (guest) {
      guest.reset();
    } else {
      guest = must(sets.front().create_instance("guest"));
    }
    catalog.refresh();
  };
  const auto row = [&](std::string_view how, auto follow) {
    const auto change_and_follow = [&] {
      change();
      follow();
    };
    table.ratio_row(fmt::format("one instance more or less among {} x {}, {} "
                                "(limit: refresh alone)",
                                kRegistrations, instances, how),
                    compare(effort.rounds, 1, change_and_follow, change), {});
  };
  row("Query::update", [&] { keep(query.update(catalog)); });
  row("compiled anew", [&] { keep(plan_of(query_all(catalog))->compiled); });
}

// The least that a reader of foreign memory does: open, map, look at all of it, unmap.
void map_once(const std::string& path, std::vector<std::uint64_t>& target) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::size_t bytes = target.size() * sizeof target[0];
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (file < 0 || memory == MAP_FAILED) give_up("cannot map " + path);
  library_copy(target.data(), static_cast<const std::uint64_t*>(memory), target.size());
  ::munmap(memory, bytes);
  ::close(file);
}

std::string own_segment() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.rfind("/memfd:", 0) == 0) return entry.path().string();
  }
  give_up("this process has no segment");
}

void attach(const Effort& effort, Table& table) {
  const SetShape shape{.many = false, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, 125);
  const std::string segment = own_segment();
  std::vector<std::uint64_t> target(1000);
  table.time_row("attach, first snapshot of 1,000 counters (limit: map, copy)",
                 compare(
                     effort.rounds, 1,
                     [&] {
                       const Catalog catalog = open_catalog(workplace);
                       Query query = query_all(catalog);
                       Sample sample;
                       query.prepare(sample);
                       keep(query.collect(sample).rows);
                     },
                     [&] { map_once(segment, target); }, Clock::kWall),
                 150e3);
}

}  // namespace

void catalog_rows(const Effort& effort, Table& table) {
  poll_one(effort, table);
  for (const bool tile : {true, false}) {
    for (const std::uint32_t words : kBulkWords) {
      for (const std::size_t instances : effort.bulk) {
        bulk(effort, table, {words, instances, tile});
      }
    }
  }
  attach(effort, table);
  cook_all(effort, table);
  follow_a_change(effort, table);
}

}  // namespace meterbank::bench
