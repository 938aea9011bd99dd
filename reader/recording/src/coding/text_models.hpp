// SPDX-License-Identifier: Apache-2.0
//
// Bytes of texts as two symbols, each expected from what is before it. All that is learnt of texts
// takes four kilobytes, so that schemas, of which there may be thousands, are packed by these
// alone.
//
// Each function returns what it coded. Encoders are given the value; decoders ignore it.
#pragma once

#include <array>

#include "coding/symbol_model.hpp"

namespace meterbank::recording {

class TextModels {
 public:
  // One byte of a text after another one.
  template <typename Bits>
  unsigned character(Bits& bits, unsigned value, unsigned before) {
    auto& models = characters_[before >> 5 & 7U];
    const unsigned high = bits.symbol(models[kSymbols], value >> 4 & 15U);
    return high << 4 | bits.symbol(models[high], value & 15U);
  }

 private:
  std::array<std::array<SymbolModel, kSymbols + 1>, 8> characters_;
};
static_assert(sizeof(TextModels) < 5000);

}  // namespace meterbank::recording
