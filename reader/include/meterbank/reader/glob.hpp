// SPDX-License-Identifier: Apache-2.0
//
// Patterns with two wildcards: `*` is any run of characters, also an empty one, `?` is exactly one.
// A character is a code point; a byte outside valid UTF-8 counts as one too. Case is folded as for
// names (meterbank/shm/case_fold.hpp). There are no character classes: `[` is a bracket.
//
// Thread safety  All functions may be called concurrently, also of one Glob.
// Errors         Every text is a pattern. Functions that are not noexcept may throw std::bad_alloc.
// Progress       Bounded: at most the characters of the text times those of the pattern.
// Cost           Matching allocates nothing; compiling a pattern allocates once.
// Lifetime       A Glob keeps a copy of its pattern.
// Units          A character is a code point.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meterbank {

struct GlobOptions {
  // A backslash makes the next character ordinary; a last, lonely one stands for itself. Off, as on
  // Windows, a backslash is a character like any other and a star cannot be written.
  bool backslash_escapes = false;
};

// A compiled pattern. Immutable, so any number of threads may match with one.
class Glob {
 public:
  explicit Glob(std::string_view pattern, GlobOptions options = {});

  // Allocates nothing. Bounded: at most the characters of the text times those of the pattern,
  // whatever both contain and however many stars there are.
  [[nodiscard]] bool matches(std::string_view text) const noexcept;

  // No wildcard: at most one name, up to its case, can match.
  [[nodiscard]] bool is_literal() const noexcept { return literal_; }
  // Nothing but stars.
  [[nodiscard]] bool matches_everything() const noexcept;

 private:
  std::u32string tokens_;  // folded characters, kAnyOne and kAnyRun; no two kAnyRun in a row
  bool literal_ = true;
};

// For a pattern that is used once.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text,
                                GlobOptions options = {});

// The three below speak of patterns with backslash escapes.

// The pattern that matches `name` alone.
[[nodiscard]] std::string escape_glob(std::string_view name);
// The one name, in the case it was written, that a pattern without wildcards stands for; nothing if
// there are wildcards.
[[nodiscard]] std::optional<std::string> literal_of(std::string_view pattern);
[[nodiscard]] bool has_wildcard(std::string_view pattern) noexcept;

}  // namespace meterbank
