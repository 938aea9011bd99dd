// SPDX-License-Identifier: Apache-2.0
//
// The last minutes of a recording as a file of its own, also while the recording goes on.
//
// A recorder writes each sample when it is taken, so what it holds in memory is no more than the
// disk is behind. save_part() waits for that.
//
// Thread safety  save_part() may be called concurrently, on different targets.
// Errors         kNotFound, kExists, kDenied, kNoSpace, kSystem, kCorrupt. Nothing is left of the
//                target then.
// Progress       Reads and writes files; waits for `until_ns`, at most `wait_max`.
// Cost           Decodes and codes the part; memory as for Recording.
// Lifetime       Evicted files are read on: they were opened first.
// Units          Nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::record {

struct PartOptions {
  std::string source;  // a file or a directory
  std::string target;  // a file that does not exist; it appears when it is complete
  std::chrono::nanoseconds last = std::chrono::minutes(5);
  // CLOCK_REALTIME of the sample that it ends with, if the disk keeps up. 0: what there is.
  std::uint64_t until_ns = 0;
  std::chrono::nanoseconds wait_max = std::chrono::seconds(2);
};

struct SavedPart {
  std::uint64_t ticks = 0;
  std::uint64_t gaps = 0;
  Timestamp first, last;
  bool is_late = false;       // the sample of `until_ns` did not come
  bool has_more = false;      // earlier files of the part have other rates and were left out
  std::uint64_t damages = 0;  // places of the source that could not be read
};

// All rates, samples, gaps and marks from the sample on that lies `last` before the end, or before
// `until_ns`. It begins with a sample of all rates, so it may be longer.
[[nodiscard]] Result<SavedPart> save_part(const PartOptions& options);

}  // namespace meterbank::record
