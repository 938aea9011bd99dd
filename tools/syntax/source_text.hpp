// SPDX-License-Identifier: Apache-2.0
//
// The text of a file, fit to be parsed, and the places of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/place.hpp"
#include "syntax/problems.hpp"

namespace meterbank::syntax {

// UTF-8 without a byte order mark and without control characters other than tab and line ends, so
// that neither parser meets a byte it has its own ideas about.
class SourceText {
 public:
  // From UTF-8, or from UTF-16 with a byte order mark or an XML manifest's first `<`: Windows tools
  // write manifests in either. Nothing if something is wrong, which is then in `problems`.
  [[nodiscard]] static std::optional<SourceText> decode(std::string_view bytes, Problems& problems);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  // Of a byte of text(), or of its end.
  [[nodiscard]] Place place_of(std::size_t offset) const noexcept;
  // From a column that counts characters, as toml++ does, to one that counts bytes.
  [[nodiscard]] Place place_of_character(std::uint32_t line, std::uint32_t column) const noexcept;

 private:
  explicit SourceText(std::string text);
  [[nodiscard]] bool check(Problems& problems) const;

  std::string text_;
  std::vector<std::size_t> lines_;  // where each line begins
};

}  // namespace meterbank::syntax
