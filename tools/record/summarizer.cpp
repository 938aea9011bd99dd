// SPDX-License-Identifier: Apache-2.0
#include "record/summarizer.hpp"

#include <malloc.h>

#include <new>
#include <system_error>
#include <utility>

#include "meterbank/base/clock.hpp"

namespace meterbank::record {
namespace {

// Of more, the oldest go without: a machine that cannot keep up has other work.
constexpr std::size_t kWaitingMax = 4;

}  // namespace

Summarizer::Summarizer(std::function<void(std::string)> take) : take_(std::move(take)) {}

Summarizer::~Summarizer() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Summarizer::add(RunOfFiles run) {
  try {
    {
      const std::lock_guard lock(mutex_);
      runs_.push_back(std::move(run));
      if (runs_.size() > kWaitingMax) runs_.pop_front();
    }
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { make_summaries(stop); });
    }
    work_.notify_one();
  } catch (const std::bad_alloc&) {     // the next run tries again
  } catch (const std::system_error&) {  // there is no thread to be had
  }
}

void Summarizer::make_summaries(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    RunOfFiles next;
    {
      std::unique_lock lock(mutex_);
      if (!work_.wait(lock, stop, [this] { return !runs_.empty(); })) return;
      next = std::move(runs_.front());
      runs_.pop_front();
    }
    const std::uint64_t taken = next.run.last.monotonic_ns - next.run.first.monotonic_ns;
    if (!budget_.allows(taken)) continue;
    const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    try {
      make_summary(next, stop);
    } catch (const std::bad_alloc&) {  // readers decode the chunks
    }
    // The next one comes in a minute or more. Until then others have a use for the memory.
    ::malloc_trim(0);
    budget_.spend(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
  }
}

void Summarizer::make_summary(const RunOfFiles& next, const std::stop_token& stop) {
  auto recording = recording::Recording::open(next.files);
  if (!recording) return;
  std::string frames;
  const auto made = recording::append_summary(*recording, next.run, frames, stop);
  if (made && *made) take_(std::move(frames));
}

}  // namespace meterbank::record
