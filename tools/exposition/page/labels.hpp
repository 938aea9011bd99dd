// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meterbank::exposition {

struct Label {
  std::string name, value;

  bool operator==(const Label&) const = default;
};

// Foreign text for a page: what is not UTF-8 becomes U+FFFD, and so does a control character other
// than a line end.
[[nodiscard]] std::string clean_text(std::string_view text);

// Whether a set may name a label so: not those that this program, Prometheus or a histogram use.
[[nodiscard]] bool is_free_label(std::string_view name) noexcept;

// Appends name="value" behind a comma, unless `out` is empty.
void append_label(std::string& out, std::string_view name, std::string_view value);
// Backslash, line end and, between quotes, the quote.
enum class Quoted : bool { kNo, kYes };
void append_escaped(std::string& out, std::string_view text, Quoted quoted);

}  // namespace meterbank::exposition
