// SPDX-License-Identifier: Apache-2.0
#include "cut_beat.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "meterbank/base/library_thread.hpp"

namespace meterbank::detail {
namespace {

using Clock = std::chrono::steady_clock;

// All segments of this process with cuts. One beat serves them all: if each moved the epoch for
// itself, blocks would forget states sooner than the segment's own period.
struct Beaten {
  std::mutex mutex;
  std::vector<SharedWord*> settled;
  Clock::time_point last;
};

// Never destroyed: providers may end in static destructors.
Beaten& beaten() {
  static auto* const segments = new Beaten;
  return *segments;
}

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

// Under the mutex. False: the kernel refused the barrier, and nothing was settled.
bool beat_locked() noexcept {
  // relaxed, both: only this function stores it, under the mutex, and the barrier orders it. Every
  // commit that begins after the barrier sees the new epoch,
  // and what commits before it have published is visible before the store below.
  const std::uint64_t epoch = process_epoch.count.load(std::memory_order_relaxed) + 1;
  process_epoch.count.store(epoch, std::memory_order_relaxed);
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return false;
  // [E4] pairs with [R10]. Without it a reader could take the epoch for settled and miss a commit
  // that was published before the barrier.
  for (SharedWord* word : beaten().settled) word->store(epoch, std::memory_order_release);
  beaten().last = Clock::now();
  return true;
}

}  // namespace

Result<std::unique_ptr<CutBeat>> CutBeat::start(SharedWord& settled,
                                                std::chrono::microseconds period) {
  std::unique_ptr<CutBeat> made(new CutBeat(settled, period));
  {
    const std::lock_guard lock(beaten().mutex);
    beaten().settled.push_back(&settled);
    if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) || !beat_locked()) {
      const int reason = errno;
      std::erase(beaten().settled, &settled);
      return fail(ErrorCode::kSystem, "membarrier(), without which there are no cuts",
                  "allow the system call, or register the set without cuts", reason);
    }
  }
  if (auto good = made->start_thread(); !good) return tl::make_unexpected(good.error());
  return made;
}

CutBeat::~CutBeat() {
  if (runs_) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    ::pthread_join(thread_, nullptr);
  }
  const std::lock_guard lock(beaten().mutex);
  std::erase(beaten().settled, &settled_);
}

Result<void> CutBeat::start_thread() {
  const int failed = start_library_thread(thread_, beat, this);
  if (failed != 0) {
    return fail(ErrorCode::kSystem, "thread for cuts", "raise RLIMIT_NPROC", failed);
  }
  runs_ = true;
  return {};
}

void* CutBeat::beat(void* state) noexcept {
  auto& self = *static_cast<CutBeat*>(state);
  std::unique_lock lock(self.mutex_);
  while (!self.stop_) {
    self.changed_.wait_for(lock, self.period_);
    if (self.stop_) break;
    const std::lock_guard all(beaten().mutex);
    // Another segment's thread may just have done it for all.
    if (Clock::now() - beaten().last < self.period_ / 2) continue;
    // A refusal that came later, as by a seccomp filter, leaves the last settled epoch: cuts grow
    // old, they do not become wrong.
    static_cast<void>(beat_locked());
  }
  return nullptr;
}

void lock_cuts() noexcept { beaten().mutex.lock(); }
void unlock_cuts() noexcept { beaten().mutex.unlock(); }
void forget_cuts_locked() noexcept { beaten().settled.clear(); }

}  // namespace meterbank::detail
