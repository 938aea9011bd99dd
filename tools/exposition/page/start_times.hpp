// SPDX-License-Identifier: Apache-2.0
//
// Since when the counts of a row have been growing, for formats that carry it: a row that was
// closed and created anew has another start, even if its counts never fell.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "meterbank/reader/sample.hpp"

namespace meterbank::exposition {

class StartTimes {
 public:
  // Starts of the rows, CLOCK_REALTIME in ns, one an instance. Rows of a registration that was not
  // known began with their provider; others that are new began after `last_look_ns`.
  [[nodiscard]] std::vector<std::uint64_t> of(const SelectedSet& selected,
                                              std::uint64_t last_look_ns);
  // Forgets registrations that were not asked for since the last call.
  void forget_others();

 private:
  struct Life {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0, start_ns = 0;
  };
  struct Registration {
    std::vector<Life> lives;  // by slot, as the instances of a registration are
    bool is_used = true;
  };
  // Segment, place of the registration, its generation.
  using Key = std::array<std::uint64_t, 4>;

  std::map<Key, Registration> registrations_;
};

}  // namespace meterbank::exposition
