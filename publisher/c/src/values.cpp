// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/values.h"

#include <bit>
#include <string_view>

#include "meterbank/publisher/value_handles.hpp"

using meterbank::ValueForm;

const mb_bucket_boundaries mb_finest_boundaries =
    std::bit_cast<mb_bucket_boundaries>(meterbank::detail::kBoundaries);

uint64_t mb_bits_of_real(uint32_t form, double value) {
  return meterbank::detail::bits_of(static_cast<ValueForm>(form), value);
}
uint64_t mb_bits_of_signed(uint32_t form, int64_t value) {
  return meterbank::detail::bits_of_signed(static_cast<ValueForm>(form), value);
}
uint64_t mb_bits_of_unsigned(uint32_t form, uint64_t value) {
  return meterbank::detail::bits_of_unsigned(static_cast<ValueForm>(form), value);
}
double mb_real_of_bits(uint32_t form, uint64_t bits) {
  return meterbank::detail::real_of(static_cast<ValueForm>(form), bits);
}

size_t mb_text_bytes_kept(const char* text, size_t bytes, size_t bytes_max) {
  return meterbank::detail::cut_text(std::string_view(text, bytes), bytes_max).size();
}
