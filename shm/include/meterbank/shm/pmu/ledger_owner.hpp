// SPDX-License-Identifier: Apache-2.0
//
// The arbiter's end of the ledger (lease_ledger.hpp).
//
// Thread safety  One thread, which also creates and destroys the object: it holds the robust mutex
//                whose mark tells readers that the arbiter died.
//
// A crash between any two stores leaves words each of which was true, and no wake-up; a reader that
// sees the owner dead looks no further.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::pmu {

// A PMU on a CPU, as it is for as long as the ledger lasts.
struct LedgerPlaceForm {
  std::string pmu;
  std::uint32_t cpu = 0;
  std::uint16_t general = 0;
  std::uint16_t fixed = 0;
  Grade grade = Grade::kLedger;
};

class LedgerOwner {
 public:
  // All counters free, no lease. Errors: kLimit beyond the bounds of a ledger; kNoSpace, kSystem.
  static Result<LedgerOwner> create(std::uint16_t epoch, std::span<const LedgerPlaceForm> places);
  LedgerOwner(LedgerOwner&& other) noexcept;
  LedgerOwner& operator=(LedgerOwner&& other) = delete;
  // Says kEnded, unless end() was called.
  ~LedgerOwner();

  // To be passed to clients; stays ours.
  [[nodiscard]] int descriptor() const noexcept { return extent_.descriptor(); }
  // Where the slot words of a place begin; general counters, then fixed ones.
  [[nodiscard]] std::uint32_t first_slot(std::size_t place) const noexcept {
    return first_slots_[place];
  }
  [[nodiscard]] std::uint32_t slot_count() const noexcept { return first_slots_.back(); }

  // Wait-free. Ignored beyond the slots and leases there are. Seen at once by readers; a waiter
  // is woken by publish().
  void set_slot(std::uint32_t position, std::uint64_t word) noexcept;
  void set_lease(std::uint32_t number, std::uint64_t word) noexcept;
  // After any number of changes; without any it does nothing.
  void publish() noexcept;

  // CLOCK_MONOTONIC, at least every 100 ms.
  void say_alive(std::uint64_t now_ns) noexcept;
  // No change after this.
  void end(LedgerState state) noexcept;

 private:
  LedgerOwner(OwnedExtent extent, std::vector<std::uint32_t> first_slots) noexcept
      : extent_(std::move(extent)), first_slots_(std::move(first_slots)) {}
  [[nodiscard]] LedgerHeader& header() const noexcept;
  void set(SharedWord& word, std::uint64_t value) noexcept;

  OwnedExtent extent_;
  std::vector<std::uint32_t> first_slots_;  // of each place; then how many slots there are
  SharedWord* slots_ = nullptr;
  SharedWord* leases_ = nullptr;
  bool has_changed_ = false;
  bool is_owned_ = false;  // and not moved from
};

}  // namespace meterbank::pmu
