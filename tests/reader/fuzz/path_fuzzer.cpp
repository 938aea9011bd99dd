// SPDX-License-Identifier: Apache-2.0
//
// Any text as a counter path. What parses must read back as itself after printing, in both
// spellings; what does not must be refused with a reason. The texts of its parts are patterns,
// which are held against each other within their bounds.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank::test {
namespace {

void require(bool condition) {
  if (!condition) ::abort();
}

// What print_short promises to keep: see path.hpp.
CounterPath without_spelling(CounterPath path) {
  path.instance = path.whole_instance();
  path.parent.reset();
  path.spelling = PathSpelling::kShort;
  return path;
}

void check_short(const CounterPath& path) {
  const auto again = parse_path(print_short(path));
  require(again.has_value());
  const CounterPath expected = without_spelling(path);
  if (again->second_word && !path.second_word) {
    // A lone counter or a lone instance: one of the two readings.
    const CounterPath& reading =
        path.counter ? again->reading_as_counter() : again->reading_as_instance();
    require(reading.counter == expected.counter && reading.instance == expected.instance);
    require(reading.set == expected.set && reading.provider == expected.provider);
  } else {
    require(*again == expected);
  }
  require(print_short(*again) == print_short(path));
}

void check_windows(const CounterPath& path) {
  const auto text = print_windows(path);
  if (!text) {
    require(!text.error().what.empty());
    return;
  }
  const auto again = parse_path(*text);
  require(again.has_value());
  require(without_spelling(*again) == without_spelling(path));
  require(print_windows(*again).value_or("") == *text);
}

void check(std::string_view text) {
  const auto path = parse_path(text);
  if (!path) {
    require(path.error().code == ErrorCode::kBadPath && !path.error().what.empty());
    return;
  }
#ifdef METERBANK_FUZZ_CONTROL
  require(!path->index || !path->parent);  // wrong: a path may have both
#endif
  require(!path->set.empty());
  check_short(*path);
  check_windows(*path);
  require(parse_path(print_path(*path)).has_value());
  const Glob set(path->set, {.backslash_escapes = true});
  static_cast<void>(set.matches(text));
  if (const auto name = literal_of(path->set)) require(set.matches(*name));
}

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  meterbank::test::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
