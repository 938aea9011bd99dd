// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/core_counters.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kIntelLeaf = 0x0a;          // architectural performance monitoring
constexpr std::uint32_t kIntelExtendedLeaf = 0x23;  // the same for this type of core alone
constexpr std::uint32_t kAmdLeaf = 0x80000022;      // performance monitoring, version 2
constexpr std::uint32_t kAmdFeatures = 0x80000001;
constexpr std::uint32_t kAmdCoreExtension = 1U << 23;  // ECX: six counters, not four

void count_intel(const CpuidReader& cpuid, std::uint32_t leaf_max, CoreCounters& counters) {
  if (leaf_max < kIntelLeaf) return;
  const std::array<std::uint32_t, 4> basic = cpuid(kIntelLeaf, 0);
  const std::uint32_t version = basic[0] & 0xff;
  if (version == 0) return;
  counters.general = basic[0] >> 8 & 0xff;
  counters.width = basic[0] >> 16 & 0xff;
  counters.fixed = version > 1 ? basic[3] & 0x1f : 0;
  if (leaf_max < kIntelExtendedLeaf) return;
  // Part 0 says in EAX which parts there are; part 1 has the counters as bit maps.
  if ((cpuid(kIntelExtendedLeaf, 0)[0] & 2U) == 0) return;
  const std::array<std::uint32_t, 4> maps = cpuid(kIntelExtendedLeaf, 1);
  if (maps[0] == 0) return;
  counters.general = static_cast<std::uint32_t>(std::popcount(maps[0]));
  counters.fixed = static_cast<std::uint32_t>(std::popcount(maps[1]));
}

void count_amd(const CpuidReader& cpuid, CoreCounters& counters) {
  const std::uint32_t leaf_max = cpuid(0x80000000, 0)[0];
  if (leaf_max < kAmdFeatures) return;
  counters.general = (cpuid(kAmdFeatures, 0)[2] & kAmdCoreExtension) != 0 ? 6 : 4;
  if (leaf_max < kAmdLeaf) return;
  const std::array<std::uint32_t, 4> monitoring = cpuid(kAmdLeaf, 0);
  const std::uint32_t count = monitoring[1] & 0xf;
  if ((monitoring[0] & 1U) != 0 && count != 0) counters.general = count;
}

}  // namespace

CoreCounters counters_by_cpuid(const CpuidReader& cpuid) {
  CoreCounters counters;
  const std::array<std::uint32_t, 4> head = cpuid(0, 0);
  std::array<char, 12> vendor;
  std::memcpy(vendor.data(), &head[1], 4);
  std::memcpy(vendor.data() + 4, &head[3], 4);
  std::memcpy(vendor.data() + 8, &head[2], 4);
  counters.vendor.assign(vendor.data(), vendor.size());
  if (counters.vendor == "GenuineIntel") count_intel(cpuid, head[0], counters);
  if (counters.vendor == "AuthenticAMD" || counters.vendor == "HygonGenuine") {
    count_amd(cpuid, counters);
  }
  counters.general = std::min(counters.general, 32U);
  return counters;
}

CoreCounters core_counters_on([[maybe_unused]] std::uint32_t cpu) {
#if defined(__x86_64__)
  cpu_set_t before;
  cpu_set_t there;
  CPU_ZERO(&before);
  CPU_ZERO(&there);
  if (cpu >= CPU_SETSIZE) return {};
  CPU_SET(cpu, &there);
  if (::sched_getaffinity(0, sizeof before, &before) != 0) return {};
  if (::sched_setaffinity(0, sizeof there, &there) != 0) return {};
  CoreCounters counters = counters_by_cpuid([](std::uint32_t leaf, std::uint32_t part) {
    std::array<std::uint32_t, 4> words = {};
    __cpuid_count(leaf, part, words[0], words[1], words[2], words[3]);
    return words;
  });
  static_cast<void>(::sched_setaffinity(0, sizeof before, &before));
  return counters;
#else
  return {};
#endif
}

}  // namespace meterbank::arbiter
