// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pmu/ledger_view.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace meterbank::pmu {
namespace {

// What is constant in the header, to be copied before it is checked.
struct LedgerFacts {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t epoch;
  std::uint64_t arbiter_pid;
  std::uint64_t start_ns;
  std::uint32_t place_count;
  std::uint32_t slot_count;
  std::uint64_t places_at;
  std::uint64_t slots_at;
  std::uint64_t leases_at;
};
static_assert(sizeof(LedgerFacts) == offsetof(LedgerHeader, alive_ns));
static_assert(offsetof(LedgerFacts, place_count) == offsetof(LedgerHeader, place_count));
static_assert(offsetof(LedgerFacts, leases_at) == offsetof(LedgerHeader, leases_at));

void copy(void* target, const void* source, std::size_t bytes) noexcept {
  std::memcpy(target, source, bytes);
  // Keeps the compiler from reading the source again when the copy is checked.
  asm volatile("" : : "r"(target) : "memory");
}

[[nodiscard]] auto corrupt(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "PMU ledger: " + what, "restart the arbiter");
}

[[nodiscard]] bool is_sound(const LedgerPlace& place, std::uint32_t slots) noexcept {
  if (place.general > kLedgerCountersMax) return false;
  if (place.fixed > kLedgerCountersMax) return false;
  if (place.first_slot > slots) return false;
  if (slots - place.first_slot < std::uint32_t{place.general} + place.fixed) return false;
  if (place.grade > Grade::kGuarded) return false;
  return is_terminated(place.pmu);
}

}  // namespace

Result<std::shared_ptr<const LedgerView>> LedgerView::attach(UniqueFd descriptor) {
  auto extent = MappedExtent::map(std::move(descriptor), kLedgerBytesMax);
  if (!extent) return tl::make_unexpected(extent.error());
  return checked(std::move(*extent));
}

Result<std::shared_ptr<const LedgerView>> LedgerView::over(MappedBytes bytes) {
  return checked(MappedExtent::over(bytes));
}

Result<std::shared_ptr<const LedgerView>> LedgerView::checked(MappedExtent extent) {
  const std::shared_ptr<LedgerView> view(new LedgerView(std::move(extent)));
  if (auto good = view->find_parts(); !good) return tl::make_unexpected(good.error());
  return std::shared_ptr<const LedgerView>(view);
}

Result<void> LedgerView::find_parts() {
  const MappedBytes bytes = extent_.bytes();
  header_ = bytes.at<LedgerHeader>(0);
  if (header_ == nullptr) return fail(ErrorCode::kNotASegment, "memory too small for a PMU ledger");
  LedgerFacts facts;
  copy(&facts, header_, sizeof facts);
  if (facts.magic != kLedgerMagic) return fail(ErrorCode::kNotASegment, "no PMU ledger");
  if (facts.version > kLedgerVersion) {
    return fail(ErrorCode::kNewerLayout, "PMU ledger of a newer version", "upgrade this program");
  }
  if (facts.version != kLedgerVersion) return corrupt("version " + std::to_string(facts.version));
  if (facts.place_count > kLedgerPlacesMax) return corrupt("too many places");
  if (facts.slot_count > kLedgerSlotsMax) return corrupt("too many slots");

  // The counts are bounded, so no product wraps.
  const std::byte* const places =
      bytes.span_at(facts.places_at, facts.place_count * sizeof(LedgerPlace), alignof(LedgerPlace));
  const std::byte* const slots =
      bytes.span_at(facts.slots_at, facts.slot_count * sizeof(SharedWord), alignof(SharedWord));
  const std::byte* const leases =
      bytes.span_at(facts.leases_at, kLedgerLeasesMax * sizeof(SharedWord), alignof(SharedWord));
  if (places == nullptr) return corrupt("places outside");
  if (slots == nullptr) return corrupt("slots outside");
  if (leases == nullptr) return corrupt("leases outside");
  slots_ = reinterpret_cast<const SharedWord*>(slots);
  leases_ = reinterpret_cast<const SharedWord*>(leases);
  slot_count_ = facts.slot_count;
  epoch_ = facts.epoch;
  arbiter_pid_ = facts.arbiter_pid;
  start_ns_ = facts.start_ns;

  places_.resize(facts.place_count);
  if (places_.empty()) return {};
  copy(places_.data(), places, places_.size() * sizeof(LedgerPlace));
  const auto bad = std::find_if(places_.begin(), places_.end(), [this](const LedgerPlace& place) {
    return !is_sound(place, slot_count_);
  });
  if (bad != places_.end()) return corrupt("place " + std::to_string(bad - places_.begin()));
  return {};
}

const LedgerPlace* LedgerView::find_place(std::string_view pmu, std::uint32_t cpu) const noexcept {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const LedgerPlace& place) {
    return place.cpu == cpu && text_of(place.pmu) == pmu;
  });
  return found == places_.end() ? nullptr : &*found;
}

bool LedgerView::wait(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (changes() != seen) return true;
  const std::int64_t left = std::max<std::int64_t>(timeout.count(), 0);
  const timespec relative{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
  // The kernel compares once more, so a change in between is not slept over.
  ::syscall(SYS_futex, &header_->changes, FUTEX_WAIT, seen, &relative, nullptr, 0);
  return changes() != seen;
}

LedgerState LedgerView::state() const noexcept {
  // [L8] pairs with [L4]. Without it a reader that sees the end takes older words for the last
  // ones.
  const std::uint32_t state = header_->state.load(std::memory_order_acquire);
  if (state > static_cast<std::uint32_t>(LedgerState::kEnded)) return LedgerState::kEnded;
  return static_cast<LedgerState>(state);
}

}  // namespace meterbank::pmu
