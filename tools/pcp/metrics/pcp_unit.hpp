// SPDX-License-Identifier: Apache-2.0
//
// Units of counters as PCP has them: dimensions of space, time and count, each with a scale.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <string_view>

namespace meterbank::pcp {

struct PcpUnit {
  pmUnits units = {};
  // A stored value times this is a value in `units`. 0: it is not a whole number, and `units` are
  // those of the base unit.
  std::uint64_t multiple = 1;
  bool says_all = true;  // no: PCP has no such dimension
};

// `base`: the UCUM code of a base unit; one of what is stored is factor / divisor of it.
// `counts`: a number without a unit counts something.
[[nodiscard]] PcpUnit pcp_unit_of(std::string_view base, double factor, double divisor,
                                  bool counts);

}  // namespace meterbank::pcp
