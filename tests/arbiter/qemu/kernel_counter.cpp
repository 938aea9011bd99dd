// SPDX-License-Identifier: Apache-2.0
#include "kernel_counter.hpp"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

namespace meterbank::emulated {
namespace {

// "long" and "rdpmc" in the format folder of the event source.
constexpr std::uint64_t kLong = 1;
constexpr std::uint64_t kUserRead = 2;

}  // namespace

std::uint32_t pmu_type() {
  std::uint32_t type = 0;
  std::ifstream("/sys/bus/event_source/devices/armv8_pmuv3/type") >> type;
  return type;
}

KernelCounter::KernelCounter(const Wish& wish, const KernelCounter* leader) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = wish.is_dummy ? std::uint32_t{PERF_TYPE_SOFTWARE} : pmu_type();
  attributes.config = wish.is_dummy ? std::uint64_t{PERF_COUNT_SW_DUMMY} : wish.event;
  attributes.config1 = (wish.is_readable ? kUserRead : 0) | (wish.is_long ? kLong : 0);
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.pinned = wish.is_pinned ? 1 : 0;
  attributes.exclusive = wish.is_exclusive ? 1 : 0;
  attributes.disabled = wish.is_disabled ? 1 : 0;
  attributes.exclude_user = wish.counts_nothing ? 1 : 0;
  attributes.exclude_kernel = wish.counts_nothing || wish.user_only ? 1 : 0;
  attributes.exclude_hv = 1;
  const int group = leader != nullptr ? leader->descriptor_ : -1;
  const long result =
      syscall(SYS_perf_event_open, &attributes, wish.task, wish.cpu, group, PERF_FLAG_FD_CLOEXEC);
  descriptor_ = static_cast<int>(result);
  error_ = result < 0 ? errno : 0;
}

KernelCounter& KernelCounter::operator=(KernelCounter&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  error_ = other.error_;
  return *this;
}

KernelCounter::~KernelCounter() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<Counted> KernelCounter::read() const {
  std::array<std::uint64_t, 3> words = {};
  if (::read(descriptor_, words.data(), sizeof(words)) != sizeof(words)) return std::nullopt;
  return Counted{.value = words[0], .enabled_ns = words[1], .running_ns = words[2]};
}

void KernelCounter::enable() const { ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0); }
void KernelCounter::disable() const { ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0); }

std::vector<KernelCounter> open_counters(std::size_t count, const Wish& wish) {
  std::vector<KernelCounter> counters;
  for (std::size_t index = 0; index < count; ++index) counters.emplace_back(wish);
  return counters;
}

std::uint32_t count_answering(const std::vector<KernelCounter>& counters) {
  return static_cast<std::uint32_t>(
      std::count_if(counters.begin(), counters.end(),
                    [](const KernelCounter& counter) { return counter.has_counter(); }));
}

std::uint32_t probe_by_opening(int cpu) {
  return count_answering(open_counters(kGeneral + 2, {.cpu = cpu}));
}

void move_to(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

void work(std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) asm volatile("" ::: "memory");
}

}  // namespace meterbank::emulated
