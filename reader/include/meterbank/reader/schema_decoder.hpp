// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a schema to a Counterset: of a segment, of a recording, of an image.
//
// Thread safety  May be called concurrently.
// Errors         kCorrupt, naming the field.
// Progress       Linear in the size of the bytes, but for sorting the ids. Nothing in them is
//                believed: they may be a copy of what a stranger wrote.
// Cost           At most kSchemaTextFactor times the bytes, in memory.
// Lifetime       The result keeps nothing of the bytes.
// Units          Sizes are bytes.
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

// The form is what the registration says of its blocks, which the schema has to agree with.
[[nodiscard]] Result<Counterset> decode_schema(std::span<const std::byte> bytes,
                                               const BlockForm& form);

}  // namespace meterbank
