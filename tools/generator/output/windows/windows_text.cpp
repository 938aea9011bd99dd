// SPDX-License-Identifier: Apache-2.0
#include "windows_text.hpp"

#include <fmt/format.h>

#include <array>

namespace meterbank::generator {
namespace {

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

// Calls `plain` for each byte, but for characters that turn, for which it calls `turn`.
template <typename Plain, typename OnTurn>
void for_each_character(std::string_view text, Plain&& plain, OnTurn&& turn) {
  while (!text.empty()) {
    std::size_t taken = 0;
    for (const Turn& each : kTurns) {
      if (!text.starts_with(each.utf8)) continue;
      turn(each.code);
      taken = each.utf8.size();
      break;
    }
    if (taken == 0) {
      plain(text.front());
      taken = 1;
    }
    text.remove_prefix(taken);
  }
}

}  // namespace

std::string c_text(std::string_view text) {
  std::string written;
  for_each_character(
      text,
      [&](char byte) {
        if (byte == '"' || byte == '\\') {
          written += {'\\', byte};
        } else if (byte == '?' && written.ends_with('?')) {
          written += "\\?";  // what follows two of them could be a trigraph
        } else {
          written += byte;
        }
      },
      [&](std::string_view code) { written += fmt::format("\\u{}", code); });
  return written;
}

std::string resource_text(std::string_view text) {
  std::string written;
  for_each_character(
      text,
      [&](char byte) {
        if (byte == '"') {
          written += "\"\"";
        } else if (byte == '\\') {
          written += "\\\\";
        } else {
          written += byte;
        }
      },
      [&](std::string_view code) { written += fmt::format("\\x{}", code); });
  return written;
}

std::string c_comment(std::string_view text) {
  std::string written;
  for_each_character(
      text,
      [&](char byte) {
        const bool is_unsafe = is_control(byte) || byte == '\\';
        const bool may_begin_trigraph = byte == '?' && written.ends_with('?');
        written += is_unsafe ? ' ' : may_begin_trigraph ? '!' : byte;
      },
      [](std::string_view) {});
  return written;
}

std::string guid_initializer(const Guid& guid) {
  const auto& end = guid.part4;
  return fmt::format("{{0x{:08x}, 0x{:04x}, 0x{:04x}, {{0x{:02x}, 0x{:02x}, ", guid.part1,
                     guid.part2, guid.part3, end[0], end[1]) +
         fmt::format("0x{:02x}, 0x{:02x}, 0x{:02x}, 0x{:02x}, 0x{:02x}, 0x{:02x}}}}}", end[2],
                     end[3], end[4], end[5], end[6], end[7]);
}

std::string guid_arguments(const Guid& guid) {
  std::string text;
  for (const char byte : guid_initializer(guid)) {
    if (byte != '{' && byte != '}') text += byte;
  }
  return text;
}

}  // namespace meterbank::generator
