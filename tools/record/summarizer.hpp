// SPDX-License-Identifier: Apache-2.0
//
// Makes summaries of chunks that were written, on a thread of its own.
//
// Thread safety  add() from one thread at a time.
// Errors         A chunk whose summary cannot be made goes without one, as readers expect.
// Progress       add() does not wait. The destructor waits for one tick of the decoding.
// Cost           Nothing but a little memory until the first chunk; then a thread, which decodes
// each
//                chunk and the one before it.
// Lifetime       `take` is called on that thread, until the destructor has returned.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "meterbank/recording/summary.hpp"

namespace meterbank::record {

class Summarizer {
 public:
  // `path` is that of the recording; `take` gets the frames.
  Summarizer(std::string path, std::function<void(std::string)> take);
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;
  ~Summarizer();

  void add(const recording::ChunkPlace& chunk);

 private:
  void make_summaries(const std::stop_token& stop);

  std::string path_;
  std::function<void(std::string)> take_;
  std::mutex mutex_;
  std::condition_variable_any work_;
  std::deque<recording::ChunkPlace> chunks_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace meterbank::record
