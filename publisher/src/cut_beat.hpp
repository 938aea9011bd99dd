// SPDX-License-Identifier: Apache-2.0
//
// The heartbeat of cuts: counts the epochs of this process and tells the readers of a segment which
// of them are settled. docs/protocol.md, "Cuts", says why that takes a barrier in every thread.
//
//      the heartbeat                               readers
//      epoch := e                  relaxed
//      a barrier in every thread
// [E4] settled := e                release         e := settled            acquire   [R10]
//
//      E4 pairs with R10: a reader that sees e sees what commits before the barrier published.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::detail {

class CutBeat {
 public:
  // The first epoch is settled when this returns. Fails where the kernel refuses the barrier or the
  // thread. `settled` outlives this object.
  static Result<std::unique_ptr<CutBeat>> start(SharedWord& settled,
                                                std::chrono::microseconds period);
  ~CutBeat();  // joins the thread
  CutBeat(const CutBeat&) = delete;
  CutBeat& operator=(const CutBeat&) = delete;

 private:
  CutBeat(SharedWord& settled, std::chrono::microseconds period) noexcept
      : settled_(settled), period_(period) {}

  Result<void> start_thread();
  static void* beat(void* state) noexcept;

  SharedWord& settled_;
  const std::chrono::microseconds period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  pthread_t thread_{};
  bool runs_ = false;
  bool stop_ = false;
};

// Around fork(). The words of all segments are settled together. In the child there is no thread
// and no segment; the objects that it inherited are not destroyed.
void lock_cuts() noexcept;
void unlock_cuts() noexcept;
void forget_cuts_locked() noexcept;

}  // namespace meterbank::detail
