// SPDX-License-Identifier: Apache-2.0
//
// How others store the same rows. Bytes of the values alone: without names, indexes and checksums.
#pragma once

#include <cstddef>

#include "generated_rows.hpp"

namespace meterbank::bench {

// As MongoDB's full-time diagnostic data capture does: differences, column after column over all
// ticks, runs of zeros as a zero and their number, numbers of variable length, zlib at level 6.
[[nodiscard]] std::size_t ftdc_bytes(const GeneratedRows& rows);

// As Facebook's Gorilla does with values: each XORed with the last one of its column, and the bits
// between leading and trailing zeros. Time stamps of samples are not counted.
[[nodiscard]] std::size_t gorilla_bytes(const GeneratedRows& rows);

}  // namespace meterbank::bench
