// SPDX-License-Identifier: Apache-2.0
//
// Looks into a MachineBook, and at its answers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../machines.hpp"
#include "arbiter/core/books/machine_book.hpp"

namespace meterbank::arbiter {

using Leases = std::vector<LeaseId>;

inline MachineBook open_book(Machine machine = hybrid_machine()) {
  auto book = MachineBook::open(std::move(machine));
  EXPECT_TRUE(book) << book.error().message();
  return std::move(*book);
}

inline CounterOwner owner_of(const MachineBook& book, std::uint32_t cpu, std::uint32_t counter) {
  for (const CpuOwners& owners : book.ownership().cpus) {
    if (owners.cpu != cpu || owners.pmu != *book.machine().pmu_on(cpu)) continue;
    for (const CounterOwner& owner : owners.counters) {
      if (owner.counter == counter) return owner;
    }
  }
  ADD_FAILURE() << "CPU " << cpu << " has no counter " << counter;
  return {};
}

inline std::uint32_t count_of(const MachineBook& book, std::uint32_t cpu, OwnerKind kind) {
  std::uint32_t count = 0;
  for (const CpuOwners& owners : book.ownership().cpus) {
    if (owners.cpu != cpu || owners.pmu != *book.machine().pmu_on(cpu)) continue;
    for (const CounterOwner& owner : owners.counters) count += owner.kind == kind ? 1 : 0;
  }
  return count;
}

inline testing::AssertionResult is_granted(const Decision& decision) {
  if (decision.is_granted()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << decision.sentence;
}

inline testing::AssertionResult is_refused(const Decision& decision, Reason reason,
                                           const Leases& leases) {
  if (decision.answer == Answer::kInsufficientResources && decision.reason == reason &&
      decision.leases == leases && !decision.sentence.empty()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << name_of(decision.answer) << ", " << name_of(decision.reason) << ": "
         << decision.sentence << " (" << testing::PrintToString(decision.leases) << ")";
}

inline Plan plan_of(const Request& request, const Machine& machine = hybrid_machine()) {
  auto plan = plan_for(request, machine);
  EXPECT_TRUE(plan) << plan.error().sentence;
  return plan ? std::move(*plan) : Plan{};
}

}  // namespace meterbank::arbiter
