// SPDX-License-Identifier: Apache-2.0
//
// The requests that wait, in the order in which they are served.
//
// Classes go before each other, and first come is first served inside one; a waiting request goes
// up a class after every ageing_ns, so that none waits for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "arbiter/core/lease.hpp"

namespace meterbank::arbiter {

// Whether both want counters of the same CPU, or units of the same PMU.
[[nodiscard]] bool overlap(const Plan& one, const Plan& other);

class WaitLine {
 public:
  // `ageing_ns`: 0: requests stay in their class.
  explicit WaitLine(Nanoseconds ageing_ns) noexcept : ageing_ns_(ageing_ns) {}

  // Requests that have aged meanwhile go up. Precondition: not before the last time.
  void set_time(Nanoseconds now);

  // The lease stays where it is until it has left the line. Joining twice does no harm.
  void join(Lease& lease);
  void leave(Lease& lease);

  [[nodiscard]] bool empty() const noexcept { return line_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
  // The next one to be served stands first.
  [[nodiscard]] std::vector<LeaseNumber> in_order() const;
  // The books have refused it, and no lease could give way: as MachineBook::clock(). 0 takes it
  // back.
  void note_refusal(const Lease& lease, std::uint64_t clock);
  // Those of which something may have changed since then, in order. A change on the way counts for
  // all behind: `serve` is called with the number of one after the other, and may change the line.
  template <typename Serve>
  void walk(const MachineBook& book, const Serve& serve) const;
  // How many are served before it; all, if it does not wait.
  [[nodiscard]] std::uint32_t count_ahead_of(const Lease& lease) const;
  // The first ones of these that want some of the same counters: at most `count`.
  [[nodiscard]] std::vector<const Lease*> rivals_ahead_of(const Lease& lease,
                                                          std::size_t count) const;

  // With what its wait has added so far.
  [[nodiscard]] std::uint32_t class_of(const Lease& lease) const;
  // When it goes up a class; 0: never.
  [[nodiscard]] Nanoseconds promotion_ns(const Lease& lease) const;
  // When the order has to be looked at again at the latest; 0: never.
  [[nodiscard]] Nanoseconds next_promotion_ns() const noexcept {
    return sorted_until_ns_ == pmu::kForever ? 0 : sorted_until_ns_;
  }
  // Whether time alone has changed what the line would say since then: a request went up a class,
  // or may ask the kernel again.
  [[nodiscard]] bool has_moved_since(Nanoseconds time) const;

  // Whether all that wait stand where sorting anew would put them. For tests.
  [[nodiscard]] bool is_in_order() const;

 private:
  // Bounds of what a plan wants, so that most requests for other counters are told apart
  // without a look at their plans.
  struct Reach {
    std::uint64_t pmus = 0;  // a bit each; those beyond have the last one
    std::uint32_t cpu_first = 0, cpu_last = 0;
    PmuIndex pmu = 0;
    bool has_units = false;
    bool is_one_place = false;  // `cpu_first` of `pmu`

    [[nodiscard]] static Reach of(const Plan& plan);
    [[nodiscard]] bool may_meet(const Reach& other) const noexcept;
  };
  // The higher class goes first, and then the earlier arrival.
  struct Waiting {
    std::uint32_t priority_class = 0;
    LeaseNumber number = 0;
    std::uint64_t arrival = 0;
    const Lease* lease = nullptr;
    Reach reach;
    std::uint64_t refused_at = 0;

    // Whether all is as it was when the books refused it, where it wants counters.
    [[nodiscard]] bool is_hopeless(const MachineBook& book) const;
  };
  [[nodiscard]] static bool goes_before(const Waiting& one, const Waiting& other) noexcept;
  [[nodiscard]] std::vector<Waiting>::iterator find(const Lease& lease);
  void note_promotion(const Lease& lease);

  Nanoseconds ageing_ns_;
  Nanoseconds now_ = 0;
  std::vector<Waiting> line_;                    // the next one stands first
  Nanoseconds sorted_until_ns_ = pmu::kForever;  // then a request goes up a class
};

template <typename Serve>
void WaitLine::walk(const MachineBook& book, const Serve& serve) const {
  const std::vector<Waiting> line = line_;
  for (const Waiting& one : line) {
    if (!one.is_hopeless(book)) serve(one.number);
  }
}

}  // namespace meterbank::arbiter
