// SPDX-License-Identifier: Apache-2.0
//
// Counters that are not lent: reserves, which are kept for processes that do not ask, and guards,
// which the kernel holds so that such processes cannot take a counter that is free.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "arbiter/core/parts/outbox.hpp"

namespace meterbank::arbiter {

class Reservations {
 public:
  // Book and outbox outlive it.
  Reservations(MachineBook& book, Outbox& outbox, const Policy& policy)
      : book_(&book),
        outbox_(&outbox),
        reserve_rules_(policy.reserves),
        guard_rules_(policy.guards) {}

  // Its reserves replace those before, also those of reserve().
  void adopt(const Policy& policy);
  // Keeps `counters` on every CPU that the plan names.
  void reserve(const Plan& plan, std::uint32_t counters);
  // Puts all reserves into the books, as far as there is room.
  void book();
  // They come back with book().
  void forget_bookings();

  // Whether the policy has the free counters of this place guarded.
  [[nodiscard]] bool is_guarded(PmuIndex pmu, std::uint32_t cpu) const;
  // How many the kernel was told to guard there.
  [[nodiscard]] std::uint32_t guarded_at(PmuIndex pmu, std::uint32_t cpu) const;
  // Tells the kernel where the number of free counters has changed. `has_ended`: there is nothing
  // to be guarded any more. True: something has changed.
  [[nodiscard]] bool settle_guards(bool has_ended);

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // Throws what the JSON library throws. book() follows, when leases are in the books.
  void load(const nlohmann::json& from);

 private:
  using Counts = std::map<Place, std::uint32_t>;

  MachineBook* book_;  // not owned
  Outbox* outbox_;     // not owned
  std::vector<ReserveRule> reserve_rules_;
  std::vector<GuardRule> guard_rules_;
  Counts reserves_;
  std::vector<std::uint64_t> holders_;  // of these, in the book
  Counts guards_;                       // as the kernel was told last
  std::uint64_t next_holder_ = 1;
};

}  // namespace meterbank::arbiter
