// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/latency.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace meterbank {
namespace {

#if defined(__x86_64__)

// One rate, in every sleep state.
bool has_invariant_counter() noexcept {
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariant = 1U << 8;
  constexpr unsigned kFeatureLeaf = 0x80000001, kReadsInOrder = 1U << 27;  // RDTSCP
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(kPowerLeaf, &a, &b, &c, &d) == 0 || (d & kInvariant) == 0) return false;
  return __get_cpuid(kFeatureLeaf, &a, &b, &c, &d) != 0 && (d & kReadsInOrder) != 0;
}

// The kernel watches the counters of all processors and leaves them if they disagree.
bool kernel_trusts_counter() noexcept {
  const UniqueFd file(::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                             O_RDONLY | O_CLOEXEC));
  std::array<char, 16> text{};
  if (!file) return false;
  const ssize_t bytes = ::read(file.get(), text.data(), text.size());
  if (bytes <= 0) return false;
  const std::string_view name(text.data(), static_cast<std::size_t>(bytes));
  return name == "tsc" || name == "tsc\n";
}

// Both clocks at one moment: the narrowest of some tries, so that an interruption in between does
// not count.
struct Moment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;

  static Moment now() noexcept {
    constexpr int kTries = 16;
    Moment best;
    std::uint64_t narrowest = UINT64_MAX;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const std::uint64_t before = __builtin_ia32_rdtsc();
      const std::uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW);
      const std::uint64_t after = __builtin_ia32_rdtsc();
      if (after - before >= narrowest) continue;
      narrowest = after - before;
      best = {before + (after - before) / 2, ns};
    }
    return best;
  }
};

#endif

}  // namespace

const TickClock& TickClock::of_this_machine() noexcept {
  static const TickClock clock = measured();
  return clock;
}

TickClock TickClock::measured() noexcept {
#if defined(__x86_64__)
  if (!has_invariant_counter() || !kernel_trusts_counter()) return monotonic();
  constexpr std::uint64_t kMeasuredNs = 1'000'000;
  const Moment first = Moment::now();
  Moment last = first;
  while (last.ns - first.ns < kMeasuredNs) last = Moment::now();
  if (last.ticks <= first.ticks) return monotonic();
  return {LatencyClock::kProcessor, 1e-9 * static_cast<double>(last.ns - first.ns) /
                                        static_cast<double>(last.ticks - first.ticks)};
#elif defined(__aarch64__)
  std::uint64_t rate = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate == 0 ? monotonic()
                   : TickClock{LatencyClock::kProcessor, 1 / static_cast<double>(rate)};
#else
  return monotonic();
#endif
}

}  // namespace meterbank
