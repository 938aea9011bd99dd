// SPDX-License-Identifier: Apache-2.0
//
// What one reader of everything pays for each step that it makes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "rows.hpp"
#include "rows/scale/other_providers.hpp"

namespace meterbank::bench {

struct ReaderCost {
  std::string_view step;
  std::string_view unit;  // "ns", "B", or empty for a number
  Spread value;
  bool once = false;  // without rounds
};

// The same steps in the same order, whatever the sizes are. Times are those of the thread's own
// processor, in the kernel too: no step waits for another process. Ends the program unless the
// reader finds `instances`.
[[nodiscard]] std::vector<ReaderCost> reader_costs(const Effort& effort,
                                                   const std::string& directory,
                                                   const OtherProviders& providers,
                                                   std::size_t instances);

}  // namespace meterbank::bench
