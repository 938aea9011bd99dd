// SPDX-License-Identifier: Apache-2.0
//
// The moments of a recording, one by one, for formats that are no rows of `get`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::cli {

// What is converted, at one moment.
struct LogMoment {
  const recording::Recording& log;
  const Sample& sample;
  bool has_changed = false;     // other rows than at the moment before
  bool has_everything = false;  // no counter was left out by paths

  // A bit for each of sample.selected(): it was sampled at this moment.
  [[nodiscard]] std::vector<bool> sampled() const;
};

// Of blocks of the sample's rows, each with the number of its first row: a bit for each that was
// not sampled at this moment.
[[nodiscard]] std::vector<bool> blocks_not_sampled(const LogMoment& moment,
                                                   std::span<const std::size_t> first_rows);
template <typename Layout>
[[nodiscard]] std::vector<bool> blocks_not_sampled(const LogMoment& moment, const Layout& layout) {
  std::vector<std::size_t> first_rows;
  first_rows.reserve(layout.blocks.size());
  for (const auto& block : layout.blocks) first_rows.push_back(block.first_row);
  return blocks_not_sampled(moment, std::span<const std::size_t>(first_rows));
}

class MomentSink {
 public:
  virtual ~MomentSink() = default;
  // Errors end the conversion. False: no more is wanted.
  virtual Result<bool> take(const LogMoment& moment) = 0;
};

// Hands over the moments that the invocation selects, those with some of the counters among them.
// Returns an exit code: kExitNo if a part of the recording cannot be read.
int convert_moments(const Invocation& invocation, MomentSink& sink, Console& console);
// Whether a file of what was converted is kept: all of it, or what could be read of a damaged
// recording. `count`: of what was converted.
[[nodiscard]] bool is_kept(int exit_code, std::uint64_t count) noexcept;

}  // namespace meterbank::cli
