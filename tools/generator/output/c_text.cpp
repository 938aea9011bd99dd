// SPDX-License-Identifier: Apache-2.0
#include "generator/output/c_text.hpp"

#include <algorithm>
#include <array>

#include "generator/output/wrap.hpp"

namespace meterbank::generator {
namespace {

constexpr std::size_t kCommentBytesMax = 90;

struct Turn {
  std::string_view utf8;
  std::string_view code;
};
constexpr std::array kTurns{
    Turn{"\u061c", "061c"}, Turn{"\u200e", "200e"}, Turn{"\u200f", "200f"}, Turn{"\u202a", "202a"},
    Turn{"\u202b", "202b"}, Turn{"\u202c", "202c"}, Turn{"\u202d", "202d"}, Turn{"\u202e", "202e"},
    Turn{"\u2066", "2066"}, Turn{"\u2067", "2067"}, Turn{"\u2068", "2068"}, Turn{"\u2069", "2069"},
};

bool is_control(char byte) noexcept {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

// Calls `on_byte` for each byte, but `on_turn` for characters that turn.
template <typename OnByte, typename OnTurn>
void for_each_character(std::string_view text, OnByte&& on_byte, OnTurn&& on_turn) {
  while (!text.empty()) {
    const auto* const turn = std::find_if(kTurns.begin(), kTurns.end(), [&](const Turn& each) {
      return text.starts_with(each.utf8);
    });
    if (turn == kTurns.end()) {
      on_byte(text.front());
      text.remove_prefix(1);
    } else {
      on_turn(turn->code);
      text.remove_prefix(turn->utf8.size());
    }
  }
}

}  // namespace

std::string c_text(std::string_view text) {
  std::string written;
  for_each_character(
      text,
      [&](char byte) {
        // What follows two question marks could be a trigraph.
        const bool is_second = byte == '?' && written.ends_with('?');
        if (byte == '"' || byte == '\\' || is_second) written += '\\';
        written += byte;
      },
      [&](std::string_view code) { written.append("\\u").append(code); });
  return written;
}

std::string resource_text(std::string_view text) {
  std::string written;
  for_each_character(
      text,
      [&](char byte) {
        if (byte == '"' || byte == '\\') written += byte;  // both are doubled
        written += byte;
      },
      [&](std::string_view code) { written.append("\\x").append(code); });
  return written;
}

std::string comment_text(std::string_view text) {
  std::string written;
  for_each_character(
      text, [&](char byte) { written += is_control(byte) ? ' ' : byte; }, [](std::string_view) {});
  return written;
}

std::vector<std::string> comment_lines(std::string_view text) {
  auto lines = wrapped(comment_text(text), kCommentBytesMax);
  for (std::string& line : lines) {
    // Would continue the comment; the trigraph is a backslash to some compilers.
    if (line.ends_with('\\') || line.ends_with("?\?/")) line += '.';
  }
  return lines;
}

}  // namespace meterbank::generator
