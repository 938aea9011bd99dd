// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a schema to a Counterset. Pure: the bytes are a private copy of what another
// process wrote, and nothing about them is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank {

inline constexpr std::uint32_t kSchemaBytesMax = 1U << 20;

// Texts may share bytes, so a small schema could ask for much memory: what is decoded may be so
// many times the size of the schema, which leaves room for shared units and help.
inline constexpr std::uint64_t kSchemaTextFactor = 4;

// Errors: kCorrupt, naming the field. Linear in the size of `bytes`, but for sorting the ids.
[[nodiscard]] Result<Counterset> decode_schema(std::span<const std::byte> bytes,
                                               const BlockForm& form);

}  // namespace meterbank
