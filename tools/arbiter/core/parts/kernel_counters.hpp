// SPDX-License-Identifier: Apache-2.0
//
// The counters that the kernel has open for leases, and what it is asked about them.
//
//   open() --> kOpening --> kOpen <--> kPaused, kResuming
//                 |           |
//                 |           +--> kWatched --> kClosed --> forget()
//                 v
//              forget(): the kernel refused
//
// Each report of the kernel returns what follows from it for leases and books, which this class
// does not know.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <utility>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "arbiter/core/leases/pieces.hpp"
#include "arbiter/core/parts/outbox.hpp"

namespace meterbank::arbiter {

class KernelCounters {
 public:
  using Carriers = std::map<CarrierNumber, Carrier>;

  // The outbox outlives it. Without a backend there is no kernel to ask: carriers are open and free
  // at once. `confirm_ns`: between the first two looks at what was closed.
  KernelCounters(Outbox& outbox, bool has_backend, Nanoseconds confirm_ns) noexcept
      : outbox_(&outbox), has_backend_(has_backend), confirm_ns_(confirm_ns) {}

  // ---- What there is ----
  [[nodiscard]] const Carriers& all() const noexcept { return carriers_; }
  [[nodiscard]] auto begin() const noexcept { return carriers_.begin(); }
  [[nodiscard]] auto end() const noexcept { return carriers_.end(); }
  [[nodiscard]] const Carrier& at(CarrierNumber number) const { return carriers_.at(number); }
  // Null: there is none.
  [[nodiscard]] const Carrier* find(CarrierNumber number) const;
  // The leases for which the books have this: those of a carrier, or the one of that number.
  [[nodiscard]] std::vector<LeaseNumber> holders_of(LeaseId booking) const;
  [[nodiscard]] bool has_backend() const noexcept { return has_backend_; }
  // An open carrier that counts these and that others may join; null: there is none.
  [[nodiscard]] const Carrier* find_shared(const std::vector<Opening>& openings) const;
  // Of the carrier that is opened next.
  [[nodiscard]] CarrierNumber next_number() const noexcept { return next_number_; }
  // Those of which the next look is due; ascending.
  [[nodiscard]] std::vector<CarrierNumber> due(Nanoseconds now) const;
  // When the first look is due; 0: never.
  [[nodiscard]] Nanoseconds next_ns() const noexcept {
    return looks_.empty() ? 0 : looks_.begin()->first;
  }

  // ---- The leases that count on them ----
  // For this lease. `kept`: of Open. With a backend, opened() follows.
  CarrierNumber open(const Lease& lease, const Piece& piece, std::vector<std::uint64_t> kept);
  // With a backend, sampled() follows and names the lease among those that joined.
  void join(CarrierNumber number, LeaseNumber lease);
  void stop_joining(CarrierNumber number, LeaseNumber lease);
  void leave(CarrierNumber number, LeaseNumber lease);
  // What it has in the books.
  void set_plan(CarrierNumber number, const Plan& plan) { carriers_.at(number).plan = plan; }

  // ---- What the kernel is asked ----
  // If it is open.
  void sample(CarrierNumber number);
  void pause(CarrierNumber number);
  // True: it is open at once, as there is no backend. Otherwise opened() follows.
  [[nodiscard]] bool resume(CarrierNumber number);
  // Stops it, to see by `until_ns` whether its holder counts on.
  void watch(CarrierNumber number, Nanoseconds until_ns);
  enum class Closing : std::uint8_t {
    kWasClosed,
    kWaits,  // confirmed() follows
    kFree,   // there is no backend: it can be forgotten
  };
  [[nodiscard]] Closing close(CarrierNumber number);
  // 0: no look is due.
  void look_again_at(CarrierNumber number, Nanoseconds time_ns) {
    set_next(carriers_.at(number), time_ns);
  }
  // The look that is due: has the kernel let go, has it counted on? A paused carrier is left to the
  // caller.
  void look_again(CarrierNumber number);
  void forget(CarrierNumber number);

  // ---- What it reports ----
  enum class Opened : std::uint8_t {
    kIgnored,  // nothing was asked of it
    kOpen,
    kFailed,  // nothing of it is open: it can be forgotten
    kResumed,
    kNotResumed,  // paused as before
  };
  [[nodiscard]] Opened opened(CarrierNumber number, const OpenOutcome& outcome);
  struct Sampled {
    std::vector<LeaseNumber> joined;  // now know where they begin
    bool has_lost = false;            // a counter of it
  };
  [[nodiscard]] Sampled sampled(CarrierNumber number, const std::vector<Reading>& readings,
                                Nanoseconds now);
  enum class Watched : std::uint8_t { kTooEarly, kHasStopped, kHasRun };
  // Precondition: it is watched and was just sampled.
  [[nodiscard]] Watched watched(CarrierNumber number);
  // True: the kernel has let go of it, so it can be forgotten.
  [[nodiscard]] bool confirmed(CarrierNumber number, bool has_let_go, Nanoseconds now);

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // False: it is inconsistent. Throws what the JSON library throws.
  [[nodiscard]] bool load(const nlohmann::json& from);

 private:
  void set_next(Carrier& carrier, Nanoseconds time_ns);

  Outbox* outbox_;  // not owned
  bool has_backend_;
  Nanoseconds confirm_ns_;
  Carriers carriers_;
  std::set<std::pair<Nanoseconds, CarrierNumber>> looks_;  // each carrier with a `next_ns`
  CarrierNumber next_number_ = 1;
};

}  // namespace meterbank::arbiter
