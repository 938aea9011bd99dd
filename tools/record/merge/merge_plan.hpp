// SPDX-License-Identifier: Apache-2.0
//
// What is merged: the files of all recordings, the machines that they are of, and the rates of the
// recording that they become.
//
// A machine is known by its boot id and its name. Times of one boot are compared on
// CLOCK_MONOTONIC, those of different ones on CLOCK_REALTIME.
//
// Thread safety  Functions may be called concurrently.
// Errors         What Recording::open() says; kInvalidArgument for recordings that have no common
//                order.
// Progress       Reads the index of each file; of a file that was not ended, all of it.
// Cost           About 20 bytes a chunk while a file is looked at; a few hundred a file.
// Lifetime       Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meterbank/recording/recording.hpp"

namespace meterbank::record {

// One file of a recording.
struct PlannedPart {
  std::string path;
  recording::Head head;
  Timestamp first, last;  // of its ticks: the least and the greatest
  std::uint64_t ticks = 0;
  std::size_t machine = 0, clock = 0;
  std::vector<std::uint32_t> sources;  // of each of its rates
};

struct MergePlan {
  std::vector<PlannedPart> parts;     // by their first tick
  std::vector<std::string> machines;  // what they are called
  std::size_t clocks = 0;             // boots
  recording::Head head;               // of the merged recording
  std::uint64_t shortest_ns = 0;      // interval of the rates; 0: not known
  std::vector<std::string> problems;  // files that cannot be read at all, and why

  [[nodiscard]] std::uint64_t order_of(Timestamp time) const noexcept {
    return clocks == 1 ? time.monotonic_ns : time.realtime_ns;
  }
};

[[nodiscard]] Result<MergePlan> plan_merge(const std::vector<std::string>& paths,
                                           const std::string& program);

}  // namespace meterbank::record
