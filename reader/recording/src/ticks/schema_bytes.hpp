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

#include "meterbank/reader/catalog.hpp"

namespace meterbank::recording {

struct SchemaBytes {
  std::string bytes;
  Consistency consistency = Consistency::kBlock;
  std::uint32_t words = 0;  // of a row in the recording
  // Of a row as a reader has it: where its stamp is. The other words come in their order.
  std::uint32_t stamp_word = kNoCounter;

  // The name of this content: of equal schemas and forms it is equal.
  [[nodiscard]] Guid hash() const;
};

[[nodiscard]] SchemaBytes schema_bytes_of(const Counterset& set);

// Errors: kCorrupt.
[[nodiscard]] Result<Counterset> recorded_set(std::span<const std::byte> bytes,
                                              Consistency consistency, std::uint32_t words);

}  // namespace meterbank::recording
