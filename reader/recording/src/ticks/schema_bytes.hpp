// SPDX-License-Identifier: Apache-2.0
//
// A counterset as a recording has it: the bytes of a schema as in a segment (schema_layout.hpp),
// and the form of its rows. Rows of a recording are joined and of one block, so the form says how
// the block hangs together and how many words it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "meterbank/reader/catalog.hpp"

namespace meterbank::recording {

struct SchemaBytes {
  std::string bytes;
  Consistency consistency = Consistency::kBlock;
  std::uint32_t words = 0;  // of a row in the recording
  // Where the stamp is in a row as a reader has it. The other words come in their order.
  std::uint32_t stamp_word = kNoCounter;
};

[[nodiscard]] SchemaBytes schema_bytes_of(const Counterset& set);
// The name of this content: equal schemas of equal forms have the same.
[[nodiscard]] Guid hash_of(std::string_view bytes, Consistency consistency, std::uint32_t words);

// Errors: kCorrupt.
[[nodiscard]] Result<Counterset> recorded_set(std::span<const std::byte> bytes,
                                              Consistency consistency, std::uint32_t words);

}  // namespace meterbank::recording
