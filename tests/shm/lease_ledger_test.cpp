// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pmu/lease_ledger.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "../support/sanitizers.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/pmu/ledger_owner.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"

namespace meterbank::pmu {
namespace {

const std::vector<LedgerPlaceForm> kPlaces = {
    {.pmu = "cpu_core", .cpu = 0, .general = 8, .fixed = 4, .grade = Grade::kVerified},
    {.pmu = "cpu_core", .cpu = 1, .general = 8, .fixed = 4, .grade = Grade::kGuarded},
    {.pmu = "breakpoint", .cpu = 1, .general = 4, .fixed = 0, .grade = Grade::kLedger}};

LedgerOwner open_owner(std::uint16_t epoch = 7) {
  auto owner = LedgerOwner::create(epoch, kPlaces);
  EXPECT_TRUE(owner) << owner.error().message();
  return std::move(*owner);
}

std::shared_ptr<const LedgerView> view_of(const LedgerOwner& owner) {
  auto view = LedgerView::attach(UniqueFd(::fcntl(owner.descriptor(), F_DUPFD_CLOEXEC, 0)));
  EXPECT_TRUE(view) << view.error().message();
  return view ? *view : nullptr;
}

TEST(Ledger, ShowsWhatItsOwnerSaid) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  EXPECT_EQ(view->epoch(), 7U);
  EXPECT_EQ(view->arbiter_pid(), static_cast<std::uint64_t>(::getpid()));
  ASSERT_EQ(view->places().size(), 3U);
  EXPECT_EQ(view->slot_count(), 28U);
  const LedgerPlace* const place = view->find_place("breakpoint", 1);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->first_slot, 24U);
  EXPECT_EQ(place->first_slot, owner.first_slot(2));
  EXPECT_EQ(place->general, 4U);
  EXPECT_EQ(view->find_place("cpu_core", 1)->grade, Grade::kGuarded);
  EXPECT_EQ(view->find_place("cpu_core", 2), nullptr);
  EXPECT_EQ(view->find_place("cpu", 1), nullptr);
  for (std::uint32_t slot = 0; slot < view->slot_count(); ++slot) {
    EXPECT_EQ(state_of<CounterState>(view->slot_word(slot)), CounterState::kFree);
  }
  EXPECT_EQ(view->state(), LedgerState::kLive);
  EXPECT_FALSE(view->has_owner_died());

  const Token token = make_token(7, 3, 99);
  owner.set_slot(5, ledger_word(CounterState::kLeased, kSlotTagged | kSlotShared, token));
  EXPECT_EQ(state_of<CounterState>(view->slot_word(5)), CounterState::kLeased);
  EXPECT_EQ(flags_of(view->slot_word(5)), kSlotTagged | kSlotShared);
  EXPECT_EQ(low_token_of(view->slot_word(5)), token & 0xffffffffffff);
}

TEST(Ledger, LeasesAreInForceWhileTheirWordSaysSo) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  const Token token = make_token(7, 3, 99);
  EXPECT_FALSE(view->is_in_force(token));
  for (const LeaseState state :
       {LeaseState::kNone, LeaseState::kQueued, LeaseState::kPreparing, LeaseState::kActive,
        LeaseState::kSuspended, LeaseState::kRevoking, LeaseState::kFenced, LeaseState::kLimbo}) {
    owner.set_lease(3, ledger_word(state, 0, token));
    const bool is_one = state == LeaseState::kActive || state == LeaseState::kRevoking;
    EXPECT_EQ(view->is_in_force(token), is_one) << name_of(state);
  }
  owner.set_lease(3, ledger_word(LeaseState::kActive, 0, token));
  EXPECT_TRUE(view->is_in_force(token));
  EXPECT_FALSE(view->is_in_force(make_token(7, 3, 98)));  // one before it with the same number
  EXPECT_FALSE(view->is_in_force(make_token(7, 2, 99)));  // another lease
  EXPECT_FALSE(view->is_in_force(make_token(6, 3, 99)));  // of an arbiter before
  EXPECT_FALSE(view->is_in_force(0));
  EXPECT_FALSE(view->is_in_force(make_token(7, 0xffff, 99)));  // no such number
}

TEST(Ledger, NeitherStoresNorShowsPlacesBeyondTheEnd) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  owner.set_slot(28, ~std::uint64_t{0});
  owner.set_slot(0xffffffff, ~std::uint64_t{0});
  owner.set_lease(kLedgerLeasesMax, ~std::uint64_t{0});
  owner.set_lease(kLedgerLeasesMax - 1, 5);
  EXPECT_EQ(view->slot_word(28), 0U);
  EXPECT_EQ(view->slot_word(0xffffffff), 0U);
  EXPECT_EQ(view->lease_word(kLedgerLeasesMax), 0U);
  EXPECT_EQ(view->lease_word(kLedgerLeasesMax - 1), 5U);
  EXPECT_EQ(view->lease_word(0), 0U);
}

TEST(Ledger, ChangesGrowOnlyIfSomethingChanged) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  const std::uint32_t before = view->changes();
  owner.publish();
  owner.set_slot(0, 0);
  owner.publish();
  EXPECT_EQ(view->changes(), before);
  owner.set_slot(0, 1);
  owner.set_slot(1, 1);
  owner.publish();
  EXPECT_EQ(view->changes(), before + 1);
  EXPECT_TRUE(view->wait(before, std::chrono::hours(1)));
  EXPECT_FALSE(view->wait(before + 1, std::chrono::nanoseconds(0)));
}

TEST(Ledger, WaitersAreWokenByChanges) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  std::atomic<std::uint32_t> seen{0};
  const std::uint32_t start = view->changes();
  std::jthread waiter([&] {
    for (std::uint32_t count = 0; count < 100;) {
      if (!view->wait(start + count, std::chrono::minutes(1))) continue;
      ++count;
      seen.store(count, std::memory_order_release);
      seen.notify_one();
    }
  });
  for (std::uint32_t count = 1; count <= 100; ++count) {
    owner.set_slot(0, count);
    owner.publish();
    for (std::uint32_t got = 0; (got = seen.load(std::memory_order_acquire)) < count;) {
      seen.wait(got, std::memory_order_acquire);
    }
  }
}

TEST(Ledger, AReaderThatSeesACounterOfALeaseSeesTheLease) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  constexpr std::uint32_t kOverlaps = test::kHasSanitizer ? 2'000 : 100'000;
  std::atomic<bool> is_over{false};
  std::jthread reader([&] {
    // An overlap is a look that found another generation than the look before.
    std::uint32_t last = 0;
    for (std::uint32_t overlaps = 0; overlaps < kOverlaps;) {
      const std::uint32_t slot = generation_of(low_token_of(view->slot_word(3)));
      const std::uint32_t lease = generation_of(low_token_of(view->lease_word(1)));
      // Generations only grow, so an older one here would be a word from before the slot's.
      EXPECT_GE(lease, slot);
      if (std::exchange(last, slot) != slot) ++overlaps;
    }
    is_over.store(true, std::memory_order_release);
  });
  for (std::uint32_t generation = 1; !is_over.load(std::memory_order_acquire); ++generation) {
    const Token token = make_token(7, 1, generation);
    owner.set_lease(1, ledger_word(LeaseState::kActive, 0, token));
    owner.set_slot(3, ledger_word(CounterState::kLeased, 0, token));
  }
}

TEST(Ledger, SaysHowItEnded) {
  std::shared_ptr<const LedgerView> view;
  {
    LedgerOwner owner = open_owner();
    view = view_of(owner);
    const std::uint32_t before = view->changes();
    LedgerOwner moved = std::move(owner);
    moved.set_slot(1, 1);
    moved.end(LedgerState::kReplaced);
    EXPECT_EQ(view->state(), LedgerState::kReplaced);
    EXPECT_EQ(view->changes(), before + 1);
  }
  EXPECT_EQ(view->state(), LedgerState::kReplaced);
  EXPECT_FALSE(view->has_owner_died());
  {
    const LedgerOwner owner = open_owner();
    view = view_of(owner);
  }
  EXPECT_EQ(view->state(), LedgerState::kEnded);
  EXPECT_FALSE(view->has_owner_died());
}

TEST(Ledger, SaysHowLongItsOwnerHasBeenSilent) {
  LedgerOwner owner = open_owner();
  const auto view = view_of(owner);
  EXPECT_EQ(view->alive_ns(), view->start_ns());
  owner.say_alive(1000);
  EXPECT_EQ(view->alive_ns(), 1000U);
  EXPECT_EQ(view->silent_ns(1700), 700U);
  EXPECT_EQ(view->silent_ns(900), 0U);
}

TEST(Ledger, KernelMarksItWhenItsOwnerIsKilled) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  PacketSocket here{UniqueFd(ends[0])};
  PacketSocket there{UniqueFd(ends[1])};
  const pid_t child = ::fork();
  if (child == 0) {
    auto owner = LedgerOwner::create(7, kPlaces);
    if (!owner) ::_exit(1);
    owner->set_lease(3, ledger_word(LeaseState::kActive, 0, make_token(7, 3, 1)));
    owner->publish();
    const std::byte byte{};
    (void)there.send(std::span(&byte, 1), owner->descriptor());
    for (;;) ::pause();
  }
  PacketBuffer packet;
  UniqueFd attached;
  for (int round = 0; round < 100'000'000 && !attached; ++round) {
    if (here.receive(packet, attached) == PacketSocket::Got::kEnd) break;
    std::this_thread::yield();
  }
  ASSERT_TRUE(attached);
  const auto view = LedgerView::attach(std::move(attached));
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_FALSE((*view)->has_owner_died());
  EXPECT_TRUE((*view)->is_in_force(make_token(7, 3, 1)));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE((*view)->has_owner_died());
  EXPECT_EQ((*view)->state(), LedgerState::kLive);
  // The words stay as they were, and say nothing any more.
  EXPECT_EQ(state_of<LeaseState>((*view)->lease_word(3)), LeaseState::kActive);
  EXPECT_FALSE((*view)->is_in_force(make_token(7, 3, 1)));
}

TEST(Ledger, CannotBeWrittenByWhoWasGivenIt) {
  const LedgerOwner owner = open_owner();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, owner.descriptor(), 0),
            MAP_FAILED);
  EXPECT_EQ(::pwrite(owner.descriptor(), "x", 1, 0), -1);
}

TEST(Ledger, LargestOneHasRoom) {
  const std::vector<LedgerPlaceForm> places(4096, {.pmu = "cpu", .general = 32, .fixed = 32});
  const auto owner = LedgerOwner::create(1, places);
  ASSERT_TRUE(owner) << owner.error().message();
  EXPECT_EQ(view_of(*owner)->slot_count(), kLedgerSlotsMax);
  std::vector<LedgerPlaceForm> more = places;
  more.push_back({.pmu = "cpu", .general = 1});
  EXPECT_EQ(LedgerOwner::create(1, more).error().code, ErrorCode::kLimit);
  EXPECT_EQ(LedgerOwner::create(1, std::vector<LedgerPlaceForm>(1, {.pmu = "cpu", .general = 33}))
                .error()
                .code,
            ErrorCode::kLimit);
  EXPECT_EQ(LedgerOwner::create(1, std::vector<LedgerPlaceForm>(kLedgerPlacesMax + 1)).error().code,
            ErrorCode::kLimit);
  const std::vector<LedgerPlaceForm> empty(kLedgerPlacesMax);
  const auto without_counters = LedgerOwner::create(1, empty);
  ASSERT_TRUE(without_counters);
  EXPECT_EQ(view_of(*without_counters)->places().size(), kLedgerPlacesMax);
  EXPECT_TRUE(LedgerOwner::create(1, {}));
}

TEST(Ledger, OtherMemoryIsRefusedAtTheGate) {
  const auto refusal = [](UniqueFd descriptor) {
    const auto view = LedgerView::attach(std::move(descriptor));
    EXPECT_FALSE(view);
    return view ? ErrorCode::kExists : view.error().code;
  };
  EXPECT_EQ(refusal(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC))), ErrorCode::kNotSealable);
  EXPECT_EQ(refusal(UniqueFd(::memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING))),
            ErrorCode::kUnsealed);
  const auto other = OwnedExtent::create("other", 65536);
  ASSERT_TRUE(other);
  EXPECT_EQ(refusal(UniqueFd(::fcntl(other->descriptor(), F_DUPFD_CLOEXEC, 0))),
            ErrorCode::kNotASegment);
  const auto large = OwnedExtent::create("large", kLedgerBytesMax + 1);
  ASSERT_TRUE(large);
  EXPECT_EQ(refusal(UniqueFd(::fcntl(large->descriptor(), F_DUPFD_CLOEXEC, 0))),
            ErrorCode::kBadSize);
}

// ---- Hostile ledgers ----

// A copy of a ledger that ends where its memory ends, so that a byte beyond it faults.
class Copy {
 public:
  explicit Copy(const LedgerOwner& owner) {
    const auto view = view_of(owner);
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(::lseek(owner.descriptor(), 0, SEEK_END));
    bytes_ = bytes;
    memory_ =
        ::mmap(nullptr, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    EXPECT_EQ(::mprotect(data() + bytes, 4096, PROT_NONE), 0);
    EXPECT_EQ(::pread(owner.descriptor(), data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() { ::munmap(memory_, bytes_ + 4096); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  [[nodiscard]] std::uint64_t size() const { return bytes_; }
  template <typename T>
  void put(std::size_t at, T value) {
    std::memcpy(data() + at, &value, sizeof value);
  }
  [[nodiscard]] Result<std::shared_ptr<const LedgerView>> view() const {
    return LedgerView::over(MappedBytes(data(), bytes_));
  }
  // Looks at everything that a view can show.
  [[nodiscard]] std::uint64_t look() const {
    const auto attached = view();
    if (!attached) return 0;
    const LedgerView& ledger = **attached;
    std::uint64_t sum = ledger.changes() + ledger.alive_ns() + ledger.start_ns();
    for (std::uint32_t slot = 0; slot <= ledger.slot_count(); ++slot) sum += ledger.slot_word(slot);
    for (std::uint32_t lease = 0; lease <= 0xffff; ++lease) {
      sum += ledger.lease_word(lease);
      sum += ledger.is_in_force(make_token(7, static_cast<std::uint16_t>(lease), 1)) ? 1U : 0U;
    }
    for (const LedgerPlace& place : ledger.places()) {
      sum += text_of(place.pmu).size();
      for (std::uint32_t i = 0; i < std::uint32_t{place.general} + place.fixed; ++i) {
        EXPECT_LT(place.first_slot + i, ledger.slot_count());
        sum += ledger.slot_word(place.first_slot + i);
      }
    }
    sum += static_cast<std::uint64_t>(ledger.state()) + (ledger.has_owner_died() ? 1U : 0U);
    return sum + 1;
  }

 private:
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
};

TEST(HostileLedger, EachBoundIsChecked) {
  const LedgerOwner owner = open_owner();
  struct Fault {
    std::size_t at;
    std::uint64_t value;
    std::size_t bytes;
    ErrorCode code;
  };
  constexpr std::size_t kPlace = sizeof(LedgerHeader);  // the first one
  const std::uint64_t end = static_cast<std::uint64_t>(::lseek(owner.descriptor(), 0, SEEK_END));
  const Fault faults[] = {
      {offsetof(LedgerHeader, magic), 1, 8, ErrorCode::kNotASegment},
      {offsetof(LedgerHeader, version), 2, 4, ErrorCode::kNewerLayout},
      {offsetof(LedgerHeader, version), 0, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, place_count), 0xffffffff, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, place_count), kLedgerPlacesMax, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slot_count), 0xffffffff, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slot_count), kLedgerSlotsMax, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slot_count), 27, 4, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, places_at), end - 8, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, places_at), ~std::uint64_t{0} - 3, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, places_at), kPlace + 2, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slots_at), end - 8, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slots_at), ~std::uint64_t{0} - 7, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, slots_at), 513, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, leases_at), end - 8, 8, ErrorCode::kCorrupt},
      {offsetof(LedgerHeader, leases_at), ~std::uint64_t{0} - 7, 8, ErrorCode::kCorrupt},
      {kPlace + offsetof(LedgerPlace, first_slot), 17, 4, ErrorCode::kCorrupt},
      {kPlace + offsetof(LedgerPlace, first_slot), 0xffffffff, 4, ErrorCode::kCorrupt},
      {kPlace + offsetof(LedgerPlace, general), 33, 2, ErrorCode::kCorrupt},
      {kPlace + offsetof(LedgerPlace, fixed), 0xffff, 2, ErrorCode::kCorrupt},
      {kPlace + offsetof(LedgerPlace, grade), 3, 4, ErrorCode::kCorrupt},
  };
  for (const Fault& fault : faults) {
    Copy copy(owner);
    ASSERT_TRUE(copy.view());
    std::memcpy(copy.data() + fault.at, &fault.value, fault.bytes);
    const auto view = copy.view();
    ASSERT_FALSE(view) << fault.at << " " << fault.value;
    EXPECT_EQ(view.error().code, fault.code) << fault.at << " " << fault.value;
    EXPECT_EQ(copy.look(), 0U);
  }
  Copy copy(owner);
  std::memset(copy.data() + kPlace + offsetof(LedgerPlace, pmu), 'x', kWireNameBytes);
  EXPECT_FALSE(copy.view());
  EXPECT_FALSE(LedgerView::over(MappedBytes(copy.data(), sizeof(LedgerHeader) - 1)));
  EXPECT_FALSE(LedgerView::over(MappedBytes(copy.data(), sizeof(LedgerHeader))));
  EXPECT_FALSE(LedgerView::over({}));
}

TEST(HostileLedger, UnknownStatesAreAnEnd) {
  const LedgerOwner owner = open_owner();
  Copy copy(owner);
  copy.put(offsetof(LedgerHeader, state), 77U);
  const auto view = copy.view();
  ASSERT_TRUE(view);
  EXPECT_EQ((*view)->state(), LedgerState::kEnded);
}

TEST(HostileLedger, NoBytesLeadOutside) {
  const LedgerOwner owner = open_owner();
  std::mt19937_64 random(5);
  Copy original(owner);
  Copy copy(owner);
  constexpr int kRounds = test::kHasSanitizer ? 300 : 3000;
  constexpr std::size_t kHead = sizeof(LedgerHeader) + 3 * sizeof(LedgerPlace);
  std::uint32_t taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::memcpy(copy.data(), original.data(), copy.size());
    for (std::uint64_t left = 1 + random() % 4; left != 0; --left) {
      const std::size_t at = 8 + random() % (kHead - 8);
      copy.data()[at] = static_cast<std::byte>(random() & 0xff);
    }
    if (copy.look() != 0) ++taken;
  }
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, static_cast<std::uint32_t>(kRounds));
}

// What was checked once is not asked again: places and bounds stay as they were.
TEST(HostileLedger, ChangesAfterTheCheckLeadNowhere) {
  const LedgerOwner owner = open_owner();
  Copy copy(owner);
  const auto view = copy.view();
  ASSERT_TRUE(view);
  std::memset(copy.data(), 0xff, copy.size());
  EXPECT_EQ((*view)->places().size(), 3U);
  EXPECT_EQ((*view)->slot_count(), 28U);
  EXPECT_EQ((*view)->find_place("breakpoint", 1)->first_slot, 24U);
  EXPECT_EQ((*view)->slot_word(27), ~std::uint64_t{0});
  EXPECT_EQ((*view)->slot_word(28), 0U);
  EXPECT_EQ((*view)->lease_word(kLedgerLeasesMax - 1), ~std::uint64_t{0});
}

}  // namespace
}  // namespace meterbank::pmu
