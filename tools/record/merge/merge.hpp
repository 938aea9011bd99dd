// SPDX-License-Identifier: Apache-2.0
//
// Several recordings as one. Samples are in the order of their time; one that several recordings
// have is written once; samples of different recorders that were taken nearly at once become one,
// whose window says how far apart they were. Gaps and marks are kept, and a mark says where a
// recording could not be read.
//
// Thread safety  One thread at a time.
// Errors         What the files say; kInvalidArgument where samples have no common order.
// Progress       Reads and writes files; asks `stop` before each sample.
// Cost           What reading and writing of each sample costs. Memory is that of the recordings
//                whose time it is, one sample each.
// Lifetime       The plan must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "record/merge/merge_plan.hpp"
#include "record/ring_files.hpp"

namespace meterbank::record {

struct MergeCounts {
  std::uint64_t read = 0;      // samples of the recordings
  std::uint64_t written = 0;   // samples
  std::uint64_t repeated = 0;  // that another recording has as well
  std::uint64_t joined = 0;    // with one of another recorder
  std::uint64_t apart_ns = 0;  // the widest window of these
  std::uint64_t gaps = 0, marks = 0;
  bool was_stopped = false;
  std::vector<std::string> problems;  // what cannot be read
};

[[nodiscard]] Result<MergeCounts> merge_recordings(const MergePlan& plan, RingFiles& files,
                                                   const std::function<bool()>& stop);

}  // namespace meterbank::record
