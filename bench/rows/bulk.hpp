// SPDX-License-Identifier: Apache-2.0
//
// One row about copying all counters of many instances at once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "blocks.hpp"
#include "rows.hpp"
#include "rows/copy_limits.hpp"

namespace meterbank::bench {

struct BulkShape {
  std::uint32_t words = 8;
  std::size_t instances = 1000;
  bool tile = true;

  // Settled blocks, against a copy of the counter bytes.
  [[nodiscard]] std::optional<double> hold_ratio() const {
    const bool large = instances >= 100'000;
    if (tile && words >= 6) return large ? 1.3 : 1.35;
    if (tile && words == 3) return large ? 1.6 : 1.75;
    if (!tile && words >= 6 && large) return 1.6;
    return {};
  }
  // One counter an instance cannot be read at the speed of its 8 bytes; that row is a time.
  [[nodiscard]] std::optional<double> hold_ns() const {
    if (words != 1) return {};
    return tile ? 0.6 : 2.3;
  }
};

// `snapshot` copies the whole set once. Times are an instance.
template <typename F>
void bulk_row(const Effort& effort, Table& table, const BulkShape& shape, F&& snapshot) {
  const std::size_t words = shape.words * shape.instances;
  const SharedPages pages(words * sizeof(std::uint64_t));
  auto* const source = reinterpret_cast<std::uint64_t*>(pages.data());
  std::fill_n(source, words, 1);
  std::vector<std::uint64_t> target(words);
  const std::uint64_t repeat = std::max<std::uint64_t>(4, effort.operations / 4 / shape.instances);
  // The untimed passes leave in the caches what the work itself would leave there, not its rivals.
  const auto timed = [&](auto&& work) {
    for (int turn = 0; turn < 3; ++turn) work();
    return nanoseconds_each(repeat * shape.instances, [&] {
      for (std::uint64_t turn = 0; turn < repeat; ++turn) work();
    });
  };
  Rounds rounds;
  for (unsigned round = 0; round < effort.rounds; ++round) {
    const double measured = timed(snapshot);
    const double library = timed([&] { library_copy(target.data(), source, words); });
    const double plain = timed([&] { plain_copy(target.data(), source, words); });
    rounds.add(measured, std::min(library, plain));
  }
  const std::string what = fmt::format("bulk, {}, N={:<2} {:>7} instances, ns an instance",
                                       shape.tile ? "tile" : "line", shape.words, shape.instances);
  if (shape.words == 1) {
    table.time_row(what, rounds.comparison(), shape.hold_ns());
  } else {
    table.ratio_row(what, rounds.comparison(), shape.hold_ratio());
  }
}

inline constexpr std::uint32_t kBulkWords[] = {1, 3, 6, 8, 16};

}  // namespace meterbank::bench
