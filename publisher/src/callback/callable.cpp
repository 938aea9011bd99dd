// SPDX-License-Identifier: Apache-2.0
#include "callable.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::detail {
namespace {

// Which registrations' callbacks this thread is inside of, innermost first.
struct Frame {
  const Callable* callable;
  const Frame* outer;
};
thread_local const Frame* innermost = nullptr;

}  // namespace

std::size_t Callable::calls_of_this_thread() const noexcept {
  std::size_t count = 0;
  for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer) {
    if (frame->callable == this) ++count;
  }
  return count;
}

std::shared_ptr<RunningCall> Callable::make_call(ChannelRequest request) const {
  return std::make_shared<RunningCall>(std::move(request), counts_->positions(), has_names_);
}

void Callable::call(RunningCall& running) noexcept {
  const Frame frame{this, innermost};
  innermost = &frame;
  {
    std::unique_lock<std::mutex> serial(serial_, std::defer_lock);
    if (options_.serial) serial.lock();
    running.run(function_);
  }
  innermost = frame.outer;
}

Callable::Admission Callable::begin(ChannelRequest request, std::uint32_t outstanding_max,
                                    std::shared_ptr<RunningCall>& call) {
  auto made = make_call(std::move(request));
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) return Admission::kClosing;
  if (calls_.size() >= std::min<std::size_t>(outstanding_max, kOutstandingRequestsMax)) {
    return Admission::kBusy;
  }
  calls_.insert(made);
  ++inside_;
  call = std::move(made);
  return Admission::kYes;
}

void Callable::run(const std::shared_ptr<RunningCall>& running,
                   const std::function<void(const RunningCall&)>& answer) noexcept {
  call(*running);
  {
    // Before the answer: the reader that has read it may ask again at once.
    const std::lock_guard lock(mutex_);
    calls_.erase(running);
  }
  answer(*running);
  std::unique_lock lock(mutex_);
  left_locked(lock);
}

void Callable::give_up(const std::shared_ptr<RunningCall>& running) noexcept {
  std::unique_lock lock(mutex_);
  calls_.erase(running);
  left_locked(lock);
}

// The caller no longer runs anything here. May unlock, to call `closed_`.
void Callable::left_locked(std::unique_lock<std::mutex>& lock) noexcept {
  --inside_;
  if (inside_ == 0 && closed_) {
    auto closed = std::exchange(closed_, nullptr);
    lock.unlock();
    closed();
    closed = nullptr;  // not under the mutex: the provider may end with what this refers to
    lock.lock();
    phase_ = Phase::kEnded;
  }
  changed_.notify_all();
}

bool Callable::add_interest(ChannelRequest request, Told told) {
  Change change{make_call(std::move(request)), std::move(told)};
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) return false;
  untold_.push_back(std::move(change));
  counts_->add(untold_.back().call->request().counter_mask);
  return true;
}

void Callable::remove_interest(ChannelRequest request, Told told) {
  Change removal{make_call(std::move(request)), std::move(told)};
  const ChannelRequest& removed = removal.call->request();
  Change addition;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ >= Phase::kClosing) return;
    counts_->remove(removed.counter_mask);
    const auto untold = std::find_if(untold_.begin(), untold_.end(), [&](const Change& known) {
      const ChannelRequest& added = known.call->request();
      return added.type == MessageType::kAddInterest && added.pattern == removed.pattern &&
             added.instance_id == removed.instance_id && added.counter_mask == removed.counter_mask;
    });
    if (untold == untold_.end()) return untold_.push_back(std::move(removal));
    addition = std::move(*untold);
    untold_.erase(untold);
  }
  if (addition.told) addition.told(*addition.call);
  if (removal.told) removal.told(*removal.call);
}

bool Callable::has_to_tell() const noexcept {
  const std::lock_guard lock(mutex_);
  return !telling_ && !untold_.empty();
}

void Callable::tell() noexcept {
  std::unique_lock lock(mutex_);
  if (telling_ || untold_.empty()) return;
  telling_ = true;
  ++inside_;
  while (!untold_.empty()) {
    const Change change = std::move(untold_.front());
    untold_.pop_front();
    told_now_ = change.call;
    lock.unlock();
    if (function_) call(*change.call);
    if (change.told) change.told(*change.call);
    lock.lock();
    told_now_.reset();
  }
  telling_ = false;
  left_locked(lock);
}

void Callable::refuse() noexcept {
  const std::lock_guard lock(mutex_);
  phase_ = std::max(phase_, Phase::kRefusing);
}

void Callable::close(std::function<void()> closed) noexcept {
  std::unique_lock lock(mutex_);
  const std::size_t own = calls_of_this_thread();
  if (phase_ < Phase::kClosing) {
    phase_ = Phase::kClosing;
    untold_.clear();
    counts_->clear();
    for (const auto& running : calls_) running->cancel();
    if (told_now_ != nullptr) told_now_->cancel();
    if (inside_ == 0) {
      lock.unlock();
      closed();
      lock.lock();
      phase_ = Phase::kEnded;
      changed_.notify_all();
      return;
    }
    closed_ = std::move(closed);
  }
  if (own == 0) changed_.wait(lock, [this] { return phase_ == Phase::kEnded; });
}

}  // namespace meterbank::detail
