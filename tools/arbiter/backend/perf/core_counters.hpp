// SPDX-License-Identifier: Apache-2.0
//
// How many counters a core has, as the processor says itself.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace meterbank::arbiter {

struct CoreCounters {
  std::string vendor;         // "GenuineIntel"; empty: the processor does not say
  std::uint32_t general = 0;  // 0: not known
  std::uint32_t fixed = 0;
  std::uint32_t width = 48;
};

// EAX, EBX, ECX, EDX of a leaf and its part.
using CpuidReader = std::function<std::array<std::uint32_t, 4>(std::uint32_t, std::uint32_t)>;

[[nodiscard]] CoreCounters counters_by_cpuid(const CpuidReader& cpuid);
// Of this CPU: the calling thread goes there for a moment. Nothing known but on x86, and where the
// thread may not go there.
[[nodiscard]] CoreCounters core_counters_on(std::uint32_t cpu);

}  // namespace meterbank::arbiter
