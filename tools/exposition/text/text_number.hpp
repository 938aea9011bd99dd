// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text formats have them: every digit, and NaN, +Inf and -Inf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "exposition/page/number.hpp"

namespace meterbank::exposition {

inline constexpr std::size_t kNumberBytesMax = 26;

// Writes at most kNumberBytesMax bytes; returns their end.
char* put_number(char* at, const Number& number);

void append_number(std::string& out, const Number& number);
void append_real(std::string& out, double value);
void append_whole(std::string& out, std::uint64_t value);

// The end of a bucket. OpenMetrics 1.0 requires ".0" behind whole numbers here.
[[nodiscard]] std::string bound_text(double bound);

// "st@1764150000.125" behind a blank, as OpenMetrics 2.0 says since when a count has been growing.
// Nothing for 0, which stands for a time that is not known.
void append_start(std::string& out, std::uint64_t start_ns);

}  // namespace meterbank::exposition
