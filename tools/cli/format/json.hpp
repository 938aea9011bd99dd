// SPDX-License-Identifier: Apache-2.0
//
// JSON as it is written, piece by piece: commas and escapes are taken care of, nothing is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// `text` between quotation marks. What utf8.hpp escapes on a terminal is `\u202e` here, so that a
// document that is shown on one cannot steer it. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_text(std::string_view text, Charset charset = Charset::kUtf8);

class JsonWriter {
 public:
  // JavaScript loses digits of integers beyond 2^53, so they can be asked for as strings.
  explicit JsonWriter(bool integers_as_text = false, Charset charset = Charset::kUtf8)
      : integers_as_text_(integers_as_text), charset_(charset) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  // The next value belongs to this key.
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(double value);  // must be finite
  JsonWriter& number(std::uint64_t value);
  JsonWriter& number(std::int64_t value);
  // Infinite or not a number: null.
  JsonWriter& number_or_null(double value);
  JsonWriter& rounded_or_null(double value);  // to seven digits
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // Text that is JSON already: members of the innermost object, or a part of one that ends where
  // its value belongs.
  JsonWriter& members(std::initializer_list<std::string_view> json);
  JsonWriter& up_to_value(std::initializer_list<std::string_view> json);
  // A line end for readers, between two values of the innermost array or object.
  JsonWriter& line_break();

  // What was written since the last call.
  [[nodiscard]] std::string take();
  [[nodiscard]] std::size_t size() const noexcept { return out_.size(); }  // of it

 private:
  void before_value();
  JsonWriter& put(std::string_view literal);
  JsonWriter& integer(std::string_view digits);

  std::string out_;
  std::vector<bool> has_values_{false};  // one a level
  bool after_key_ = false;
  bool break_line_ = false;
  bool integers_as_text_;
  Charset charset_;
};

}  // namespace meterbank::cli
