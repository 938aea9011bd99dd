// SPDX-License-Identifier: Apache-2.0
//
// Batches that wait for a receiver. Bounded in bytes: while a receiver is away, the oldest batches
// make room for new ones, and memory stays as it is.
//
// Thread safety  All functions may be called concurrently.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "push/batch/batch.hpp"

namespace meterbank::push {

class SendQueue {
 public:
  explicit SendQueue(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  // Returns how many points were dropped: those of the oldest batches, or all of this one if it
  // does not fit alone. A batch that has been taken is not dropped.
  [[nodiscard]] std::size_t push(Batch batch);
  // Waits for a batch. It counts as content until done(). Nothing: the queue was closed
  // and is empty.
  [[nodiscard]] std::optional<Batch> take();
  void done(const Batch& taken);
  // take() waits no longer.
  void close();
  // Returns how many points were dropped.
  std::size_t clear();

  struct Content {
    std::size_t batches = 0, bytes = 0;
  };
  [[nodiscard]] Content content() const;

 private:
  std::size_t drop_oldest_locked();

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  Content content_;
  bool is_closed_ = false;
};

}  // namespace meterbank::push
