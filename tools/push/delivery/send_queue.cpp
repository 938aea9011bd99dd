// SPDX-License-Identifier: Apache-2.0
#include "push/delivery/send_queue.hpp"

#include <utility>

namespace meterbank::push {

std::size_t SendQueue::push(Batch batch) {
  // Compressing leaves room for the whole text behind its result.
  batch.body.shrink_to_fit();
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = batch.body.size();
  std::size_t dropped = 0;
  while (content_.bytes + bytes > bytes_max_ && !batches_.empty()) dropped += drop_oldest_locked();
  if (content_.bytes + bytes > bytes_max_) return dropped + batch.points;
  batches_.push_back(std::move(batch));
  ++content_.batches;
  content_.bytes += bytes;
  changed_.notify_one();
  return dropped;
}

std::size_t SendQueue::drop_oldest_locked() {
  const Batch oldest = std::move(batches_.front());
  batches_.pop_front();
  --content_.batches;
  content_.bytes -= oldest.body.size();
  return oldest.points;
}

std::optional<Batch> SendQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_closed_ || !batches_.empty(); });
  if (batches_.empty()) return std::nullopt;
  std::optional<Batch> batch = std::move(batches_.front());
  batches_.pop_front();
  return batch;
}

void SendQueue::done(const Batch& taken) {
  const std::lock_guard lock(mutex_);
  --content_.batches;
  content_.bytes -= taken.body.size();
}

void SendQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

std::size_t SendQueue::clear() {
  const std::lock_guard lock(mutex_);
  std::size_t dropped = 0;
  while (!batches_.empty()) dropped += drop_oldest_locked();
  return dropped;
}

SendQueue::Content SendQueue::content() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

}  // namespace meterbank::push
