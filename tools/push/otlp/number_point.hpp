// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exposition/page/number.hpp"

namespace meterbank::push::otlp {

// Appends a NumberDataPoint as a field of its Gauge or Sum. These are most of every request, so
// their bytes are put together by hand:
//
//   | 1: length | attributes | 2: start, of a sum | 3: time | 4: double or 6: integer |
//
// `start_ns`: 0 leaves it out. Whole numbers keep all their digits if they fit 64 bits with a sign.
void append_number_point(std::string& points, std::string_view attributes, std::uint64_t start_ns,
                         std::uint64_t time_ns, const exposition::Number& number);

}  // namespace meterbank::push::otlp
