// SPDX-License-Identifier: Apache-2.0
//
// The functions of <wdm.h> that have nothing to do with counters, but that sources need.
#include <time.h>

#include <atomic>

#include "meterbank/base/clock.hpp"
#include "meterbank/pcw/clock.hpp"
#include "meterbank/windows/perf_time.hpp"
#include "wdm.h"

namespace meterbank::pcw {
namespace {

std::atomic<SystemClock> system_clock{nullptr};

std::int64_t nanoseconds_of(clockid_t clock) noexcept {
  return static_cast<std::int64_t>(clock_ns(clock));
}

std::int64_t system_time() noexcept {
  // acquire: a thread that sees the clock sees what was set up for it before.
  const SystemClock clock = system_clock.load(std::memory_order_acquire);
  if (clock != nullptr) return clock();
  return windows_time_of(static_cast<std::uint64_t>(nanoseconds_of(CLOCK_REALTIME)));
}

bool is_set(const KEVENT& event) noexcept {
  if (event.Watched != nullptr) {
    // relaxed: that a reader gave up orders nothing.
    const auto* const word = static_cast<const std::atomic<std::uint32_t>*>(event.Watched);
    return word->load(std::memory_order_relaxed) != 0;
  }
  // acquire: pairs with KeSetEvent(). Without it the waiter could miss what was done before that.
  return __atomic_load_n(&event.SignalState, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace

void set_system_clock(SystemClock clock) noexcept {
  // release: pairs with the acquire above.
  system_clock.store(clock, std::memory_order_release);
}

}  // namespace meterbank::pcw

using namespace meterbank::pcw;

extern "C" {

ULONG DbgPrint(PCSTR /*format*/, ...) { return 0; }
ULONG DbgPrintEx(ULONG /*component*/, ULONG /*level*/, PCSTR /*format*/, ...) { return 0; }

NTSTATUS KeSaveFloatingPointState(PKFLOATING_SAVE save) {
  if (save != nullptr) save->Dummy = 0;
  return STATUS_SUCCESS;
}
NTSTATUS KeRestoreFloatingPointState(PKFLOATING_SAVE /*save*/) { return STATUS_SUCCESS; }

VOID KeQuerySystemTime(PLARGE_INTEGER time) { time->QuadPart = system_time(); }
VOID KeQuerySystemTimePrecise(PLARGE_INTEGER time) { time->QuadPart = system_time(); }
LARGE_INTEGER KeQueryPerformanceCounter(PLARGE_INTEGER frequency) {
  if (frequency != nullptr) frequency->QuadPart = meterbank::kTicksPerSecond;
  LARGE_INTEGER count;
  count.QuadPart = nanoseconds_of(CLOCK_MONOTONIC);
  return count;
}

VOID KeInitializeEvent(PRKEVENT event, EVENT_TYPE /*type*/, BOOLEAN state) {
  *event = {state, nullptr};
}
// Orders like the wait itself: the waiter sees what was done before.
LONG KeSetEvent(PRKEVENT event, KPRIORITY /*increment*/, BOOLEAN /*wait*/) {
  return __atomic_exchange_n(&event->SignalState, 1, __ATOMIC_ACQ_REL);
}
VOID KeClearEvent(PRKEVENT event) { __atomic_store_n(&event->SignalState, 0, __ATOMIC_RELEASE); }
LONG KeReadStateEvent(PRKEVENT event) { return is_set(*event) ? 1 : 0; }

NTSTATUS KeWaitForSingleObject(PVOID object, KWAIT_REASON /*reason*/, KPROCESSOR_MODE /*mode*/,
                               BOOLEAN /*alertable*/, PLARGE_INTEGER timeout) {
  const auto* const event = static_cast<const KEVENT*>(object);
  const std::int64_t steps = timeout == nullptr ? 0 : timeout->QuadPart;
  const std::int64_t end = nanoseconds_of(CLOCK_MONOTONIC) - (steps < 0 ? steps * 100 : 0);
  for (;;) {
    if (is_set(*event)) return STATUS_SUCCESS;
    if (timeout != nullptr && nanoseconds_of(CLOCK_MONOTONIC) >= end) return STATUS_TIMEOUT;
    const timespec step{0, 1'000'000};
    ::nanosleep(&step, nullptr);
  }
}

}  // extern "C"
