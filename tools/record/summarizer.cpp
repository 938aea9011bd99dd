// SPDX-License-Identifier: Apache-2.0
#include "record/summarizer.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace meterbank::record {
namespace {

// Of more, the oldest go without: a machine that cannot keep up has other work.
constexpr std::size_t kWaitingMax = 4;

}  // namespace

Summarizer::Summarizer(std::string path, std::function<void(std::string)> take)
    : path_(std::move(path)), take_(std::move(take)) {}

Summarizer::~Summarizer() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Summarizer::add(const recording::ChunkPlace& chunk) {
  try {
    {
      const std::lock_guard lock(mutex_);
      chunks_.push_back(chunk);
      if (chunks_.size() > kWaitingMax) chunks_.pop_front();
    }
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { make_summaries(stop); });
    }
    work_.notify_one();
  } catch (const std::bad_alloc&) {     // the next chunk tries again
  } catch (const std::system_error&) {  // there is no thread to be had
  }
}

void Summarizer::make_summaries(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    recording::ChunkPlace chunk;
    {
      std::unique_lock lock(mutex_);
      if (!work_.wait(lock, stop, [this] { return !chunks_.empty(); })) return;
      chunk = chunks_.front();
      chunks_.pop_front();
    }
    try {
      std::string frames;
      const auto made = recording::append_summary(path_, chunk, frames, stop);
      if (made && *made) take_(std::move(frames));
    } catch (const std::bad_alloc&) {  // readers decode the chunk
    }
  }
}

}  // namespace meterbank::record
