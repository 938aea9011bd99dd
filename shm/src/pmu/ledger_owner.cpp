// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pmu/ledger_owner.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/shm/owner_mutex.hpp"

namespace meterbank::pmu {
namespace {

[[nodiscard]] constexpr std::uint64_t in_lines(std::uint64_t bytes) noexcept {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

[[nodiscard]] Result<std::vector<std::uint32_t>> first_slots_of(
    std::span<const LedgerPlaceForm> places) {
  std::vector<std::uint32_t> first_slots;
  first_slots.reserve(places.size() + 1);
  std::uint32_t slots = 0;
  for (const LedgerPlaceForm& place : places) {
    first_slots.push_back(slots);
    if (place.general > kLedgerCountersMax || place.fixed > kLedgerCountersMax) {
      return fail(ErrorCode::kLimit, "counters of " + place.pmu,
                  "a ledger has room for 32 general and 32 fixed ones");
    }
    slots += std::uint32_t{place.general} + place.fixed;
    if (first_slots.size() > kLedgerPlacesMax || slots > kLedgerSlotsMax) {
      return fail(ErrorCode::kLimit, "a ledger of so many PMUs and CPUs");
    }
  }
  first_slots.push_back(slots);
  return first_slots;
}

}  // namespace

Result<LedgerOwner> LedgerOwner::create(std::uint16_t epoch,
                                        std::span<const LedgerPlaceForm> places) {
  auto first_slots = first_slots_of(places);
  if (!first_slots) return tl::make_unexpected(first_slots.error());
  const std::uint64_t places_at = sizeof(LedgerHeader);
  const std::uint64_t slots_at = in_lines(places_at + places.size() * sizeof(LedgerPlace));
  const std::uint64_t leases_at =
      in_lines(slots_at + std::uint64_t{first_slots->back()} * sizeof(SharedWord));
  const std::uint64_t bytes = leases_at + kLedgerLeasesMax * sizeof(SharedWord);
  auto extent = OwnedExtent::create("pmu-ledger", bytes);
  if (!extent) return tl::make_unexpected(extent.error());

  LedgerOwner owner(std::move(*extent), std::move(*first_slots));
  std::byte* const memory = owner.extent_.data();
  auto* const header = new (memory) LedgerHeader{};
  header->magic = kLedgerMagic;
  header->version = kLedgerVersion;
  header->epoch = epoch;
  header->arbiter_pid = static_cast<std::uint64_t>(::getpid());
  header->start_ns = clock_ns(CLOCK_MONOTONIC);
  header->place_count = static_cast<std::uint32_t>(places.size());
  header->slot_count = owner.slot_count();
  header->places_at = places_at;
  header->slots_at = slots_at;
  header->leases_at = leases_at;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const LedgerPlaceForm& form = places[i];
    const LedgerPlace place{.cpu = form.cpu,
                            .first_slot = owner.first_slot(i),
                            .general = form.general,
                            .fixed = form.fixed,
                            .grade = form.grade,
                            .pmu = wire_name(form.pmu)};
    std::memcpy(memory + places_at + i * sizeof place, &place, sizeof place);
  }
  owner.slots_ = new (memory + slots_at) SharedWord[std::max<std::size_t>(owner.slot_count(), 1)]{};
  owner.leases_ = new (memory + leases_at) SharedWord[kLedgerLeasesMax]{};
  hold_owner_mutex(header->owner_mutex);
  owner.is_owned_ = true;
  owner.say_alive(header->start_ns);
  return owner;
}

LedgerOwner::LedgerOwner(LedgerOwner&& other) noexcept
    : extent_(std::move(other.extent_)),
      first_slots_(std::move(other.first_slots_)),
      slots_(other.slots_),
      leases_(other.leases_),
      has_changed_(other.has_changed_),
      is_owned_(std::exchange(other.is_owned_, false)) {}

LedgerOwner::~LedgerOwner() {
  if (!is_owned_) return;
  // relaxed: this thread stored it.
  if (header().state.load(std::memory_order_relaxed) ==
      static_cast<std::uint32_t>(LedgerState::kLive)) {
    end(LedgerState::kEnded);
  }
  release_owner_mutex(header().owner_mutex);
}

LedgerHeader& LedgerOwner::header() const noexcept {
  return *reinterpret_cast<LedgerHeader*>(extent_.data());
}

void LedgerOwner::set(SharedWord& word, std::uint64_t value) noexcept {
  // relaxed: this thread stored it.
  if (word.load(std::memory_order_relaxed) == value) return;
  // [L1] pairs with [L6]. Without it a client that sees whose a counter is finds an older
  // word of that lease. That counters are taken away later needs no more: this is asked of the
  // kernel, which interrupts the CPU that counts.
  word.store(value, std::memory_order_release);
  has_changed_ = true;
}

void LedgerOwner::set_slot(std::uint32_t position, std::uint64_t word) noexcept {
  if (position < slot_count()) set(slots_[position], word);
}

void LedgerOwner::set_lease(std::uint32_t number, std::uint64_t word) noexcept {
  if (number < kLedgerLeasesMax) set(leases_[number], word);
}

void LedgerOwner::publish() noexcept {
  if (!std::exchange(has_changed_, false)) return;
  SharedWord32& changes = header().changes;
  // [L2] pairs with [L7]. Without it a waiter sees the new count and old words,
  // and sleeps over the change.
  changes.fetch_add(1, std::memory_order_release);
  // Readers cannot write that they wait, so it is asked for each time.
  ::syscall(SYS_futex, &changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void LedgerOwner::say_alive(std::uint64_t now_ns) noexcept {
  // [L3] relaxed: the time stands for itself, nothing is published by it.
  header().alive_ns.store(now_ns, std::memory_order_relaxed);
}

void LedgerOwner::end(LedgerState state) noexcept {
  // [L4] pairs with [L8]. Without it a reader that sees the end takes older words for the
  // last ones.
  header().state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  has_changed_ = true;
  publish();
}

}  // namespace meterbank::pmu
