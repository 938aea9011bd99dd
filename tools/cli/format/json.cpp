// SPDX-License-Identifier: Apache-2.0
#include "cli/format/json.hpp"

#include <fmt/format.h>

#include <cmath>
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

}  // namespace

std::string json_text(std::string_view text, Charset charset) {
  std::string out = "\"";
  TextScan scan(text, charset);
  for (TextPart part; scan.next(part);) {
    switch (part.kind) {
      case TextPart::Kind::kHidden:
        append_json_escape(part.code_point, out);
        break;
      case TextPart::Kind::kNotUtf8:
        if (charset == Charset::kAscii) {
          append_json_escape(kReplacementCharacter, out);
        } else {
          append_utf8(kReplacementCharacter, out);
        }
        break;
      case TextPart::Kind::kShown:
        for (const char c : part.bytes) {
          if (c == '"' || c == '\\') out += '\\';
          out += c;
        }
        break;
    }
  }
  return out + '"';
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
  put(json_text(name, charset_));
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) { return put(json_text(value, charset_)); }
JsonWriter& JsonWriter::number(double value) { return put(print_exact(value)); }
JsonWriter& JsonWriter::number(std::uint64_t value) {
  return put(integers_as_text_ ? fmt::format("\"{}\"", value) : fmt::format("{}", value));
}
JsonWriter& JsonWriter::number(std::int64_t value) {
  return put(integers_as_text_ ? fmt::format("\"{}\"", value) : fmt::format("{}", value));
}
JsonWriter& JsonWriter::number_or_null(double value) {
  return std::isfinite(value) ? number(value) : null();
}
JsonWriter& JsonWriter::boolean(bool value) { return put(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return put("null"); }

JsonWriter& JsonWriter::line_break() {
  break_line_ = true;
  return *this;
}

std::string JsonWriter::take() { return std::exchange(out_, {}); }

}  // namespace meterbank::cli
