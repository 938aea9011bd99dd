// SPDX-License-Identifier: Apache-2.0
//
// Copies what the arbiter says of counters and leases into the ledger that clients have mapped.
//
// Places stand in the order of the topology's PMUs, then of their CPUs: the arbiter counts the
// slots that it tells clients in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/pmu/ledger_owner.hpp"

namespace meterbank::arbiter {

class LedgerWriter {
 public:
  // Errors: those of LedgerOwner::create().
  static Result<LedgerWriter> create(const Machine& machine, std::uint16_t epoch, Nanoseconds now);

  // Writes all words, and wakes threads that wait for a change.
  void write(const Arbiter& arbiter);
  void set_alive(Nanoseconds now) noexcept { owner_->say_alive(now); }
  // No change after this.
  void end(pmu::LedgerState state) noexcept { owner_->end(state); }
  [[nodiscard]] int descriptor() const noexcept { return owner_->descriptor(); }

 private:
  using Place = std::pair<PmuIndex, std::uint32_t>;  // PMU and CPU

  LedgerWriter(std::unique_ptr<pmu::LedgerOwner> owner, std::vector<Place> places) noexcept
      : owner_(std::move(owner)), places_(std::move(places)) {}

  std::unique_ptr<pmu::LedgerOwner> owner_;
  std::vector<Place> places_;
  std::set<std::uint16_t> shown_;  // leases whose words are not 0
};

}  // namespace meterbank::arbiter
