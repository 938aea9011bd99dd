// SPDX-License-Identifier: Apache-2.0
//
// The words of <counterAttribute> and their bits, which are those of winperf.h (PERF_ATTRIB_...).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace meterbank::generator {

struct AttributeWord {
  std::string_view xml;
  std::string_view toml;
  std::uint64_t bit;
};

inline constexpr std::array kAttributeWords{
    AttributeWord{"reference", "reference", 1},
    AttributeWord{"noDisplay", "no_display", 2},
    AttributeWord{"noDigitGrouping", "no_digit_grouping", 4},
    AttributeWord{"displayAsReal", "display_as_real", 8},
    AttributeWord{"displayAsHex", "display_as_hex", 16},
};
inline constexpr std::uint64_t kNoDisplay = 2;

}  // namespace meterbank::generator
