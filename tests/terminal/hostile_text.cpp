// SPDX-License-Identifier: Apache-2.0
#include "hostile_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::test {
namespace {

using namespace std::string_literals;

// Written down here once more, so that the library's own table is not what is believed.
constexpr std::array<char32_t, 36> kMisleading{
    0x00AD, 0x034F, 0x061C, 0x115F, 0x180B, 0x200B,  0x200C,  0x200D,  0x200E,
    0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C,  0x202D,  0x202E,  0x2060,
    0x2061, 0x2062, 0x2063, 0x2064, 0x2066, 0x2067,  0x2068,  0x2069,  0x3164,
    0xE000, 0xFE0F, 0xFEFF, 0xFFF9, 0xFFFE, 0xE0041, 0xE0100, 0xF0000, 0x10FFFF};

std::string utf8(std::initializer_list<char32_t> code_points) {
  std::string text;
  for (const char32_t code_point : code_points) {
    text += '<';
    append_utf8(code_point, text);
  }
  return text;
}

std::string flood() {
  std::string text = "<e";
  for (int i = 0; i < 17; ++i) append_utf8(0x0301, text);
  return text;
}

bool is_misleading(char32_t code_point) {
  return std::find(kMisleading.begin(), kMisleading.end(), code_point) != kMisleading.end();
}

std::string at(std::string_view output, std::size_t offset, std::string_view what) {
  const auto begin = offset < 60 ? 0 : offset - 60;
  return std::string(what) + " at byte " + std::to_string(offset) + ": " +
         escape_for_terminal(output.substr(begin, 100));
}

// What Screen, or ncurses for it, draws with on an xterm: modes, the title kept and put back, the
// region that scrolls, places, erasing, repeating, looks, character sets, and steps to the left.
std::size_t own_sequence(std::string_view text) {
  static const std::regex kOwn(
      "\x1b(\\[(\\?[0-9;]+[hl]|2[23];0;0t|4l|[0-9;]*[HdGABCDKJXPLMSTr@b]|[0-9;]*m)|\\(B|[=>M78])|"
      "[\x0f\r\b]");
  std::cmatch found;
  const auto* const begin = text.data();
  constexpr auto kHere = std::regex_constants::match_continuous;
  if (!std::regex_search(begin, begin + text.size(), found, kOwn, kHere)) return 0;
  return static_cast<std::size_t>(found.length());
}

}  // namespace

const std::vector<std::string>& hostile_groups() {
  static const std::vector<std::string> groups{
      "<\x1b]0;t\x07<\x1b]52;c;eA==\x1b\\<\x1b[2J<\x1b[31m"s,
      "<\x07<\x08<\x0d<\x0a<\x09<\x0b<\x7f<\x0e<\x05"s,
      "<\x1b[31my\0<\x1b[31m"s,
      utf8({0x9B, 0x90, 0x9C, 0x85}) + "<\x9b"s,
      "<\x9b<\xc0\x80<\xe2\x80<\xf5<\xed\xa0\x80<\xff"s,
      utf8({0x202E, 0x2066, 0x2069, 0x061C, 0x200E, 0x200F, 0x202A, 0x2067}),
      utf8({0x2028, 0x2029, 0x200B, 0x2060, 0xFEFF, 0x00AD, 0x200D, 0x200C}),
      utf8({0xFE0F, 0xE0041, 0xE000, 0xFFFE, 0x10FFFF, 0x180B, 0x3164, 0xFFF9}),
      flood()};
  return groups;
}

std::string harmless_text(std::string_view tag) {
  std::string text(tag);
  text.resize(kHostileBytes, 'q');
  return text;
}

std::string hostile_text(std::string_view tag, std::string_view group) {
  std::string text = std::string(tag) + std::string(group);
  text.resize(kHostileBytes, 'z');
  return text;
}

std::string first_danger(std::string_view output, bool is_terminal) {
  unsigned marks = 0;
  for (std::size_t offset = 0; offset < output.size();) {
    const auto rest = output.substr(offset);
    const auto decoded = decode_utf8(rest);
    const bool is_foreign = offset > 0 && output[offset - 1] == '<';
    const char32_t c = decoded.code_point;
    if (!decoded.valid) return at(output, offset, "bytes that are not UTF-8");
    if (is_misleading(c)) return at(output, offset, "an invisible character");
    marks = c == 0x0301 ? marks + 1 : 0;
    if (marks > 8) return at(output, offset, "a flood of marks");
    std::size_t length = decoded.length;
    if (is_control(c)) {
      const bool is_layout = c == '\n' || c == '\t' || rest.starts_with("\r\n");
      const auto drawing = is_terminal ? own_sequence(rest) : 0;
      // A terminal driver makes "\r\n" of a line end, also where "\r\n" was written.
      const bool is_return = is_terminal && rest.starts_with("\r\r\n");
      if (is_foreign || (!is_layout && !is_return && drawing == 0)) {
        return at(output, offset, "a control character");
      }
      if (drawing != 0) length = drawing;
    }
    offset += length;
  }
  return {};
}

}  // namespace meterbank::test
