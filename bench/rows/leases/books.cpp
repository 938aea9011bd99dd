// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to decide whether counters are free?
// Limit: a matching of the same events over bare masks, without books, holders or allocations.
#include <array>
#include <bit>
#include <random>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using arbiter::Block;
using arbiter::CounterBook;
using arbiter::CounterDemand;
using arbiter::CounterMask;
using arbiter::Fit;

constexpr std::size_t kDemands = 256;  // different ones, in turn

// Eight general counters of which some events can be on the lower four alone, and four fixed ones.
constexpr CounterMask kTwelve = CounterMask{0xff} | CounterMask{0xf} << arbiter::kFixedFirst;
constexpr CounterMask kSixteen = 0xffff;

struct Case {
  CounterBook book;
  std::vector<CounterDemand> held;
  CounterDemand wanted;
};

// Kuhn's algorithm: the least that decides whether each demand can have a counter.
class BareMatching {
 public:
  [[nodiscard]] bool fits(const std::vector<CounterMask>& wanted) noexcept {
    owner_.fill(kFree);
    for (std::size_t event = 0; event < wanted.size(); ++event) {
      tried_ = 0;
      if (!place(wanted, event)) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint8_t kFree = 0xff;

  bool place(const std::vector<CounterMask>& wanted, std::size_t event) noexcept {
    for (CounterMask left = wanted[event] & ~tried_; left != 0; left = wanted[event] & ~tried_) {
      const auto counter = static_cast<std::size_t>(std::countr_zero(left));
      tried_ |= CounterMask{1} << counter;
      if (owner_[counter] == kFree || place(wanted, owner_[counter])) {
        owner_[counter] = static_cast<std::uint8_t>(event);
        return true;
      }
    }
    return false;
  }

  std::array<std::uint8_t, 64> owner_ = {};
  CounterMask tried_ = 0;
};

CounterDemand random_event(std::mt19937& random) {
  constexpr std::array<CounterMask, 4> kClasses = {0xff, 0x0f,
                                                   0xff | CounterMask{1} << arbiter::kFixedFirst,
                                                   0xff | CounterMask{2} << arbiter::kFixedFirst};
  CounterDemand demand;
  demand.any = {kClasses[random() % kClasses.size()]};
  return demand;
}

// 4 to 12 events in all: the last of them is asked for, the others are held where they fit.
std::vector<Case> matching_cases() {
  std::mt19937 random(12);
  std::vector<Case> cases;
  for (std::size_t index = 0; index < kDemands; ++index) {
    Case each{CounterBook(kTwelve), {}, random_event(random)};
    const std::size_t events = 4 + random() % 9;
    for (arbiter::LeaseId lease = 1; lease < events; ++lease) {
      const CounterDemand demand = random_event(random);
      if (each.book.take(lease, demand) == Fit::kFits) each.held.push_back(demand);
    }
    cases.push_back(std::move(each));
  }
  return cases;
}

// Blocks of two and four, exact counters and events on sixteen.
std::vector<Case> block_cases() {
  std::mt19937 random(16);
  const auto next = [&random] {
    CounterDemand demand;
    const std::uint32_t length = random() % 4 == 0 ? 4 : 2;
    switch (random() % 4) {
      case 0:
        demand.blocks = {Block{.length = length, .alignment = length}};
        break;
      case 1:
        demand.exact = CounterMask{1} << random() % 16;
        break;
      default:
        demand.any.assign(1 + random() % 2, kSixteen);
    }
    return demand;
  };
  std::vector<Case> cases;
  for (std::size_t index = 0; index < kDemands; ++index) {
    Case each{CounterBook(kSixteen), {}, next()};
    for (arbiter::LeaseId lease = 1; lease < 8; ++lease) {
      const CounterDemand demand = next();
      if (each.book.take(lease, demand) == Fit::kFits) each.held.push_back(demand);
    }
    cases.push_back(std::move(each));
  }
  return cases;
}

Comparison compare_fits(const Effort& effort, const std::vector<Case>& cases) {
  // Blocks and exact counters count as so many events that may be anywhere.
  std::vector<std::vector<CounterMask>> flat;
  for (const Case& each : cases) {
    std::vector<CounterMask> masks;
    const auto add = [&masks](const CounterDemand& demand) {
      masks.insert(masks.end(), demand.any.begin(), demand.any.end());
      if (demand.exact != 0) masks.push_back(demand.exact);
      for (const Block& block : demand.blocks) masks.insert(masks.end(), block.length, kSixteen);
    };
    for (const CounterDemand& demand : each.held) add(demand);
    add(each.wanted);
    flat.push_back(std::move(masks));
  }
  const std::uint64_t turns = std::max<std::uint64_t>(1, effort.operations / 20 / kDemands);
  BareMatching bare;
  return compare(
      effort.rounds, turns * kDemands,
      [&] {
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
          for (const Case& each : cases) keep(each.book.fits(each.wanted));
        }
      },
      [&] {
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
          for (const auto& masks : flat) keep(bare.fits(masks));
        }
      });
}

}  // namespace

void lease_book_rows(const Effort& effort, Table& table) {
  table.time_row("would it fit? 1 event beside 3 to 11 on 12 counters (limit: bare matching)",
                 compare_fits(effort, matching_cases()), 1000.0);
  table.time_row("would it fit? blocks, exact and events on 16 (limit: bare matching)",
                 compare_fits(effort, block_cases()), 20'000.0);
}

}  // namespace meterbank::bench
