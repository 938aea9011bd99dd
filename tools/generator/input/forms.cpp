// SPDX-License-Identifier: Apache-2.0
#include "generator/input/forms.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace meterbank::generator {
namespace {

constexpr std::string_view kNumberHint = "a decimal number, or 0x and 1 to 8 hexadecimal digits";

template <typename T>
bool read_digits(std::string_view text, int base, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stopped == end;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What stands there, for a message.
std::string shown(const Entry& entry) {
  switch (entry.kind) {
    case Entry::Kind::kText:
      return in_quotes(entry.text);
    case Entry::Kind::kInteger:
      return fmt::format("{}", entry.integer);
    case Entry::Kind::kReal:
      return fmt::format("{}", entry.real);
    case Entry::Kind::kBoolean:
      return entry.boolean ? "true" : "false";
    case Entry::Kind::kList:
      return "a list";
    case Entry::Kind::kOther:
      break;
  }
  return "a date or time";
}

// An integer between the limits, from either language's digits.
template <typename T>
std::optional<T> integer_in(const Reading& reading, const Entry& entry, std::string_view hint) {
  std::int64_t value = entry.integer;
  bool is_integer = entry.kind == Entry::Kind::kInteger;
  bool fits = true;
  if (reading.language == Language::kXml) {
    std::string_view digits = entry.text;
    if (std::numeric_limits<T>::is_signed && digits.starts_with('-')) digits.remove_prefix(1);
    is_integer = is_digits(digits);
    fits = is_integer && read_digits(entry.text, 10, value);
  }
  if (!is_integer) {
    reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)), std::string(hint));
    return std::nullopt;
  }
  fits = fits && value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  if (!fits) {
    reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)),
                fmt::format("it lies between {} and {}", std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()));
    return std::nullopt;
  }
  return static_cast<T>(value);
}

}  // namespace

std::optional<std::string> text_of(const Reading& reading, const Entry& entry) {
  if (entry.kind == Entry::Kind::kText) return entry.text;
  reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)),
              "a text in quotation marks");
  return std::nullopt;
}

std::optional<std::uint32_t> number_of(const Reading& reading, const Entry& entry) {
  const std::string_view text = entry.text;
  if (reading.language == Language::kXml && (text.starts_with("0x") || text.starts_with("0X"))) {
    const std::string_view digits = text.substr(2);
    std::uint32_t value = 0;
    if (digits.size() <= 8 && read_digits(digits, 16, value)) return value;
    reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)),
                std::string(kNumberHint));
    return std::nullopt;
  }
  return integer_in<std::uint32_t>(reading, entry, kNumberHint);
}

std::optional<std::int32_t> integer_of(const Reading& reading, const Entry& entry) {
  return integer_in<std::int32_t>(reading, entry, "a whole number");
}

std::optional<double> real_of(const Reading& reading, const Entry& entry) {
  if (entry.kind == Entry::Kind::kInteger) return static_cast<double>(entry.integer);
  if (entry.kind == Entry::Kind::kReal && std::isfinite(entry.real)) return entry.real;
  reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)), "a number");
  return std::nullopt;
}

std::optional<bool> boolean_of(const Reading& reading, const Entry& entry) {
  if (entry.kind == Entry::Kind::kBoolean) return entry.boolean;
  const bool is_word = entry.text == "true" || entry.text == "false";
  reading.add(entry, fmt::format("{} cannot be {}", entry.name, shown(entry)),
              is_word ? "write it without quotation marks" : "true or false");
  return std::nullopt;
}

std::optional<Guid> guid_in(const Reading& reading, const Entry& entry) {
  const auto text = text_of(reading, entry);
  if (!text) return std::nullopt;
  const auto guid = Guid::parse(*text);
  const bool braces = text->starts_with('{');
  if (guid && (braces || reading.language == Language::kToml)) return guid;
  reading.add(entry, fmt::format("{} cannot be {}", entry.name, in_quotes(*text)),
              guid ? fmt::format("write it in braces: {{{}}}", *text)
                   : "8-4-4-4-12 hexadecimal digits in braces, such as "
                     "{0f4a1d6e-7c1b-4b7e-9d5a-3b1f6f1c2a90}; uuidgen makes one");
  return std::nullopt;
}

}  // namespace meterbank::generator
