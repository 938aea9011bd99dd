// SPDX-License-Identifier: Apache-2.0
#include "exposition/text/text_number.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

namespace meterbank::exposition {

char* put_number(char* at, const Number& number) {
  const auto put = [at](std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  };
  if (number.kind == Number::Kind::kReal) {
    if (std::isfinite(number.real)) return fmt::format_to(at, "{}", number.real);
    if (std::isnan(number.real)) return put("NaN");
    return put(number.real > 0 ? "+Inf" : "-Inf");
  }
  const fmt::format_int digits = number.kind == Number::Kind::kSigned
                                     ? fmt::format_int(static_cast<std::int64_t>(number.whole))
                                     : fmt::format_int(number.whole);
  return put({digits.data(), digits.size()});
}

void append_number(std::string& out, const Number& number) {
  std::array<char, kNumberBytesMax> text;
  out.append(text.data(), put_number(text.data(), number));
}

void append_real(std::string& out, double value) {
  append_number(out, {Number::Kind::kReal, 0, value});
}

void append_whole(std::string& out, std::uint64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

std::string bound_text(double bound) {
  std::string text;
  append_real(text, bound);
  if (text.find_first_of(".eIN") == std::string::npos) text += ".0";
  return text;
}

void append_start(std::string& out, std::uint64_t start_ns) {
  if (start_ns == 0) return;
  const std::uint64_t milliseconds = start_ns / 1'000'000;
  fmt::format_to(std::back_inserter(out), " st@{}.{:03}", milliseconds / 1000, milliseconds % 1000);
}

}  // namespace meterbank::exposition
