// SPDX-License-Identifier: Apache-2.0
//
// Which lease may use which counters of one PMU on one CPU.
//
//   exact     these counters and no others (the Windows shape): a mask
//   any       one counter of a mask, k times: an event of a class; may move while it is held,
//             because the kernel packs events anew whenever one comes or goes
//   block     adjacent counters at an aligned place; may move, too
//
// A set of demands fits if there is a placement of all that are held and all that are new. Exact
// ones are tested by masks, blocks are tried in all places (descending size, a bounded number of
// steps), and for what is left a bipartite matching decides: exact, because each of it takes one
// counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

using LeaseId = std::uint64_t;

struct Block {
  std::uint32_t length = 1;
  std::uint32_t alignment = 1;
};

// What a lease wants of one PMU on one CPU.
struct CounterDemand {
  CounterMask exact = 0;
  std::vector<CounterMask> any;  // one counter of each
  std::vector<Block> blocks;     // of general counters
  bool whole = false;            // all counters, alone; whatever else is said is ignored
};

// Which counters a lease has. Those of `any` and `blocks` stand in the order of its demand.
struct Placement {
  CounterMask exact = 0;
  std::vector<std::uint32_t> any;     // counter numbers
  std::vector<std::uint32_t> blocks;  // first counters
  [[nodiscard]] CounterMask mask(const CounterDemand& demand) const noexcept;
};

enum class Fit : std::uint8_t {
  kFits,
  kNever,   // not even on an empty PMU
  kNotNow,  // something held is in the way
  kTooHard  // the search was given up; treated as kNotNow
};

class CounterBook {
 public:
  explicit CounterBook(CounterMask counters) noexcept : counters_(counters) {}

  // Counters that an outsider holds, or that are offline: they are not lent. What is
  // held on them already stays there, unmoved, until it is released. Replaces what was blocked.
  void block(CounterMask counters) noexcept { blocked_ = counters; }

  // Whether it would fit beside all that is held. Changes nothing.
  [[nodiscard]] Fit fits(const CounterDemand& demand) const;
  // Whether it would fit if none of `gone` held anything here: leases, ascending.
  [[nodiscard]] bool fits_without(const CounterDemand& demand, std::span<const LeaseId> gone) const;
  // Takes it, if it fits; may move what others hold by `any` or as a block, never exact ones.
  // Precondition: `lease` holds nothing here.
  Fit take(LeaseId lease, const CounterDemand& demand);
  void release(LeaseId lease);  // of nothing: does nothing

  // What is in the way of a demand that does not fit now: the leases without any one of which it
  // would fit; where no single one is enough, all whose counters it could use.
  [[nodiscard]] std::vector<LeaseId> blockers(const CounterDemand& demand) const;

  [[nodiscard]] const Placement* placement(LeaseId lease) const noexcept;
  [[nodiscard]] CounterMask used() const noexcept;
  [[nodiscard]] CounterMask free() const noexcept;
  // How many more single counters of `mask` could be granted at this moment: what `probe` says.
  [[nodiscard]] std::uint32_t room_for(CounterMask mask) const;

  // Steps of one search for places of blocks.
  static constexpr std::uint32_t kStepsMax = 4096;

 private:
  struct Holder {
    LeaseId lease = 0;
    CounterDemand demand;
    Placement placement;
  };
  // Whose places a search may change; in this order, so that no holder moves without need.
  enum class Movable : std::uint8_t { kNone, kSingles, kBlocksToo };
  // Where a newcomer gets its counters, and where the leases go that it moves.
  struct Plan {
    Placement newcomer;
    std::vector<std::pair<std::size_t, Placement>> moved;  // by position in holders_
  };
  using Gone = std::span<const LeaseId>;
  [[nodiscard]] const Holder* find(LeaseId lease) const noexcept;
  [[nodiscard]] CounterMask free_without(Gone gone) const noexcept;
  // Nothing: masks alone do not tell.
  [[nodiscard]] bool is_walled_in(CounterMask mask, Gone gone) const;
  [[nodiscard]] std::optional<Fit> fit_by_masks(const CounterDemand& demand, Gone gone) const;
  [[nodiscard]] Fit fit_beside_others(const CounterDemand& demand, Gone gone) const;
  [[nodiscard]] bool is_never(const CounterDemand& demand) const;
  [[nodiscard]] Fit plan_beside_others(const CounterDemand& demand, Gone gone, Plan& plan) const;
  [[nodiscard]] Fit plan_moving(Movable movable, const CounterDemand& demand, Gone gone,
                                Plan& plan) const;

  CounterMask counters_;
  CounterMask blocked_ = 0;
  std::vector<Holder> holders_;  // ascending by lease
};

}  // namespace meterbank::arbiter
