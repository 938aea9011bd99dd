// SPDX-License-Identifier: Apache-2.0
//
// Makes summaries of chunks that were written, on a thread of its own.
//
// Thread safety  add() from one thread at a time.
// Errors         Chunks whose summary cannot be made go without one, as readers expect.
// Progress       add() does not wait. The destructor waits for one tick of the decoding.
// Cost           Nothing but a little memory until the first run; then a thread, which decodes each
//                run and the chunk before it. It skips runs where it would otherwise take more than
//                a 400th of a processor.
// Lifetime       `take` is called on that thread, until the destructor has returned.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "meterbank/recording/summary.hpp"

namespace meterbank::record {

// What is to be summarized, and the files that have it and the samples before it.
struct RunOfFiles {
  std::vector<recording::RecordingFile> files;
  recording::ChunkRun run;
};

// Limits the processor time of summaries to a 400th of the time that was recorded.
class SummaryBudget {
 public:
  // For a run of this length. False: it goes without.
  [[nodiscard]] bool allows(std::uint64_t run_ns) noexcept {
    constexpr std::uint64_t kShare = 400;
    // A run that took too much makes the next ones go without. A run that took little saves
    // nothing.
    left_ns_ = (left_ns_ < 0 ? left_ns_ : 0) + static_cast<std::int64_t>(run_ns / kShare);
    return left_ns_ > 0;
  }
  // Processor time that a summary took.
  void spend(std::uint64_t nanoseconds) noexcept {
    left_ns_ -= static_cast<std::int64_t>(nanoseconds);
  }

 private:
  std::int64_t left_ns_ = 0;
};

class Summarizer {
 public:
  // `take` gets the frames.
  explicit Summarizer(std::function<void(std::string)> take);
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;
  ~Summarizer();

  void add(RunOfFiles run);

 private:
  void make_summaries(const std::stop_token& stop);
  void make_summary(const RunOfFiles& next, const std::stop_token& stop);

  std::function<void(std::string)> take_;
  SummaryBudget budget_;  // used by `thread_`
  std::mutex mutex_;
  std::condition_variable_any work_;
  std::deque<RunOfFiles> runs_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace meterbank::record
