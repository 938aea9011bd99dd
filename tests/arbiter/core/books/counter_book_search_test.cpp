// SPDX-License-Identifier: Apache-2.0
//
// Random streams of requests against an exhaustive search. The search of a book is bounded and
// moves as few as it can; here is all that it must not lose by that.
#include "arbiter/core/books/counter_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../../support/sanitizers.hpp"

namespace meterbank::arbiter {

static bool operator==(const Placement& a, const Placement& b) {
  return a.exact == b.exact && a.any == b.any && a.blocks == b.blocks;
}

namespace {

struct Held {
  CounterDemand demand;
  Placement placement;
};
using HeldByLease = std::map<LeaseId, Held>;

// The counters of a block at this place; nothing where it has no business.
CounterMask place_of(const Block& block, std::uint32_t first) {
  CounterMask place = 0;
  if (block.alignment == 0 || first % block.alignment != 0) return 0;
  for (std::uint32_t i = 0; i < block.length; ++i) {
    if (first + i >= kGeneralMax) return 0;
    place |= CounterMask{1} << (first + i);
  }
  return place;
}

// What is wrong with a placement by itself; `taken` collects its counters.
std::string fault_of(CounterMask counters, const Held& held, CounterMask& taken) {
  const auto add = [&taken](CounterMask place) {
    const bool is_free = (taken & place) == 0;
    taken |= place;
    return is_free;
  };
  const auto& [demand, placement] = held;
  if (placement.exact != (demand.whole ? counters : demand.exact)) return "exact ones moved";
  if (!add(placement.exact)) return "a counter has two holders";
  if (demand.whole) return "";
  if (placement.any.size() != demand.any.size()) return "a single one is missing";
  if (placement.blocks.size() != demand.blocks.size()) return "a block is missing";
  for (std::size_t i = 0; i < demand.any.size(); ++i) {
    const CounterMask place = CounterMask{1} << placement.any[i];
    if ((place & demand.any[i] & counters) == 0) return "a single one is outside its mask";
    if (!add(place)) return "a counter has two holders";
  }
  for (std::size_t i = 0; i < demand.blocks.size(); ++i) {
    const CounterMask place = place_of(demand.blocks[i], placement.blocks[i]);
    if (place == 0 || (place & ~counters) != 0) return "a block is at no place of its own";
    if (!add(place)) return "a counter has two holders";
  }
  return "";
}

std::string fault_of(CounterMask counters, const HeldByLease& holders) {
  CounterMask taken = 0;
  for (const auto& [lease, held] : holders) {
    std::string fault = fault_of(counters, held, taken);
    if (!fault.empty()) return fault;
  }
  return "";
}

// Tries all assignments, one thing after the other, for books of at most eight counters.
class Oracle {
 public:
  Oracle(std::uint32_t general, CounterMask counters, CounterMask room)
      : general_(general), counters_(counters), room_(room) {}

  // Movable things may stand wherever there is room; a holder on a blocked counter stays.
  void hold(const Held& held) {
    add_fixed(held.placement.exact);
    for (std::size_t i = 0; i < held.placement.any.size(); ++i) {
      const CounterMask place = CounterMask{1} << held.placement.any[i];
      (place & ~room_) != 0 ? add_fixed(place) : add_single(held.demand.any[i]);
    }
    for (std::size_t i = 0; i < held.placement.blocks.size(); ++i) {
      const CounterMask place = place_of(held.demand.blocks[i], held.placement.blocks[i]);
      (place & ~room_) != 0 ? add_fixed(place) : add_block(held.demand.blocks[i]);
    }
    has_whole_ = has_whole_ || held.demand.whole;
    ++holders_;
  }

  bool fits(const CounterDemand& demand) {
    if (demand.whole) return holders_ == 0 && room_ == counters_;
    if (has_whole_ || (demand.exact & ~room_) != 0) return false;
    const std::size_t before = things_.size();
    add_fixed(demand.exact);
    for (const CounterMask mask : demand.any) add_single(mask);
    for (const Block& block : demand.blocks) add_block(block);
    for (auto& failed : failed_) failed.reset();
    const bool result = assign(0, 0);
    things_.resize(before);
    return result;
  }

 private:
  struct Thing {
    std::array<CounterMask, 8> places{};
    std::size_t count = 0;
  };

  void add_fixed(CounterMask place) {
    if (place != 0) things_.push_back({{place}, 1});
  }
  void add_single(CounterMask mask) {
    Thing& thing = things_.emplace_back();
    for (CounterMask left = mask & room_; left != 0; left &= left - 1) {
      thing.places[thing.count++] = left & (~left + 1);
    }
  }
  void add_block(const Block& block) {
    Thing& thing = things_.emplace_back();
    for (std::uint32_t first = 0; first < general_; ++first) {
      const CounterMask place = place_of(block, first);
      if (place != 0 && (place & ~room_) == 0) thing.places[thing.count++] = place;
    }
  }

  bool assign(std::size_t number, CounterMask taken) {
    if (number == things_.size()) return true;
    const std::size_t key = (taken & 0xff) | (taken >> kFixedFirst << general_);
    if (failed_.at(number)[key]) return false;
    const Thing thing = things_[number];
    for (std::size_t i = 0; i < thing.count; ++i) {
      if ((taken & thing.places[i]) != 0) continue;
      if (assign(number + 1, taken | thing.places[i])) return true;
    }
    failed_[number][key] = true;
    return false;
  }

  std::uint32_t general_;
  CounterMask counters_;
  CounterMask room_;
  std::vector<Thing> things_;
  std::array<std::bitset<256>, 32> failed_;
  std::size_t holders_ = 0;
  bool has_whole_ = false;
};

// First fit that never moves a holder: what a book would be without a search.
class GreedyBook {
 public:
  explicit GreedyBook(CounterMask counters) : counters_(counters) {}
  void block(CounterMask counters) { blocked_ = counters; }

  Fit fits(const CounterDemand& demand) const {
    Placement placement;
    CounterMask room = free();
    if (place(demand, room, placement)) return Fit::kFits;
    room = counters_;
    return place(demand, room, placement) ? Fit::kNotNow : Fit::kNever;
  }
  Fit take(LeaseId lease, const CounterDemand& demand) {
    const Fit fit = fits(demand);
    CounterMask room = free();
    Held held{demand, {}};
    if (fit == Fit::kFits && place(demand, room, held.placement)) holders_[lease] = held;
    return fit;
  }
  void release(LeaseId lease) { holders_.erase(lease); }
  const Placement* placement(LeaseId lease) const { return &holders_.at(lease).placement; }
  CounterMask used() const {
    CounterMask used = 0;
    for (const auto& [lease, held] : holders_) used |= held.placement.mask(held.demand);
    return used;
  }
  CounterMask free() const { return counters_ & ~blocked_ & ~used(); }

 private:
  bool place(const CounterDemand& demand, CounterMask& room, Placement& placement) const {
    placement = {};
    const CounterMask exact = demand.whole ? counters_ : demand.exact;
    if ((exact & ~room) != 0) return false;
    placement.exact = exact;
    room &= ~exact;
    if (demand.whole) return true;
    for (const CounterMask mask : demand.any) {
      if ((mask & room) == 0) return false;
      placement.any.push_back(static_cast<std::uint32_t>(std::countr_zero(mask & room)));
      room &= ~(CounterMask{1} << placement.any.back());
    }
    for (const Block& block : demand.blocks) {
      std::uint32_t first = 0;
      const auto is_free = [&] {
        return place_of(block, first) != 0 && (place_of(block, first) & ~room) == 0;
      };
      while (first < kGeneralMax && !is_free()) ++first;
      if (first == kGeneralMax) return false;
      placement.blocks.push_back(first);
      room &= ~place_of(block, first);
    }
    return true;
  }

  CounterMask counters_;
  CounterMask blocked_ = 0;
  HeldByLease holders_;
};

struct Tally {
  std::uint64_t granted = 0, refused = 0, never = 0, too_hard = 0, moved = 0, blockers = 0;
  std::uint64_t disagreements = 0;
  std::string fault;
  std::uint64_t requests() const { return granted + refused + never + too_hard; }
};

// A book with `general` and `fixed` counters, to which random things happen.
template <typename Book>
class Stream {
 public:
  Stream(std::uint32_t general, std::uint32_t fixed, std::mt19937_64& random, Tally& tally)
      : general_(general),
        counters_(((CounterMask{1} << general) - 1) |
                  (((CounterMask{1} << fixed) - 1) << kFixedFirst)),
        book_(counters_),
        random_(random),
        tally_(tally) {}

  void step() {
    const std::uint64_t dice = below(100);
    if (dice < 25 && !holders_.empty()) {
      const auto holder = std::next(holders_.begin(), std::ptrdiff_t(below(holders_.size())));
      book_.release(holder->first);
      holders_.erase(holder);
    } else if (dice < 28) {
      blocked_ = below(2) == 0 ? 0 : mask() & mask();
      book_.block(blocked_);
    } else {
      const CounterDemand demand = some_demand();
      if (dice < 60) {
        probe(demand);
      } else {
        take(demand);
      }
    }
    check();
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  CounterMask mask() { return random_() & counters_; }

  // A class as machines have them, or any mask at all.
  CounterMask event_class() {
    switch (below(5)) {
      case 0:
        return counters_;
      case 1:
        return counters_ & 0xffffffff;
      case 2:
        return counters_ & 0x3;
      default:
        return mask();
    }
  }

  CounterDemand some_demand() {
    CounterDemand demand;
    demand.whole = below(40) == 0;
    if (below(3) == 0) demand.exact = mask() & mask() & mask();
    if (below(60) == 0) demand.exact |= CounterMask{1} << (general_ + below(2));
    for (std::uint64_t left = below(3); left > 0; --left) demand.any.push_back(event_class());
    for (std::uint64_t left = below(3) * below(2); left > 0; --left) {
      const auto length = static_cast<std::uint32_t>(1 + below(below(4) + 1));
      demand.blocks.push_back({length, std::uint32_t{1} << below(3)});
    }
    return demand;
  }

  void count(const CounterDemand& demand, Fit fit) {
    tally_.granted += fit == Fit::kFits ? 1U : 0U;
    tally_.refused += fit == Fit::kNotNow ? 1U : 0U;
    tally_.never += fit == Fit::kNever ? 1U : 0U;
    tally_.too_hard += fit == Fit::kTooHard ? 1U : 0U;
    if (std::popcount(counters_) > 8) return;
    Fit expected = Fit::kFits;
    Oracle now(general_, counters_, counters_ & ~blocked_);
    for (const auto& [lease, held] : holders_) now.hold(held);
    if (!now.fits(demand)) {
      Oracle alone(general_, counters_, counters_);
      expected = alone.fits(demand) ? Fit::kNotNow : Fit::kNever;
    }
    if (fit != expected) ++tally_.disagreements;
  }

  void probe(const CounterDemand& demand) {
    const Fit fit = book_.fits(demand);
    count(demand, fit);
    if (std::popcount(counters_) > 8 || below(4) != 0) return;
    if constexpr (requires { book_.blockers(demand); }) {
      if (fit == Fit::kNotNow) check_blockers(demand);
      check_room(event_class());
    }
  }

  bool fits_without(const CounterDemand& demand, const std::vector<LeaseId>& leases) const {
    Oracle oracle(general_, counters_, counters_ & ~blocked_);
    for (const auto& [lease, held] : holders_) {
      if (std::find(leases.begin(), leases.end(), lease) == leases.end()) oracle.hold(held);
    }
    return oracle.fits(demand);
  }

  void check_blockers(const CounterDemand& demand) {
    std::vector<LeaseId> all;
    std::vector<LeaseId> singly;
    for (const auto& [lease, held] : holders_) {
      all.push_back(lease);
      if (fits_without(demand, {lease})) singly.push_back(lease);
    }
    const std::vector<LeaseId> named = book_.blockers(demand);
    ++tally_.blockers;
    if (!singly.empty() && named != singly) tally_.fault = "not the single blockers";
    if (fits_without(demand, all) && !fits_without(demand, named)) {
      tally_.fault = "without all that were named it would still not fit";
    }
  }

  void check_room(CounterMask mask) {
    CounterDemand demand{.exact = 0, .any = {mask}, .blocks = {}};
    while (fits_without(demand, {})) demand.any.push_back(mask);
    if (book_.room_for(mask) + 1 != demand.any.size()) tally_.fault = "room_for() is wrong";
  }

  void take(const CounterDemand& demand) {
    const bool fits_as_it_is = fits_without_moves(demand);
    const LeaseId lease = next_lease_++;
    const Fit fit = book_.take(lease, demand);
    count(demand, fit);
    for (auto& [other, held] : holders_) {
      const Placement& now = *book_.placement(other);
      if (now == held.placement) continue;
      ++tally_.moved;
      if (fit != Fit::kFits) tally_.fault = "a refused request moved a holder";
      if (fits_as_it_is) tally_.fault = "a holder was moved without need";
      if (has_left(held, now)) tally_.fault = "a holder left a blocked counter";
      held.placement = now;
    }
    if (fit == Fit::kFits) holders_[lease] = {demand, *book_.placement(lease)};
  }

  // Whether even first fit finds free counters for it.
  bool fits_without_moves(const CounterDemand& demand) const {
    if (demand.whole) return false;
    GreedyBook rest(book_.free());
    return rest.fits(demand) == Fit::kFits;
  }

  // Whether it gave up a counter that is blocked, which no lease can be given again.
  bool has_left(const Held& held, const Placement& now) const {
    const CounterMask caught = held.placement.mask(held.demand) & blocked_;
    return (caught & ~now.mask(held.demand)) != 0;
  }

  void check() {
    const std::string fault = fault_of(counters_, holders_);
    if (!fault.empty()) tally_.fault = fault;
    CounterMask used = 0;
    for (const auto& [lease, held] : holders_) used |= held.placement.mask(held.demand);
    if (book_.used() != used) tally_.fault = "used() is not what is held";
    if (book_.free() != (counters_ & ~used & ~blocked_)) tally_.fault = "free() is not the rest";
  }

  std::uint32_t general_;
  CounterMask counters_;
  CounterMask blocked_ = 0;
  Book book_;
  HeldByLease holders_;
  LeaseId next_lease_ = 1;
  std::mt19937_64& random_;
  Tally& tally_;
};

// Streams over books of all sizes up to eight counters.
template <typename Book>
Tally run_small_streams(std::uint64_t requests) {
  std::mt19937_64 random(20260117);
  Tally tally;
  while (tally.requests() < requests) {
    const auto general = static_cast<std::uint32_t>(1 + random() % 8);
    const auto fixed = static_cast<std::uint32_t>(random() % (9 - general) % 3);
    Stream<Book> stream(general, fixed, random, tally);
    for (int i = 0; i < 80; ++i) stream.step();
  }
  return tally;
}

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.requests() << " requests: " << tally.granted << " granted, " << tally.refused
             << " refused, " << tally.never << " never, " << tally.too_hard << " too hard; "
             << tally.moved << " moves, " << tally.disagreements << " disagreements\n";
}

TEST(CounterBook, IsCheckedByWhatFindsEveryFault) {
  const CounterDemand demand{.exact = 0x01, .any = {0x06}, .blocks = {{2, 2}}};
  const auto fault = [&demand](Placement placement) {
    CounterMask taken = 0;
    return fault_of(0x3f, {demand, std::move(placement)}, taken);
  };
  EXPECT_EQ(fault({0x01, {1}, {2}}), "");
  EXPECT_NE(fault({0x02, {2}, {4}}), "");  // moved
  EXPECT_NE(fault({0x01, {3}, {4}}), "");  // outside the mask
  EXPECT_NE(fault({0x01, {1}, {3}}), "");  // not aligned
  EXPECT_NE(fault({0x01, {1}, {6}}), "");  // beyond the PMU
  EXPECT_NE(fault({0x01, {1}, {0}}), "");  // on the exact one
  EXPECT_NE(fault({0x01, {2}, {2}}), "");  // on the single one
  EXPECT_NE(fault({0x01, {}, {2}}), "");
  EXPECT_NE(fault({0x01, {1}, {}}), "");
  const Held one{{.exact = 0, .any = {0x02}, .blocks = {}}, {0, {1}, {}}};
  EXPECT_NE(fault_of(0x3f, {{1, one}, {2, one}}), "");
}

TEST(CounterBook, AgreesWithExhaustiveSearch) {
  const Tally tally = run_small_streams<CounterBook>(test::kHasSanitizer ? 50'000 : 1'000'000);
  std::cout << tally;
  EXPECT_EQ(tally.fault, "");
  EXPECT_EQ(tally.disagreements, 0U);
  EXPECT_EQ(tally.too_hard, 0U);
  const std::uint64_t few = tally.requests() / 100;
  EXPECT_GT(tally.granted, few);
  EXPECT_GT(tally.refused, few);
  EXPECT_GT(tally.never, few);
  EXPECT_GT(tally.moved, few);
  EXPECT_GT(tally.blockers, few);
}

TEST(CounterBook, WouldFailThisTestIfItNeverMovedAHolder) {
  const Tally tally = run_small_streams<GreedyBook>(test::kHasSanitizer ? 5'000 : 50'000);
  std::cout << tally;
  EXPECT_GT(tally.disagreements, 0U);
  EXPECT_EQ(tally.moved, 0U);
}

TEST(CounterBook, KeepsItsPromisesOnLargePmus) {
  std::mt19937_64 random(7);
  Tally tally;
  while (tally.requests() < (test::kHasSanitizer ? 2'000 : 50'000)) {
    const auto general = static_cast<std::uint32_t>(9 + random() % 23);
    Stream<CounterBook> stream(general, static_cast<std::uint32_t>(random() % 8), random, tally);
    for (int i = 0; i < 200; ++i) stream.step();
  }
  std::cout << tally;
  EXPECT_EQ(tally.fault, "");
  EXPECT_GT(tally.granted, 0U);
  EXPECT_GT(tally.refused, 0U);
  EXPECT_GT(tally.moved, 0U);
}

}  // namespace
}  // namespace meterbank::arbiter
