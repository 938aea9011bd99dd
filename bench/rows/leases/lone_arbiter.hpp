// SPDX-License-Identifier: Apache-2.0
//
// The arbiter alone, in this process: no sockets, and a kernel that says yes at once. Nothing is
// due of itself: each holder gives its lease back before its hold is over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "workplace.hpp"

namespace meterbank::bench {

// `items` on CPUs `first` to `last`; none: the whole PMU.
[[nodiscard]] inline pmu::Allocate asking(std::uint32_t first, std::uint32_t last,
                                          std::vector<arbiter::Item> items) {
  pmu::Allocate asked;
  for (std::uint32_t cpu = first; cpu <= last; ++cpu) {
    if (asked.groups.empty() || asked.groups.back().group != cpu / 64) {
      asked.groups.push_back({.mask = 0, .group = static_cast<std::uint16_t>(cpu / 64)});
    }
    asked.groups.back().mask |= std::uint64_t{1} << (cpu % 64);
  }
  asked.head.flags = pmu::kAllocateHasGroups;
  asked.head.group_count = static_cast<std::uint32_t>(asked.groups.size());
  asked.items = std::move(items);
  if (!asked.items.empty()) asked.head.flags |= pmu::kAllocateHasItems;
  asked.head.item_count = static_cast<std::uint32_t>(asked.items.size());
  return asked;
}

class LoneArbiter {
 public:
  // Of a machine with CPUs 0 to `cpus` - 1, which the topology describes.
  LoneArbiter(std::string_view topology, std::uint32_t cpus)
      : arbiter_(open_book(topology, cpus), arbiter::Policy::standard(), {}) {}

  // Whom it is granted to, and what; called before say() returns.
  std::function<void(arbiter::ClientNumber, const pmu::Granted&)> on_granted = [](auto, auto&) {};

  void connect(arbiter::ClientNumber client) {
    const auto pid = static_cast<std::uint32_t>(client);
    arbiter_.connected(
        client, {.pid = pid, .groups = {}, .program = "client", .executable = {}, .cgroup = {}},
        now_);
    settle();
  }
  void say(arbiter::ClientNumber client, const pmu::ClientMessage& message) {
    arbiter_.received(client, ++id_, message, now_);
    settle();
  }
  void pass_until(arbiter::Nanoseconds time) { now_ = time; }
  [[nodiscard]] arbiter::Nanoseconds now() const noexcept { return now_; }
  [[nodiscard]] const arbiter::Arbiter& arbiter() const noexcept { return arbiter_; }

 private:
  static arbiter::MachineBook open_book(std::string_view text, std::uint32_t cpu_count) {
    const arbiter::CpuSet cpus = arbiter::CpuSet::range(0, cpu_count - 1);
    return must(
        arbiter::MachineBook::open({.topology = must(arbiter::parse_topology(text, "machine")),
                                    .possible = cpus,
                                    .online = cpus,
                                    .names = {}}));
  }

  void settle() {
    while (std::optional<arbiter::Action> action = arbiter_.next_action()) {
      std::visit([this](const auto& one) { execute(one); }, *action);
    }
  }
  void execute(const arbiter::Send& action) {
    if (const auto* granted = std::get_if<pmu::Granted>(&action.message)) {
      on_granted(action.client, *granted);
    }
  }
  void execute(const arbiter::Open& action) {
    arbiter_.opened(action.carrier,
                    {.kernel_ids = std::vector<std::uint64_t>(action.openings.size(), 1)}, now_);
  }
  void execute(const arbiter::Resume& action) { arbiter_.opened(action.carrier, {}, now_); }
  void execute(const arbiter::ReadCounters& action) {
    const std::size_t count = arbiter_.carriers().at(action.carrier).openings.size();
    arbiter_.sampled(action.carrier, std::vector<arbiter::Reading>(count), now_);
  }
  void execute(const arbiter::Confirm& action) { arbiter_.confirmed(action.carrier, true, now_); }
  void execute(const arbiter::Verify& action) {
    arbiter_.verified(action.lease, action.pmu, action.counters, now_);
  }
  void execute(const arbiter::Survey&) { arbiter_.surveyed({}, now_); }
  template <typename Other>
  void execute(const Other&) {}

  arbiter::Arbiter arbiter_;
  arbiter::Nanoseconds now_ = 1'000'000'000;
  std::uint64_t id_ = 0;
};

}  // namespace meterbank::bench
