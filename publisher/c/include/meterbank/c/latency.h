// SPDX-License-Identifier: Apache-2.0
//
// How long a region takes, into a distribution of seconds.
//
//   const mb_tick_clock clock = mb_tick_clock_of_this_machine();   once
//
//   const uint64_t begin = mb_ticks_at_begin(&clock);              each time
//   handle(request);
//   mb_recorder_record_ticks(&latency, &clock, begin, mb_ticks_at_end(&clock));
//
// The clock is the processor's own counter where it runs at one rate, never stops and the kernel
// trusts it for its own time; else CLOCK_MONOTONIC.
//
// Thread safety  A clock: any thread. A recorder: as in values.h.
// Errors         None. A counter that went backwards, as on a machine that was moved, gives zero,
//                which the distribution counts as below its range.
// Progress       Wait-free. mb_tick_clock_of_this_machine() takes a millisecond, once a process.
// Cost           Two readings of the clock and one recorded value.
// Lifetime       A clock is a value.
// Units          Ticks of the clock; seconds in the distribution.
#ifndef METERBANK_C_LATENCY_H
#define METERBANK_C_LATENCY_H

#include <stdint.h>

#include "meterbank/c/values.h"

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

typedef struct mb_tick_clock {
  double seconds_a_tick;
  uint32_t is_processor;  // 0: CLOCK_MONOTONIC
} mb_tick_clock;

MB_API mb_tick_clock mb_tick_clock_of_this_machine(void);

// Private, in the library.
MB_API uint64_t mb_monotonic_ns(void);

// What follows may already have begun.
static inline uint64_t mb_ticks_at_begin(const mb_tick_clock* clock) {
#if defined(__x86_64__)
  if (clock->is_processor != 0) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  if (clock->is_processor != 0) {
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
  }
#endif
  return mb_monotonic_ns();
}

// All that stands before has been done.
static inline uint64_t mb_ticks_at_end(const mb_tick_clock* clock) {
#if defined(__x86_64__)
  unsigned processor = 0;
  if (clock->is_processor != 0) return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
  if (clock->is_processor != 0) {
    uint64_t count;
    __asm__ volatile("isb" ::: "memory");
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
  }
#endif
  return mb_monotonic_ns();
}

static inline double mb_seconds_between(const mb_tick_clock* clock, uint64_t begin, uint64_t end) {
  return end > begin ? (double)(end - begin) * clock->seconds_a_tick : 0;
}

static inline void mb_recorder_record_ticks(const mb_recorder* recorder, const mb_tick_clock* clock,
                                            uint64_t begin, uint64_t end) {
  mb_recorder_record(recorder, mb_seconds_between(clock, begin, end));
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
