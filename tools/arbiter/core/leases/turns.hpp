// SPDX-License-Identifier: Apache-2.0
//
// Slices: all leases that are content with a part of the time take equal turns, one at a time on
// the whole machine. So a turn is the same for all CPUs, and what was counted in it belongs
// together.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "arbiter/core/lease.hpp"

namespace meterbank::arbiter {

class Turns {
 public:
  explicit Turns(Nanoseconds slice_ns) noexcept : slice_ns_(slice_ns) {}

  // In the order of their turns.
  [[nodiscard]] const std::vector<LeaseNumber>& members() const noexcept { return members_; }
  [[nodiscard]] bool has_turn(LeaseNumber number) const noexcept { return present_ == number; }
  // The lease whose turn it is; 0: none.
  [[nodiscard]] LeaseNumber present() const noexcept { return present_; }
  // When the turn of another lease begins; 0: never.
  [[nodiscard]] Nanoseconds ends_ns() const noexcept { return members_.size() > 1 ? ends_ns_ : 0; }

  // A newcomer has the first turn, as it has to be verified.
  void join(LeaseNumber number, Nanoseconds now);
  // True: it was its turn. Leaving twice does no harm.
  bool leave(LeaseNumber number, Nanoseconds now);
  // Whether the turn of next() should begin.
  [[nodiscard]] bool is_over(Nanoseconds now) const noexcept;
  // Whose turn is next. Precondition: there are members.
  [[nodiscard]] LeaseNumber next() const;
  void begin(LeaseNumber number, Nanoseconds now);
  // The next turn cannot begin before this time.
  void put_off(Nanoseconds until_ns) noexcept { ends_ns_ = until_ns; }

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // Throws what the JSON library throws.
  void load(const nlohmann::json& from);

 private:
  Nanoseconds slice_ns_;
  std::vector<LeaseNumber> members_;
  LeaseNumber present_ = 0;
  Nanoseconds ends_ns_ = 0;
};

}  // namespace meterbank::arbiter
