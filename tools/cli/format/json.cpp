// SPDX-License-Identifier: Apache-2.0
#include "cli/format/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cli/format/quantity.hpp"

namespace meterbank::cli {

namespace {

// UTF-16, as JSON wants it.
void append_json_escape(char32_t code_point, std::string& out) {
  const auto unit = static_cast<std::uint32_t>(code_point);
  if (unit == '\n' || unit == '\t') {
    out += unit == '\n' ? "\\n" : "\\t";
  } else if (unit < 0x10000) {
    out += fmt::format("\\u{:04x}", unit);
  } else {
    const auto above = unit - 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10U), 0xDC00 + (above & 0x3FFU));
  }
}

void append_shown(std::string_view shown, std::string& out) {
  std::size_t copied = 0;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (shown[at] != '"' && shown[at] != '\\') continue;
    out.append(shown, copied, at - copied).push_back('\\');
    copied = at;
  }
  out.append(shown, copied);
}

void append_part(const TextPart& part, Charset charset, std::string& out) {
  switch (part.kind) {
    case TextPart::Kind::kHidden:
      return append_json_escape(part.code_point, out);
    case TextPart::Kind::kNotUtf8:
      if (charset == Charset::kAscii) return append_json_escape(kReplacementCharacter, out);
      append_utf8(kReplacementCharacter, out);
      return;
    case TextPart::Kind::kShown:
      return append_shown(part.bytes, out);
  }
}

// Printable ASCII without the two characters that JSON escapes: nearly every text.
bool is_plain(std::string_view text) noexcept {
  return std::ranges::all_of(
      text, [](char byte) { return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\'; });
}

void append_json_text(std::string_view text, Charset charset, std::string& out) {
  out += '"';
  if (is_plain(text)) {
    out.append(text) += '"';
    return;
  }
  TextScan scan(text, charset);
  for (TextPart part; scan.next(part);) append_part(part, charset, out);
  out += '"';
}

}  // namespace

std::string json_text(std::string_view text, Charset charset) {
  std::string out;
  append_json_text(text, charset, out);
  return out;
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_values_.back()) out_ += ',';
  if (std::exchange(break_line_, false)) out_ += "\n ";
  has_values_.back() = true;
}

JsonWriter& JsonWriter::put(std::string_view literal) {
  before_value();
  out_ += literal;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  put("{");
  has_values_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  has_values_.pop_back();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  put("[");
  has_values_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  has_values_.pop_back();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_json_text(name, charset_, out_);
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  before_value();
  append_json_text(value, charset_, out_);
  return *this;
}
JsonWriter& JsonWriter::number(double value) {
  before_value();
  append_exact(value, out_);
  return *this;
}
JsonWriter& JsonWriter::number(std::uint64_t value) {
  const fmt::format_int digits(value);
  return integer({digits.data(), digits.size()});
}
JsonWriter& JsonWriter::number(std::int64_t value) {
  const fmt::format_int digits(value);
  return integer({digits.data(), digits.size()});
}
JsonWriter& JsonWriter::integer(std::string_view digits) {
  return integers_as_text_ ? text(digits) : put(digits);
}
JsonWriter& JsonWriter::number_or_null(double value) {
  return std::isfinite(value) ? number(value) : null();
}
JsonWriter& JsonWriter::rounded_or_null(double value) {
  if (!std::isfinite(value)) return null();
  constexpr double kSevenDigits = 9'999'999;
  if (std::abs(value) <= kSevenDigits && value == std::trunc(value) && !std::signbit(value)) {
    const fmt::format_int digits(static_cast<std::uint32_t>(value));
    return put({digits.data(), digits.size()});
  }
  before_value();
  fmt::format_to(std::back_inserter(out_), "{:.7g}", value);
  return *this;
}
JsonWriter& JsonWriter::boolean(bool value) { return put(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return put("null"); }

JsonWriter& JsonWriter::members(std::initializer_list<std::string_view> json) {
  for (const std::string_view each : json) out_ += each;
  has_values_.back() = true;
  after_key_ = false;
  return *this;
}
JsonWriter& JsonWriter::up_to_value(std::initializer_list<std::string_view> json) {
  members(json);
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::line_break() {
  break_line_ = true;
  return *this;
}

std::string JsonWriter::take() { return std::exchange(out_, {}); }

}  // namespace meterbank::cli
