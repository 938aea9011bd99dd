// SPDX-License-Identifier: Apache-2.0
//
// Counter registers of this processor, as far as the kernel lets users read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace meterbank::pmu::detail {

#if defined(__x86_64__)

struct Registers {
  // Numbers as RDPMC takes them: general counters from 0, fixed ones and metrics above. Others
  // would be a fault.
  [[nodiscard]] static std::optional<std::uint64_t> counter(std::uint32_t number) noexcept {
    constexpr std::uint32_t kFixed = 1U << 30;
    constexpr std::uint32_t kMetrics = 1U << 29;
    const bool is_general = number < 32;
    const bool is_fixed = number >= kFixed && number < kFixed + 16;
    if (!is_general && !is_fixed && number != kMetrics) return std::nullopt;
    std::uint32_t low = 0, high = 0;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
    return std::uint64_t{high} << 32 | low;
  }
  [[nodiscard]] static std::uint64_t cycles() noexcept {
    std::uint32_t low = 0, high = 0;
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    return std::uint64_t{high} << 32 | low;
  }
};

#elif defined(__aarch64__)

// PMEVCNTR<n>_EL0 by its encoding: assemblers that know no PMU take it as well.
template <std::uint32_t kNumber>
std::uint64_t event_counter() noexcept {
  std::uint64_t value = 0;
  asm volatile("mrs %0, s3_3_c14_c%c1_%c2" : "=r"(value) : "i"(8 + kNumber / 8), "i"(kNumber % 8));
  return value;
}

template <std::size_t... kNumbers>
constexpr auto event_counters(std::index_sequence<kNumbers...>) noexcept {
  return std::array<std::uint64_t (*)() noexcept, sizeof...(kNumbers)>{
      &event_counter<static_cast<std::uint32_t>(kNumbers)>...};
}

struct Registers {
  // 0 to 30: event counters; 31: the cycle counter.
  [[nodiscard]] static std::optional<std::uint64_t> counter(std::uint32_t number) noexcept {
    static constexpr auto kEvents = event_counters(std::make_index_sequence<31>());
    if (number < kEvents.size()) return kEvents[number]();
    if (number != kEvents.size()) return std::nullopt;
    std::uint64_t value = 0;
    asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
    return value;
  }
  [[nodiscard]] static std::uint64_t cycles() noexcept {
    std::uint64_t value = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
  }
};

#else

// The kernel is asked on other machines.
struct Registers {
  [[nodiscard]] static std::optional<std::uint64_t> counter(std::uint32_t) noexcept { return {}; }
  [[nodiscard]] static std::uint64_t cycles() noexcept { return 0; }
};

#endif

}  // namespace meterbank::pmu::detail
