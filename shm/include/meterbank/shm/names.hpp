// SPDX-License-Identifier: Apache-2.0
//
// Which names may be published.
//
// The rules are few, because names come from the world (mount points, user agents, cgroups): any
// text that is not empty, fits, is UTF-8 and cannot steer a terminal. Slashes, stars and spaces are
// allowed; the path spellings know how to write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank {

// A name and its terminating NUL fill 1,024 bytes, the limit the Windows interfaces have.
inline constexpr std::size_t kNameBytesMax = 1023;

enum class NameKind : std::uint8_t {
  kProvider,
  kCounterset,
  kCounter,
  kInstance,        // of a counterset with many instances
  kSingleInstance,  // the only instance of its counterset; may be empty
};

enum class NameFault : std::uint8_t {
  kNone,
  kEmpty,
  kTooLong,
  kNul,
  kControlCharacter,
  kNotUtf8,
};

struct NameCheck {
  NameFault fault = NameFault::kNone;
  std::size_t offset = 0;  // byte where the fault begins

  [[nodiscard]] bool ok() const noexcept { return fault == NameFault::kNone; }
};

// Reports the length first, then the first fault in the text. Reads `name` once.
[[nodiscard]] NameCheck check_name(std::string_view name, NameKind kind) noexcept;

// "counterset name", "instance name" ...
[[nodiscard]] std::string_view text_of(NameKind kind) noexcept;
// The broken rule as a phrase that follows the name: "is empty", "is not valid UTF-8" ...
[[nodiscard]] std::string_view text_of(NameFault fault) noexcept;
// What to try, as the `remedy` of an Error wants it; empty for kNone.
[[nodiscard]] std::string_view remedy_for(NameFault fault) noexcept;

// One printable line, fit for `what` of an Error, with the name escaped and shortened:
// "counter name 'x\u{1b}[2J' contains a control character at byte 1".
[[nodiscard]] std::string describe(const NameCheck& check, std::string_view name, NameKind kind);

}  // namespace meterbank
