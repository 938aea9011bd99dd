// SPDX-License-Identifier: Apache-2.0
//
// A lease, and the life it has.
//
//   requested --> queued --> preparing --> active <--> suspended      CPU offline, counter stolen
//       |            |           |          |  |
//       v            v           v          |  +--> revoking --> fenced --> limbo --> none
//    refused      refused     refused       |        notice        |  reader and holder are told
//                (time-out,  (the kernel    |        until its     |
//                 cancelled)  said no)      |        deadline      |
//                                           +--> freed, holder gone, term ended --> fenced
//
// Limbo ends when the kernel shows that it has let go.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/core/books/machine_book.hpp"
#include "arbiter/core/policy.hpp"
#include "arbiter/core/request.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::arbiter {

using ClientNumber = std::uint64_t;   // of a connection; never used again
using LeaseNumber = std::uint16_t;    // of a slot in the ledger; used again after its lease
using CarrierNumber = std::uint64_t;  // never used again
using Nanoseconds = std::uint64_t;    // CLOCK_MONOTONIC
using Place = std::pair<PmuIndex, std::uint32_t>;  // PMU and CPU

// One counter that the kernel is to open.
struct Opening {
  std::uint32_t item = 0;  // position in the request's list
  PmuIndex pmu = 0;
  std::uint32_t cpu = pmu::kNoCpu;
  std::uint32_t task = 0;  // a thread; then `cpu` is kNoCpu
  Event event;
  std::uint32_t flags = 0;  // kItem...
  friend bool operator==(const Opening&, const Opening&) = default;
};

// What the kernel says of one of them.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  bool has_counter = true;  // false: it was lost (read() gave nothing); the rest is what was last
};

enum class CarrierState : std::uint8_t {
  kOpening,   // Open is out
  kOpen,      // counts
  kPaused,    // counts are kept, counters are not
  kResuming,  // Resume is out
  kWatched,   // its lease has ended; paused, to see whether its holder counts on
  kClosed,    // until the kernel shows that it has let go
};

class KernelCounters;

// Counters that are opened and closed together. A lease of its own has one; of leases that share,
// each event has one, on which all of them count from where they began.
struct Carrier {
  CarrierNumber number = 0;
  Plan plan;  // what it has in the books, under booking_of(number)
  std::vector<Opening> openings;
  std::vector<std::uint64_t> kernel_ids;  // as many, once open
  std::vector<Reading> readings;          // the last ones, as many
  Nanoseconds sampled_ns = 0;
  std::vector<std::uint16_t> leases;   // that count on it
  std::vector<std::uint16_t> joining;  // of these: wait for a sample, to know where they begin
  bool is_shared = false;              // others may join
  bool is_sliced = false;              // takes turns
  Nanoseconds next_ns = 0;             // of the next look, Resume or Confirm; 0: none is due
  Nanoseconds pause_ns = 0;            // between two looks at limbo
  std::vector<Reading> fenced = {};    // kWatched: what was read when it was paused

  [[nodiscard]] CarrierState state() const noexcept { return state_; }
  // Whether they count the same. Items are positions in the lists of different requests.
  [[nodiscard]] bool counts_as(const std::vector<Opening>& others) const;

 private:
  friend class KernelCounters;  // asks the kernel for every change of it
  CarrierState state_ = CarrierState::kOpening;
};

// A client that is told Done when a lease is fenced.
struct Revoker {
  ClientNumber client = 0;
  std::uint64_t request = 0;
};

// Counters of one CPU that the kernel is asked about.
struct Checking {
  PmuIndex pmu = 0;
  std::uint32_t cpu = 0;
  std::uint32_t counters = 0;
};

class LeaseTable;
struct Piece;  // of what a lease has in the books

// The arbiter's record of a lease. pmu::Lease is the client's handle of the same thing; no program
// has both, and each is a lease to its side.
struct Lease {
  pmu::Token token = 0;
  std::uint16_t number = 0;
  ClientNumber client = 0;    // 0: its connection is lost, and it is detached or may be reclaimed
  std::uint64_t request = 0;  // id that the answer to the request has
  ClientIdentity holder;
  pmu::Allocate asked;
  Plan plan;
  pmu::Grade grade = pmu::Grade::kLedger;
  pmu::Quality quality = pmu::Quality::kUnverified;
  pmu::Cause cause = pmu::Cause::kNone;  // of its end, of its revocation or of its suspension
  Nanoseconds asked_ns = 0;
  Nanoseconds granted_ns = 0;    // 0: never yet
  Nanoseconds ends_ns = 0;       // the longest it may last; 0: no end
  Nanoseconds heartbeat_ns = 0;  // the last sign of use
  Nanoseconds deadline_ns = 0;   // of what its state waits for; 0: nothing
  std::vector<CarrierNumber> carriers;
  std::vector<std::uint32_t> items;  // of each of its counters: position in the request's list
  std::vector<Reading> began;        // of each of its counters: where it counts from
  std::optional<std::uint32_t> threshold = {};

  std::uint64_t arrival = 0;            // order in which requests came
  std::uint32_t unanswered = 0;         // Open, Resume, Sample and Verify that it waits for
  bool has_rest = false;                // what names no event is booked, under the lease's number
  bool was_told = false;                // that it is queued
  bool awaits_survey = false;           // the kernel said no, and a survey looks for outsiders
  Nanoseconds away_ns = 0;              // suspended since
  Nanoseconds retry_ns = 0;             // the kernel said no: not asked again before
  std::vector<Checking> checking = {};  // Verifies that are out, in their order
  std::optional<Decision> fault = {};   // what the kernel said while it was being prepared
  std::optional<Decision> failed = {};  // the kernel's no, until that survey has ended
  std::vector<Revoker> revokers = {};
  std::shared_ptr<const std::vector<Piece>> pieces = {};  // of its plan
  bool is_waiting = false;                                // stands in the queue

  [[nodiscard]] pmu::LeaseState state() const noexcept { return state_; }
  [[nodiscard]] bool has(std::uint32_t flag) const noexcept {
    return (asked.head.flags & flag) != 0;
  }
  [[nodiscard]] pmu::Priority priority() const noexcept {
    return static_cast<pmu::Priority>(asked.head.priority);
  }
  [[nodiscard]] bool is_sliced() const noexcept { return asked.head.duty_permille < 1000; }
  // Has counters, or will have them again without asking.
  [[nodiscard]] bool is_held() const noexcept {
    return state_ == pmu::LeaseState::kActive || state_ == pmu::LeaseState::kSuspended ||
           state_ == pmu::LeaseState::kRevoking;
  }

 private:
  friend class LeaseTable;  // counts what state leases are in, and knows which were handed out
  pmu::LeaseState state_ = pmu::LeaseState::kNone;
  bool is_touched_ = false;
};

// Under which number books know a carrier. A lease's own number stands there for what of it names
// no event.
inline constexpr LeaseId kCarrierFirst = LeaseId{1} << 32;
[[nodiscard]] constexpr LeaseId booking_of(CarrierNumber carrier) noexcept {
  return kCarrierFirst + carrier;
}

}  // namespace meterbank::arbiter
