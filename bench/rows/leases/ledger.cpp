// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a client pay to know that a lease is still its own, and a reader to see who
// has what?
// Limit: one relaxed load of a word in shared memory, and as many of them as there are words.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include "meterbank/shm/pmu/ledger_owner.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using pmu::LedgerOwner;
using pmu::LedgerView;
using pmu::Token;

constexpr std::uint16_t kEpoch = 1;
constexpr std::uint16_t kGeneral = 8;
constexpr std::uint16_t kFixed = 4;

// Two CPUs of twelve counters, each with a lease of its own.
LedgerOwner full_ledger() {
  std::vector<pmu::LedgerPlaceForm> places;
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
    places.push_back({.pmu = "cpu_core", .cpu = cpu, .general = kGeneral, .fixed = kFixed});
  }
  LedgerOwner owner = must(LedgerOwner::create(kEpoch, places));
  for (std::uint32_t slot = 0; slot < owner.slot_count(); ++slot) {
    const Token token = pmu::make_token(kEpoch, static_cast<std::uint16_t>(slot + 1), 7);
    owner.set_slot(slot, pmu::ledger_word(pmu::CounterState::kLeased, 0, token));
    owner.set_lease(slot + 1, pmu::ledger_word(pmu::LeaseState::kActive, 0, token));
  }
  owner.publish();
  return owner;
}

// Slot words with the words of their leases, all from between two changes.
template <typename Words>
bool take_snapshot(const LedgerView& view, Words& words) noexcept {
  const std::uint32_t before = view.changes();
  std::size_t next = 0;
  for (std::uint32_t slot = 0; slot < view.slot_count(); ++slot) {
    const std::uint64_t word = view.slot_word(slot);
    words[next++] = word;
    words[next++] = view.lease_word(pmu::lease_of(word));
  }
  return view.changes() == before;
}

}  // namespace

void lease_ledger_rows(const Effort& effort, Table& table) {
  const LedgerOwner owner = full_ledger();
  const std::shared_ptr<const LedgerView> view =
      must(LedgerView::attach(UniqueFd(::dup(owner.descriptor()))));
  const Token token = pmu::make_token(kEpoch, 3, 7);
  if (!view->is_in_force(token)) give_up("the lease is not in force");
  SharedWord word{pmu::ledger_word(pmu::LeaseState::kActive, 0, token)};
  const SharedWord* handle = &word;
  keep(&handle);
  const std::uint64_t turns = effort.operations;
  table.time_row("is it still mine? LedgerView::is_in_force (limit: one load)",
                 compare(
                     effort.rounds, turns,
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns; ++turn) {
                         keep(view->is_in_force(token));
                       }
                     },
                     [&] {
                       // relaxed: nothing is ordered by the limit of a load.
                       for (std::uint64_t turn = 0; turn < turns; ++turn) {
                         keep(handle->load(std::memory_order_relaxed));
                       }
                     }),
                 2.0);

  constexpr std::size_t kWords = std::size_t{2} * 2 * (kGeneral + kFixed);
  std::array<std::uint64_t, kWords> taken = {};
  std::array<SharedWord, kWords> bare = {};
  const std::uint64_t snapshots = std::max<std::uint64_t>(1, turns / 50);
  table.time_row(fmt::format("ledger of 2 CPUs, {} counters with their leases (limit: {} loads)",
                             kWords / 2, kWords),
                 compare(
                     effort.rounds, snapshots,
                     [&] {
                       for (std::uint64_t turn = 0; turn < snapshots; ++turn) {
                         keep(take_snapshot(*view, taken));
                         keep(taken.data());
                       }
                     },
                     [&] {
                       // relaxed: as above.
                       for (std::uint64_t turn = 0; turn < snapshots; ++turn) {
                         for (std::size_t index = 0; index < kWords; ++index) {
                           taken[index] = bare[index].load(std::memory_order_relaxed);
                         }
                         keep(taken.data());
                       }
                     }),
                 2000.0);
}

}  // namespace meterbank::bench
