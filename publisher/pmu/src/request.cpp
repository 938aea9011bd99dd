// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pmu/request.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "cpu_groups.hpp"

namespace meterbank::pmu {
namespace {

std::uint64_t nanoseconds(std::chrono::nanoseconds time) noexcept {
  return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

}  // namespace

namespace detail {

bool add_cpu(std::vector<CpuGroup>& groups, std::uint32_t cpu) {
  if (cpu / 64 >= kGroupsMax) return false;
  const auto number = static_cast<std::uint16_t>(cpu / 64);
  const auto at = std::lower_bound(
      groups.begin(), groups.end(), number,
      [](const CpuGroup& group, std::uint16_t wanted) { return group.group < wanted; });
  const bool is_there = at != groups.end() && at->group == number;
  CpuGroup& group = is_there ? *at : *groups.insert(at, CpuGroup{.group = number});
  group.mask |= std::uint64_t{1} << cpu % 64;
  return true;
}

std::optional<std::vector<CpuGroup>> parse_cpus(std::string_view list) {
  std::vector<CpuGroup> groups;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto number = [&](std::uint32_t& value) {
    const auto [behind, fault] = std::from_chars(at, end, value);
    at = behind;
    return fault == std::errc() && value < kGroupsMax * 64;
  };
  for (;;) {
    std::uint32_t first = 0;
    if (!number(first)) return std::nullopt;
    std::uint32_t last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return std::nullopt;
    }
    for (std::uint32_t cpu = first; cpu <= last; ++cpu) add_cpu(groups, cpu);
    if (at == end) return groups;
    if (*at++ != ',') return std::nullopt;
  }
}

}  // namespace detail

// ---- What ----

Request& Request::item(const Item& item) {
  if (message_.items.size() >= kItemsMax) {
    fault_ = "more than " + std::to_string(kItemsMax) + " items";
    return *this;
  }
  message_.items.push_back(item);
  message_.head.flags |= kAllocateHasItems;
  message_.head.item_count = static_cast<std::uint32_t>(message_.items.size());
  return *this;
}

Request& Request::add(ItemKind kind, std::string_view name, std::uint32_t count) {
  if (name.size() >= kWireNameBytes) fault_ = "the name '" + std::string(name) + "' is too long";
  return item({.kind = static_cast<std::uint32_t>(kind), .count = count, .name = wire_name(name)});
}

Request& Request::event(std::string_view name, std::uint32_t flags) {
  add(ItemKind::kNamedEvent, name, 1);
  if (!message_.items.empty()) message_.items.back().flags = flags;
  return *this;
}

Request& Request::event_code(std::uint32_t code, std::uint32_t unit_mask, std::uint32_t flags,
                             std::uint64_t configuration) {
  return item({.kind = static_cast<std::uint32_t>(ItemKind::kEvent),
               .flags = flags,
               .count = 1,
               .code = code,
               .unit_mask = unit_mask,
               .configuration = configuration});
}

Request& Request::breakpoint(std::uint64_t address, std::uint32_t bytes, Watch watch,
                             std::uint32_t flags) {
  on_pmu(kBreakpointPmu);
  return event_code(static_cast<std::uint32_t>(watch), bytes, flags, address);
}

Request& Request::counters(std::uint32_t count, std::string_view event_class) {
  return add(ItemKind::kClass, event_class, count);
}

Request& Request::index(std::uint32_t counter) {
  return item({.kind = static_cast<std::uint32_t>(ItemKind::kSingle), .begin = counter});
}

Request& Request::range(std::uint32_t begin, std::uint32_t end) {
  return item({.kind = static_cast<std::uint32_t>(ItemKind::kRange), .begin = begin, .end = end});
}

Request& Request::block(std::string_view rule, std::uint32_t count) {
  return add(ItemKind::kBlock, rule, count);
}

Request& Request::unit(std::string_view name, std::uint32_t count, std::uint32_t threshold) {
  add(ItemKind::kUnit, name, count);
  if (!message_.items.empty()) message_.items.back().threshold = threshold;
  return *this;
}

Request& Request::extra(std::string_view sort, std::uint64_t configuration) {
  add(ItemKind::kExtra, sort, 0);
  if (!message_.items.empty()) message_.items.back().configuration = configuration;
  return *this;
}

Request& Request::overflow() { return add(ItemKind::kOverflow, {}, 0); }

Request& Request::event_buffer(std::uint32_t threshold) {
  return item({.kind = static_cast<std::uint32_t>(ItemKind::kEventBuffer), .threshold = threshold});
}

Request& Request::tag(std::uint32_t tag) {
  return item({.kind = static_cast<std::uint32_t>(ItemKind::kIdentificationTag), .tag = tag});
}

// ---- Where ----

Request& Request::replace_cpus() {
  message_.groups.clear();
  message_.head.task = 0;
  message_.head.group_count = 0;
  message_.head.flags &= ~kAllocateHasGroups;
  return *this;
}

Request& Request::group(const CpuGroup& group) {
  if (message_.groups.size() >= kGroupsMax) {
    fault_ = "more than " + std::to_string(kGroupsMax) + " groups of CPUs";
    return *this;
  }
  message_.groups.push_back(group);
  message_.head.flags |= kAllocateHasGroups;
  message_.head.group_count = static_cast<std::uint32_t>(message_.groups.size());
  return *this;
}

Request& Request::cpus(std::string_view list) {
  replace_cpus();
  const auto groups = detail::parse_cpus(list);
  if (!groups) {
    fault_ = "'" + std::string(list) + "' is not a list of CPUs such as '0-3,8'";
    return *this;
  }
  for (const CpuGroup& each : *groups) group(each);
  return *this;
}

Request& Request::cpus(std::span<const std::uint32_t> cpus) {
  replace_cpus();
  std::vector<CpuGroup> groups;
  for (const std::uint32_t cpu : cpus) {
    if (!detail::add_cpu(groups, cpu)) fault_ = "there is no CPU " + std::to_string(cpu);
  }
  for (const CpuGroup& each : groups) group(each);
  if (groups.empty()) fault_ = "a list of no CPUs";
  return *this;
}

Request& Request::this_thread() {
  return thread(static_cast<std::uint32_t>(::syscall(SYS_gettid)));
}

Request& Request::thread(std::uint32_t tid) {
  replace_cpus();
  message_.head.task = tid;
  return *this;
}

Request& Request::on_pmu(std::string_view name) {
  if (name.size() >= kWireNameBytes) fault_ = "the name '" + std::string(name) + "' is too long";
  message_.head.pmu = wire_name(name);
  return *this;
}

// ---- For how long, and how ----

Request& Request::wait(std::chrono::nanoseconds time) {
  message_.head.wait_ns = time == kForEver ? kForever : nanoseconds(time);
  return *this;
}

Request& Request::term(std::chrono::nanoseconds time) {
  message_.head.term_ns = nanoseconds(time);
  return *this;
}

Request& Request::hold(std::chrono::nanoseconds time) {
  message_.head.hold_ns = nanoseconds(time);
  return *this;
}

Request& Request::priority(Priority priority) {
  message_.head.priority = static_cast<std::uint32_t>(priority);
  return *this;
}

Request& Request::shares() {
  message_.head.flags |= kAllocateShares;
  return *this;
}

Request& Request::duty(std::uint32_t permille) {
  message_.head.duty_permille = permille;
  return *this;
}

Request& Request::label(std::string_view label) {
  message_.head.label = wire_name(label);  // for people: a long one is cut
  return *this;
}

Request& Request::detached() {
  message_.head.flags |= kAllocateDetached;
  return *this;
}

Request& Request::restorable() {
  message_.head.flags |= kAllocateRestorable;
  return *this;
}

Request& Request::delegates() {
  message_.head.flags |= kAllocateDelegates;
  return *this;
}

}  // namespace meterbank::pmu
