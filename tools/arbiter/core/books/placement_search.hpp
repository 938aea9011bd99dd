// SPDX-License-Identifier: Apache-2.0
//
// The search behind a CounterBook: places for single counters and for blocks that move, within the
// counters that are left to them.
//
// Singles are matched by augmenting paths, which is exact; blocks are tried in all their places, in
// a bounded number of steps, and each try asks the matching whether the singles still fit.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"

namespace meterbank::arbiter {

inline constexpr std::uint32_t kMaskCounters = 64;
inline constexpr std::uint32_t kUnplaced = kMaskCounters;

[[nodiscard]] constexpr CounterMask bit(std::uint32_t counter) noexcept {
  return CounterMask{1} << counter;
}
// Precondition: `length` is at most kGeneralMax.
[[nodiscard]] constexpr CounterMask bits_of(std::uint32_t first, std::uint32_t length) noexcept {
  return (bit(length) - 1) << first;
}
[[nodiscard]] constexpr std::uint32_t count_of(CounterMask counters) noexcept {
  return static_cast<std::uint32_t>(std::popcount(counters));
}
// Precondition: there is one.
[[nodiscard]] constexpr std::uint32_t lowest_of(CounterMask counters) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(counters));
}

// The first counters of all places for a block within `room`. A block of no counters, or one
// aligned to nothing, is at home nowhere.
[[nodiscard]] CounterMask starts_of(const Block& block, CounterMask room) noexcept;

// How many of the demands that are known could use each counter: the fewer, the less harm is done
// by taking it.
using Demanded = std::array<std::uint32_t, kMaskCounters>;
void count_demand(const CounterDemand& demand, Demanded& demanded) noexcept;

class PlacementSearch {
 public:
  // `demanded` must outlive it.
  PlacementSearch(CounterMask room, const Demanded& demanded) noexcept
      : room_(room), demanded_(demanded) {}

  // One counter of `options`. `place` says where it is now (kUnplaced: it has none) and, after a
  // search that ends in kFits, where it shall be.
  void want_single(CounterMask options, std::uint32_t* place);
  void want_block(const Block& block, std::uint32_t* place);

  // Once. kFits, kNotNow or kTooHard; only the first changes any place.
  [[nodiscard]] Fit run();

 private:
  struct Single {
    CounterMask options;
    std::uint32_t* place;
    std::uint32_t now;
    std::uint32_t counter;  // what the search gave it
  };
  // Blocks of one shape are tried as a set, not one by one: which of them stands where makes no
  // difference to any other lease.
  struct Group {
    Block shape;
    std::vector<std::uint32_t*> places;
    std::vector<std::uint32_t> starts;  // all there are, the best first
    std::vector<std::uint32_t> chosen;

    [[nodiscard]] std::uint32_t missing() const noexcept {
      return static_cast<std::uint32_t>(places.size() - chosen.size());
    }
  };
  using AskedFor =
      std::array<std::size_t, kMaskCounters>;  // the lease that would take each counter

  void list_starts(Group& group) const;
  // Places what is missing of a group, by starts from number `from` on, and all groups after it.
  [[nodiscard]] bool place_blocks(std::size_t number, std::size_t from, std::uint32_t wanted,
                                  CounterMask room);
  [[nodiscard]] bool is_room_for_blocks(std::size_t number, std::uint32_t wanted,
                                        CounterMask room) const;
  [[nodiscard]] bool match_singles(CounterMask room);
  [[nodiscard]] bool give_counter(std::size_t newcomer, CounterMask room);
  void hand_over(std::size_t newcomer, std::size_t who, std::uint32_t counter,
                 const AskedFor& asked_for) noexcept;
  [[nodiscard]] std::uint32_t best_of(CounterMask free) const noexcept;
  static void assign(Group& group);

  CounterMask room_;
  const Demanded& demanded_;
  std::vector<Single> singles_;
  std::vector<Group> groups_;
  CounterMask counters_in_use_ = 0;
  CounterMask free_ = 0;
  std::array<std::size_t, kMaskCounters> holder_{};  // of counters of room that are not free
  std::uint32_t steps_ = 0;
  bool has_given_up_ = false;
};

}  // namespace meterbank::arbiter
