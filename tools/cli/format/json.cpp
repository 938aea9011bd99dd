// SPDX-License-Identifier: Apache-2.0
#include "cli/format/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cli/format/quantity.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto decoded = decode_utf8(text);
    const char32_t c = decoded.code_point;
    // Controls must be escaped; the line separators and bidi controls are, so that a document
    // shown on a terminal cannot steer it.
    if (c == U'"' || c == U'\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == U'\n') {
      out += "\\n";
    } else if (c == U'\t') {
      out += "\\t";
    } else if (is_control(c) || is_bidi_control(c) || is_line_separator(c)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      append_utf8(c, out);
    }
    text.remove_prefix(decoded.length);
  }
  out += '"';
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
  put(json_text(name));
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) { return put(json_text(value)); }
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
