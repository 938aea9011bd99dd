// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to ask a provider that computes on demand, and to be one?
// Limit of a round trip: packets of the same sizes between the same two processes, over a bare
// socket pair whose other end does nothing but answer.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "meterbank/reader.hpp"
#include "meterbank/shm/channel.hpp"
#include "other_process.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kCounters = 8;
constexpr std::size_t kManyRows = 1000;
constexpr std::chrono::seconds kTimeout{5};

// A provider in the directory of the workplace, whose own provider has nothing to offer.
[[noreturn]] void publish(const Workplace& workplace, std::size_t rows, const auto& ready) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < rows; ++row) names.push_back(fmt::format("row {}", row));
  Provider provider = must(Provider::create({.name = "asked", .directory = workplace.directory()}));
  const auto answer = [&names](CallbackRequest& request) {
    std::array<std::uint64_t, kCounters> values{};
    for (std::size_t row = 0; row < names.size(); ++row) {
      values.fill(row);
      request.add(names[row], static_cast<std::uint32_t>(row), values);
    }
    return 0U;
  };
  const Registration set = add_set(provider, {.counters = kCounters}, 0, answer);
  ready();
  for (;;) ::pause();
}

void round_trips(const Effort& effort, Table& table, std::size_t processor,
                 std::string_view where) {
  Workplace workplace;
  ChannelRequest request;
  request.pattern = "*";
  RowsEncoder rows;
  rows.add(0, "row 0", std::array<std::uint64_t, kCounters>{});
  ChannelAnswer answer;
  answer.bytes = rows.bytes();
  BareSocket bare(encode(request).size(), encode(answer).size());
  const OtherProcess echo(processor, [&](const auto& ready) {
    ready();
    bare.answer_for_ever();
  });
  const OtherProcess provider(processor, [&](const auto& ready) { publish(workplace, 1, ready); });
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {}));
  Sample sample;
  if (query.collect(sample, kTimeout).rows != 1) give_up("the callback gave no row");
  const std::uint64_t trips = std::max<std::uint64_t>(16, effort.operations / 400);
  const auto work = [&] {
    for (std::uint64_t trip = 0; trip < trips; ++trip) query.collect(sample, kTimeout);
  };
  const auto limit = [&] {
    for (std::uint64_t trip = 0; trip < trips; ++trip) bare.round_trip();
  };
  constexpr double kHold = 1.15;
  table.ratio_row(fmt::format("callback round trip, 1 row of 8, provider on {}", where),
                  compare(effort.rounds, trips, work, limit, Clock::kWall), kHold);
}

void many_rows(const Effort& effort, Table& table) {
  Workplace workplace;
  const OtherProcess provider(1, [&](const auto& ready) { publish(workplace, kManyRows, ready); });
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {}));
  Sample sample;
  if (query.collect(sample, kTimeout).rows != kManyRows) give_up("the callback gave no rows");
  std::vector<double> enumerates, collects;
  for (unsigned round = 0; round < effort.rounds; ++round) {
    constexpr std::uint64_t kTurns = 8;
    collects.push_back(nanoseconds_each(
        kTurns,
        [&] {
          for (std::uint64_t turn = 0; turn < kTurns; ++turn) query.collect(sample, kTimeout);
        },
        Clock::kWall));
    enumerates.push_back(nanoseconds_each(
        kTurns,
        [&] {
          for (std::uint64_t turn = 0; turn < kTurns; ++turn) query.enumerate(kTimeout);
        },
        Clock::kWall));
  }
  table.plain_row("enumerate 1,000 instances by callback", 1e9 / Spread::of(enumerates).median,
                  "a second", std::nullopt);
  table.plain_row("collect 1,000 x 8 by callback", 1e9 / Spread::of(collects).median, "a second",
                  std::nullopt);
}

// What a hot path pays to know whether a reader is interested.
void wanted(const Effort& effort, Table& table) {
  Workplace workplace;
  const Registration set =
      workplace.add({.counters = kCounters}, [](CallbackRequest&) { return 0U; });
  const Interest interest = set.interest();
  SharedWord word{0};
  const SharedWord* handle = &word;  // as Interest has one
  keep(&handle);
  const std::uint64_t turns = effort.operations;
  // What was seen stays in a register: a count in memory would be what is measured. Unrolled, for
  // where a loop of one load lies decides whether it takes one cycle or two.
  const auto asked = [&] {
#pragma GCC unroll 8
    for (std::uint64_t turn = 0; turn < turns; ++turn) keep(interest.wanted());
  };
  const auto load = [&] {
#pragma GCC unroll 8
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      keep(handle->load(std::memory_order_relaxed) != 0);
    }
  };
  constexpr double kHold = 1.1;
  table.ratio_row("Interest::wanted() against a load through a pointer",
                  compare(effort.rounds, turns, asked, load), kHold);
}

}  // namespace

void callback_rows(const Effort& effort, Table& table) {
  round_trips(effort, table, 0, "this processor");
  round_trips(effort, table, 1, "another one");
  many_rows(effort, table);
  wanted(effort, table);
}

}  // namespace meterbank::bench
