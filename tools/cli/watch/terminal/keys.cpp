// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/terminal/keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

struct CommonSequence {
  std::string_view bytes;
  Key key;
};
constexpr std::array kCommon{
    CommonSequence{"\x1b[A", Key::kUp},      CommonSequence{"\x1b[B", Key::kDown},
    CommonSequence{"\x1b[C", Key::kRight},   CommonSequence{"\x1b[D", Key::kLeft},
    CommonSequence{"\x1bOA", Key::kUp},      CommonSequence{"\x1bOB", Key::kDown},
    CommonSequence{"\x1bOC", Key::kRight},   CommonSequence{"\x1bOD", Key::kLeft},
    CommonSequence{"\x1b[5~", Key::kPageUp}, CommonSequence{"\x1b[6~", Key::kPageDown},
    CommonSequence{"\x1b[H", Key::kHome},    CommonSequence{"\x1b[F", Key::kEnd},
    CommonSequence{"\x1bOH", Key::kHome},    CommonSequence{"\x1bOF", Key::kEnd},
    CommonSequence{"\x1b[1~", Key::kHome},   CommonSequence{"\x1b[4~", Key::kEnd},
    CommonSequence{"\x1bOP", Key::kHelp},    CommonSequence{"\x1b[11~", Key::kHelp},
    CommonSequence{"\t", Key::kTab},         CommonSequence{"\r", Key::kEnter},
    CommonSequence{"\n", Key::kEnter},       CommonSequence{"\x7f", Key::kBackspace},
    CommonSequence{"\b", Key::kBackspace}};

constexpr std::string_view kSgrMouse = "\x1b[<";  // ESC [ < button ; column ; line M or m
constexpr std::string_view kOldMouse = "\x1b[M";  // ESC [ M and three bytes, each 32 too large
constexpr std::size_t kOldMouseBytes = 6;

constexpr bool is_final(char c) noexcept { return c >= '@' && c <= '~'; }

// Bytes of an escape sequence: up to its final letter or tilde. Nothing: it has not ended yet.
std::optional<std::size_t> sequence_bytes(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  if (bytes[1] == 'O') return bytes.size() < 3 ? std::nullopt : std::optional<std::size_t>(3);
  if (bytes[1] != '[') return 1;
  if (bytes.starts_with(kOldMouse)) {
    return bytes.size() < kOldMouseBytes ? std::nullopt : std::optional(kOldMouseBytes);
  }
  for (std::size_t end = 2; end < bytes.size(); ++end) {
    if (is_final(bytes[end])) return end + 1;
    // No sequence holds such a byte: what follows is something else.
    if (bytes[end] < ' ' || bytes[end] > '~') return end;
  }
  return std::nullopt;
}

// Bits of a button: 0 to 2 which one (3: it was let go, in the old form), 32 it moved, 64 a wheel.
KeyPress mouse_press(unsigned button, unsigned column, unsigned line, bool is_release) {
  constexpr unsigned kModifiers = 4U | 8U | 16U;
  KeyPress press;
  if (column == 0 || line == 0) return press;
  press.x = column - 1;
  press.y = line - 1;
  switch (button & ~kModifiers) {
    case 0:
      if (!is_release) press.key = Key::kClick;
      break;
    case 64:
      press.key = Key::kWheelUp;
      break;
    case 65:
      press.key = Key::kWheelDown;
      break;
    default:
      break;
  }
  return press;
}

KeyPress parse_sgr_mouse(std::string_view sequence) {
  std::array<unsigned, 3> numbers{};
  const char* at = sequence.data() + kSgrMouse.size();
  const char* const end = sequence.data() + sequence.size() - 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    const char expected = i + 1 < numbers.size() ? ';' : sequence.back();
    if (error != std::errc{} || *next != expected) return {};
    at = next + 1;
  }
  if (sequence.back() != 'M' && sequence.back() != 'm') return {};
  return mouse_press(numbers[0], numbers[1], numbers[2], sequence.back() == 'm');
}

KeyPress parse_old_mouse(std::string_view sequence) {
  const auto number = [&](std::size_t i) {
    const auto byte = static_cast<unsigned char>(sequence[kOldMouse.size() + i]);
    return byte < 32 ? 0U : byte - 32U;
  };
  return mouse_press(number(0), number(1), number(2), false);
}

KeyPress parse_key(std::string_view bytes, const std::vector<KeySequence>& special,
                   std::size_t& length) {
  const auto take = [&](std::string_view sequence) {
    if (sequence.empty() || !bytes.starts_with(sequence)) return false;
    length = sequence.size();
    return true;
  };
  for (const auto& sequence : special) {
    if (take(sequence.bytes)) return {sequence.key, {}};
  }
  for (const auto& sequence : kCommon) {
    if (take(sequence.bytes)) return {sequence.key, {}};
  }
  if (bytes.front() == '\x1b') {
    length = sequence_bytes(bytes).value_or(bytes.size());
    const auto sequence = bytes.substr(0, length);
    if (sequence.size() == 1) return {Key::kEscape, {}};
    if (sequence.starts_with(kSgrMouse)) return parse_sgr_mouse(sequence);
    if (sequence.starts_with(kOldMouse) && length == kOldMouseBytes) {
      return parse_old_mouse(sequence);
    }
    return {};
  }
  const auto decoded = decode_utf8(bytes);
  length = decoded.length;
  if (!decoded.valid || is_control(decoded.code_point)) return {};
  return {Key::kCharacter, std::string(bytes.substr(0, length))};
}

// The front of a character whose other bytes may still come.
bool is_cut_character(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  return bytes.size() < length && !decode_utf8(bytes).valid &&
         decode_utf8(bytes).length == bytes.size();
}

// More bytes may make something else of it.
bool may_go_on(std::string_view bytes, const std::vector<KeySequence>& special) {
  for (const auto& sequence : special) {
    if (sequence.bytes.size() > bytes.size() && sequence.bytes.starts_with(bytes)) return true;
  }
  if (bytes.front() == '\x1b') return !sequence_bytes(bytes).has_value();
  return is_cut_character(bytes);
}

}  // namespace

std::vector<KeyPress> parse_keys(std::string_view bytes, const std::vector<KeySequence>& special) {
  std::vector<KeyPress> keys;
  while (!bytes.empty()) {
    std::size_t length = 1;
    keys.push_back(parse_key(bytes, special, length));
    bytes.remove_prefix(length);
  }
  return keys;
}

std::vector<KeyPress> KeyReader::feed(std::string_view bytes) {
  // Longer than any sequence that means something.
  constexpr std::size_t kKeptMax = 64;
  kept_.append(bytes);
  std::vector<KeyPress> keys;
  std::string_view rest = kept_;
  while (!rest.empty() && (rest.size() > kKeptMax || !may_go_on(rest, special_))) {
    std::size_t length = 1;
    keys.push_back(parse_key(rest, special_, length));
    rest.remove_prefix(length);
  }
  kept_ = std::string(rest);
  return keys;
}

std::vector<KeyPress> KeyReader::give_up_waiting() {
  auto keys = parse_keys(kept_, special_);
  kept_.clear();
  return keys;
}

}  // namespace meterbank::cli
