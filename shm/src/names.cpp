// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/names.hpp"

#include <cstdint>
#include <cstring>

#include "eight_bytes.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// Length of the run of ASCII without control characters at the front, in steps of eight bytes.
std::size_t plain_words(std::string_view text) noexcept {
  std::size_t offset = 0;
  for (; text.size() - offset >= sizeof(std::uint64_t); offset += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + offset, sizeof(word));
    if ((word & kHighBits) != 0) break;
    // Bytes of ASCII: no sum carries into its neighbour.
    const std::uint64_t from_space = word + kEachByte * (0x80U - 0x20U);
    const std::uint64_t from_delete = word + kEachByte;
    if ((from_space & ~from_delete & kHighBits) != kHighBits) break;
  }
  return offset;
}

}  // namespace

NameCheck check_name(std::string_view name, NameKind kind) noexcept {
  if (name.empty()) {
    if (kind == NameKind::kSingleInstance) return {};
    return {NameFault::kEmpty, 0};
  }
  if (name.size() > kNameBytesMax) return {NameFault::kTooLong, kNameBytesMax};
  std::size_t offset = plain_words(name);
  while (offset < name.size()) {
    const DecodedCodePoint decoded = decode_utf8(name.substr(offset));
    if (!decoded.valid) return {NameFault::kNotUtf8, offset};
    if (decoded.code_point == 0) return {NameFault::kNul, offset};
    if (is_control(decoded.code_point)) return {NameFault::kControlCharacter, offset};
    offset += decoded.length;
  }
  return {};
}

std::string_view text_of(NameKind kind) noexcept {
  switch (kind) {
    case NameKind::kProvider:
      return "provider name";
    case NameKind::kCounterset:
      return "counterset name";
    case NameKind::kCounter:
      return "counter name";
    case NameKind::kInstance:
    case NameKind::kSingleInstance:
      return "instance name";
  }
  return "name";
}

std::string_view text_of(NameFault fault) noexcept {
  switch (fault) {
    case NameFault::kNone:
      return "is good";
    case NameFault::kEmpty:
      return "is empty";
    case NameFault::kTooLong:
      return "is longer than 1023 bytes";
    case NameFault::kNul:
      return "contains a NUL";
    case NameFault::kControlCharacter:
      return "contains a control character";
    case NameFault::kNotUtf8:
      return "is not valid UTF-8";
  }
  return "breaks an unknown rule";
}

std::string_view remedy_for(NameFault fault) noexcept {
  switch (fault) {
    case NameFault::kNone:
      break;
    case NameFault::kEmpty:
      return "give it a name; only the instance of a single-instance counterset may go without";
    case NameFault::kTooLong:
      return "shorten it to 1023 bytes or fewer";
    case NameFault::kNul:
      return "pass the length without the terminating NUL";
    case NameFault::kControlCharacter:
      return "replace or drop the control characters";
    case NameFault::kNotUtf8:
      return "convert the name to UTF-8";
  }
  return "";
}

std::string describe(const NameCheck& check, std::string_view name, NameKind kind) {
  constexpr std::size_t kShownBytesMax = 64;
  std::string text(text_of(kind));
  if (!name.empty()) {
    const RepairedText shown = repair_utf8(name, kShownBytesMax);
    text.append(" '");
    escape_for_terminal(shown.text, text);
    text.append(shown.shortened ? "...'" : "'");
  }
  text.append(" ").append(text_of(check.fault));
  switch (check.fault) {
    case NameFault::kNul:
    case NameFault::kControlCharacter:
    case NameFault::kNotUtf8:
      text.append(" at byte ").append(std::to_string(check.offset));
      break;
    case NameFault::kTooLong:
      text.append(" (it has ").append(std::to_string(name.size())).append(")");
      break;
    case NameFault::kNone:
    case NameFault::kEmpty:
      break;
  }
  return text;
}

}  // namespace meterbank
