// SPDX-License-Identifier: Apache-2.0
//
// The page that the kernel shows beside an event: how its counter is read without a call.
//
//      reader, the thread that is counted          kernel, on the same CPU
//      before := lock                              lock := lock + 1
// [K1] fence of the compiler       acquire         index, offset, times := new
//      index, offset, width, times                 lock := lock + 1
//      the register
// [K2] fence of the compiler       acquire
//      after := lock               good iff before = after
//
// The kernel writes while the reader is interrupted on its CPU, so that fences of the compiler are
// all that is needed. Source: the comment of struct perf_event_mmap_page in
// <linux/perf_event.h>. The page is believed as little as any foreign memory.
#pragma once

#include <linux/perf_event.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace meterbank::pmu::detail {

// Reads of a page that changed meanwhile; then the kernel is asked.
inline constexpr int kPageAttemptsMax = 64;

enum class PageOutcome : std::uint8_t {
  kDirect,     // the value is live
  kAskKernel,  // no register: not on the CPU, or stopped, or not for users
  kBusy,       // changed all the time
};

struct PageReading {
  PageOutcome outcome = PageOutcome::kAskKernel;
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  bool times_are_live = false;
};

// Without the volatile of the kernel's own example: one load of the whole word, in the order of the
// barriers around it.
template <typename Word>
[[nodiscard]] Word page_word(const Word& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

// `value` has `width` bits. Precondition: 1 to 64 of them.
[[nodiscard]] constexpr std::int64_t sign_extended(std::uint64_t value,
                                                   std::uint32_t width) noexcept {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

// Cycles of the clock into nanoseconds, as the page says. Precondition: shift is below 64.
[[nodiscard]] constexpr std::uint64_t page_time(std::uint64_t cycles, std::uint64_t offset,
                                                std::uint32_t multiplier,
                                                std::uint32_t shift) noexcept {
  const std::uint64_t quotient = cycles >> shift;
  const std::uint64_t rest = cycles & ((std::uint64_t{1} << shift) - 1);
  return offset + quotient * multiplier + ((rest * multiplier) >> shift);
}

// `Registers` has: std::optional<std::uint64_t> counter(std::uint32_t number), nothing where this
// machine has no such register for users, and std::uint64_t cycles(), the clock of cap_user_time.
template <typename Registers>
[[nodiscard]] PageReading try_read_page(const perf_event_mmap_page& page,
                                        Registers& registers) noexcept {
  // Bits of perf_event_mmap_page::capabilities, as the header's bit-fields have them.
  constexpr std::uint64_t kUserCounter = 1U << 2;
  constexpr std::uint64_t kUserTime = 1U << 3;
  constexpr std::uint64_t kUserTimeShort = 1U << 5;

  PageReading reading;
  const std::uint64_t capabilities = page_word(page.capabilities);
  const std::uint32_t index = page_word(page.index);
  const std::int64_t offset = page_word(page.offset);
  const std::uint32_t width = page_word(page.pmc_width);
  reading.enabled_ns = page_word(page.time_enabled);
  reading.running_ns = page_word(page.time_running);
  if ((capabilities & kUserCounter) == 0) return reading;
  if (index == 0) return reading;
  if (width == 0 || width > 64) return reading;

  const std::uint32_t shift = page_word(page.time_shift);
  if ((capabilities & kUserTime) != 0 && shift < 64) {
    std::uint64_t cycles = registers.cycles();
    if ((capabilities & kUserTimeShort) != 0) {
      const std::uint64_t begin = page_word(page.time_cycles);
      cycles = begin + ((cycles - begin) & page_word(page.time_mask));
    }
    const std::uint64_t more =
        page_time(cycles, page_word(page.time_offset), page_word(page.time_mult), shift);
    reading.enabled_ns += more;
    reading.running_ns += more;
    reading.times_are_live = true;
  }
  const std::optional<std::uint64_t> counter = registers.counter(index - 1);
  if (!counter) return reading;
  reading.value = static_cast<std::uint64_t>(offset) +
                  static_cast<std::uint64_t>(sign_extended(*counter, width));
  reading.outcome = PageOutcome::kDirect;
  return reading;
}

// Progress: bounded, at most kPageAttemptsMax tries. Thread safety: only the thread that is counted
// may call it.
template <typename Registers>
[[nodiscard]] PageReading read_page(const perf_event_mmap_page& page,
                                    Registers& registers) noexcept {
  for (int attempt = 0; attempt < kPageAttemptsMax; ++attempt) {
    const std::uint32_t before = page_word(page.lock);
    // [K1] pairs with [K2]: what follows is loaded after `before`. Without it: values of an update
    // that began and ended before `before` was loaded, but not their lock.
    std::atomic_signal_fence(std::memory_order_acquire);
    const PageReading reading = try_read_page(page, registers);
    // [K2] pairs with [K1]: `after` is loaded when all values were. Without it: an offset of
    // before an interrupt with a register of after it.
    std::atomic_signal_fence(std::memory_order_acquire);
    if (page_word(page.lock) == before && before % 2 == 0) return reading;
  }
  return {.outcome = PageOutcome::kBusy};
}

}  // namespace meterbank::pmu::detail
