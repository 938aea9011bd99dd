// SPDX-License-Identifier: Apache-2.0
//
// Counter paths: two spellings of one thing.
//
//   Windows   \Set\Counter   \Set(instance)\Counter   \Set(parent/instance#2)\Counter
//             and each of them behind \\provider
//   short     set   set/counter   set/instance/counter   and each behind provider:
//
// A path that begins with a backslash is a Windows path. It has no escapes; it is taken apart from
// both ends (the last backslash begins the counter, the first parenthesis the instance), so an
// instance may contain parentheses and backslashes. An instance that begins with a slash is a file
// name and has no parent.
//
// In a short path a backslash makes one of / * ? [ ] \ : # @ ordinary. A leading colon only says
// that a short path follows; it is for those few that begin with an escape.
//
// Parsing looks nothing up. What two short words mean depends on the set, so both readings are
// kept, see SecondWord.
//
// Thread safety  All functions may be called concurrently.
// Errors         kBadPath with the column, what was expected and what to try; lack of memory is
//                std::bad_alloc where a function returns no Result.
// Progress       Bounded by the length of the path, at most kPathBytesMax.
// Cost           Allocates the strings that it returns.
// Lifetime       Paths are values; RowNames refers to the caller's strings during the call.
// Units          Columns are characters, from 1; kPathBytesMax is bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meterbank/base/result.hpp"

namespace meterbank {

enum class PathSpelling : std::uint8_t { kWindows, kShort };

// The number behind `#`. The two largest are reserved as instance ids, so one can say `#*`.
inline constexpr std::uint32_t kAnyInstanceIndex = 0xFFFFFFFF;
inline constexpr std::uint32_t kInstanceIndexMax = 0xFFFFFFFD;

// Longer paths are refused unread: five names of full length, each character escaped, fit.
inline constexpr std::size_t kPathBytesMax = 12 * 1024;

// `x` of the short path `set/x`: a counter of all instances or all counters of an instance. Each
// set decides for itself: where it has such a counter, the counter is meant.
struct SecondWord {
  std::string as_counter;
  std::string as_instance;
  std::optional<std::uint32_t> index;  // belongs to the reading as an instance

  friend bool operator==(const SecondWord&, const SecondWord&) = default;
};

// Every text is a glob pattern with backslash escapes (meterbank/reader/glob.hpp): match with
// Glob(text, {.backslash_escapes = true}), or take the plain name with literal_of(). Only a star, a
// question mark and a backslash are escaped there, so equal paths compare equal. What is absent was
// not written and means "all".
struct CounterPath {
  std::optional<std::string> provider;
  std::optional<std::uint32_t> provider_pid;  // only with a provider
  std::string set;                            // never empty
  std::optional<std::string> parent;          // Windows spelling only, only with an instance
  std::optional<std::string> instance;
  std::optional<std::uint32_t> index;  // only with an instance; kAnyInstanceIndex is `#*`
  std::optional<std::string> counter;
  std::optional<SecondWord> second_word;  // if set: no instance, no counter
  PathSpelling spelling = PathSpelling::kWindows;

  // Instance names are flat where they are published: `parent/instance`, or just the instance.
  [[nodiscard]] std::optional<std::string> whole_instance() const;
  // The two readings of a second word; without one, the path itself.
  [[nodiscard]] CounterPath reading_as_counter() const;
  [[nodiscard]] CounterPath reading_as_instance() const;

  friend bool operator==(const CounterPath&, const CounterPath&) = default;
};

// Accepts both spellings. The error is kBadPath; its text names the column (in characters, from 1),
// what was expected there and what was found, its remedy the path to try.
[[nodiscard]] Result<CounterPath> parse_path(std::string_view text);

// The printers copy names as they are: what goes to a terminal passes escape_for_terminal first.

// parse_path of the result gives `path` again, but for a parent that became part of the instance,
// and a lone counter or instance that became a second word with that reading.
[[nodiscard]] std::string print_short(const CounterPath& path);

// An error where the Windows spelling cannot say it: no counter, a second word, or names in which
// `(`, `\`, `*`, `?` or `#` stand where they would be read as something else.
[[nodiscard]] Result<std::string> print_windows(const CounterPath& path);

// In the path's own spelling if that can say it, else short.
[[nodiscard]] std::string print_path(const CounterPath& path);

// The path of one row, from plain names. Empty names count as absent.
struct RowNames {
  std::string_view provider;
  std::string_view set;
  std::string_view instance;
  std::string_view counter;
};
[[nodiscard]] CounterPath path_of(const RowNames& names,
                                  PathSpelling spelling = PathSpelling::kWindows);

}  // namespace meterbank
