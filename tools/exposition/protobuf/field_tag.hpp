// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace meterbank::exposition {

// The byte in front of a field. Precondition: the number of the field is less than 16.
template <typename Field>
constexpr std::uint8_t tag_byte(Field field, protozero::pbf_wire_type wire) noexcept {
  constexpr unsigned kWireBits = 3;
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(field) << kWireBits |
                                   static_cast<std::uint32_t>(wire));
}

}  // namespace meterbank::exposition
