// SPDX-License-Identifier: Apache-2.0
//
// One lease, as the connection and its holder share it.
//
//      keeper                                      holder, any thread
// [H1] claim := {token, ledger}    release         claim                    acquire   [H2]
//      or null                                     lease word               as in lease_ledger.hpp
//                                                  in force iff the word shows the token
//
//      H1 pairs with H2: a holder that sees the claim sees what it points at.
//
// A claim never changes and lasts as long as this object, so that a holder that was held up between
// its two loads still looks at memory: there is one for each arbiter and ledger that the lease has
// lived through.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pmu/lease.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::pmu::detail {

class Link;

// A page of this process in which the arbiter sees when counters were used last.
class Heartbeat {
 public:
  // Errors: kNoSpace, kSystem.
  static Result<std::shared_ptr<Heartbeat>> create();
  explicit Heartbeat(OwnedExtent extent) noexcept : extent_(std::move(extent)) {}

  // Wait-free: one store. relaxed: the time stands for itself, nothing is published by it.
  void beat(std::uint64_t now_ns) noexcept { word().store(now_ns, std::memory_order_relaxed); }
  // relaxed: as above.
  [[nodiscard]] std::uint64_t last_ns() const noexcept {
    return word().load(std::memory_order_relaxed);
  }
  [[nodiscard]] int descriptor() const noexcept { return extent_.descriptor(); }
  [[nodiscard]] bool has_descriptor() const noexcept { return extent_.has_descriptor(); }
  void detach() noexcept { extent_.detach(); }

 private:
  [[nodiscard]] SharedWord& word() const noexcept {
    return *reinterpret_cast<SharedWord*>(extent_.data());
  }
  OwnedExtent extent_;
};

// Whether a request has such an item. Of a whole PMU, which is asked for without any, every number
// may be said.
[[nodiscard]] inline bool asks_for(const Allocate& request, std::uint32_t item) noexcept {
  return (request.head.flags & kAllocateHasItems) == 0 || item < request.head.item_count;
}

struct Claim {
  Token token = 0;
  std::shared_ptr<const LedgerView> ledger;
};

struct Held {
  Held(std::shared_ptr<Link> its_link, std::shared_ptr<Heartbeat> its_heartbeat)
      : link(std::move(its_link)), heartbeat(std::move(its_heartbeat)) {}

  // ---- The holder's hot path: wait-free, any thread ----

  [[nodiscard]] bool is_in_force() const noexcept;
  bool use() noexcept;
  // 0: nothing is claimed now.
  [[nodiscard]] Token claimed() const noexcept;

  // ---- Under the mutex of the link ----

  // Of what was granted: nothing is late yet.
  void begin_term() noexcept;
  void claim_in(std::shared_ptr<const LedgerView> ledger);
  void claim_nothing() noexcept;
  // A lease whose connection was not used for nearly its term: used now, it would be so too late.
  [[nodiscard]] bool is_overdue(std::uint64_t now_ns) const noexcept;

  const std::shared_ptr<Link> link;
  const std::shared_ptr<Heartbeat> heartbeat;

  Allocate asked;  // to claim it again
  Granted granted;
  Standing standing = Standing::kHeld;
  Cause cause = Cause::kNone;
  std::uint64_t deadline_ns = 0;
  std::shared_ptr<const LeaseValues> last_values;
  std::vector<UniqueFd> descriptors;  // as many as counters, if any was delegated

 private:
  std::atomic<const Claim*> claim_{nullptr};  // written under the mutex of the link
  std::atomic<std::uint64_t> term_ns_{0};     // with claim_
  std::atomic<bool> is_late_{false};  // set by the thread that uses it too late; never cleared
  std::vector<std::unique_ptr<const Claim>> claims_;
};

}  // namespace meterbank::pmu::detail
