// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcp/pmapi.h>

#include <vector>

namespace meterbank::pcp {

// Which instances of one domain a client wants, as its profile says.
class InstanceFilter {
 public:
  // Null: all.
  InstanceFilter(const pmProfile* profile, pmInDom domain);

  [[nodiscard]] bool has(int instance) const noexcept;

 private:
  bool includes_others_ = true;
  std::vector<int> listed_;  // sorted; they are the exceptions
};

}  // namespace meterbank::pcp
