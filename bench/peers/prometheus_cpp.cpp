// SPDX-License-Identifier: Apache-2.0
//
// prometheus-cpp, the exporter that C++ services embed: counters of its own, collected and written
// as text.
#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <vector>

#include "blocks.hpp"
#include "rows.hpp"

namespace meterbank::bench {

void prometheus_cpp_rows(const Effort& effort, Table& table) {
  constexpr std::size_t kFamilies = 8;
  prometheus::Registry registry;
  for (std::size_t family = 0; family < kFamilies; ++family) {
    auto& counters = prometheus::BuildCounter()
                         .Name(fmt::format("meterbank_set_c{}_total", family))
                         .Help("Requests.")
                         .Register(registry);
    for (std::size_t instance = 0; instance < effort.many; ++instance) {
      counters.Add({{"provider", "bench"}, {"instance_name", fmt::format("i{}", instance)}})
          .Increment(static_cast<double>(instance));
    }
  }
  const prometheus::TextSerializer serializer;
  constexpr unsigned kRoundsMax = 3;
  const std::size_t series = kFamilies * effort.many;
  std::vector<double> rounds;
  for (unsigned round = 0; round < std::min(effort.rounds, kRoundsMax); ++round) {
    rounds.push_back(
        nanoseconds_each(series, [&] { keep(serializer.Serialize(registry.Collect()).size()); }));
  }
  table.time_alone_row(fmt::format("prometheus-cpp: text of {} series", series), Spread::of(rounds),
                       {});
}

}  // namespace meterbank::bench
