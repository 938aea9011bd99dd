// SPDX-License-Identifier: Apache-2.0
#include "syntax/in_quotes.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::syntax {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShownBytesMax = 64;
  const RepairedText shown = repair_utf8(text, kShownBytesMax);
  return fmt::format("'{}{}'", escape_for_terminal(shown.text), shown.shortened ? "..." : "");
}

}  // namespace meterbank::syntax
