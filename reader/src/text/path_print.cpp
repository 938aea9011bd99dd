// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"
#include "path_syntax.hpp"

namespace meterbank {
namespace {

using path_syntax::is_index;
using path_syntax::is_number;
using path_syntax::kShortEscapable;
using path_syntax::last_mark;

constexpr std::size_t kNowhere = std::string_view::npos;

// Copies a pattern and escapes what would end a word: `/`, the brackets that are reserved, what
// `also` names, and the one character at `mark`.
void append_short_word(std::string_view pattern, std::string_view also, std::size_t mark,
                       std::string& out) {
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    const char character = pattern[index];
    if (character == '\\') {
      // A lonely backslash at the end stands for itself, as it does when matching.
      const char next = index + 1 < pattern.size() ? pattern[++index] : '\\';
      if (kShortEscapable.find(next) != kNowhere) out.push_back('\\');
      out.push_back(next);
      continue;
    }
    const bool ends_a_word = character == '/' || character == '[' || character == ']';
    if (ends_a_word || index == mark || also.find(character) != kNowhere) out.push_back('\\');
    out.push_back(character);
  }
}

void append_index(const std::optional<std::uint32_t>& index, std::string& out) {
  if (!index) return;
  out.append("#").append(*index == kAnyInstanceIndex ? "*" : std::to_string(*index));
}

void append_short_instance(std::string_view pattern, const std::optional<std::uint32_t>& index,
                           std::string& out) {
  // Without a number of its own, `#7` at the end of a name would be read as one.
  std::size_t mark = index ? kNowhere : last_mark(pattern, '#');
  if (mark != kNowhere && !is_index(pattern.substr(mark + 1))) mark = kNowhere;
  append_short_word(pattern, "", mark, out);
  append_index(index, out);
}

void append_provider_pid(const CounterPath& path, std::string& out) {
  if (path.provider_pid) out.append("@").append(std::to_string(*path.provider_pid));
}

void append_windows_word(std::string_view pattern, std::string& out) {
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] == '\\' && index + 1 < pattern.size()) ++index;
    out.push_back(pattern[index]);
  }
}

// A parent is a way of reading the instance; two paths with the same whole instance are the same.
CounterPath without_parent(const CounterPath& path) {
  CounterPath flat = path;
  flat.instance = path.whole_instance();
  flat.parent.reset();
  if (flat.instance && flat.instance->empty()) flat.instance.reset();
  flat.spelling = PathSpelling::kWindows;
  return flat;
}

tl::unexpected<Error> cannot_say(const CounterPath& path, std::string_view why) {
  const std::string text = print_short(path);
  std::string what = "path '";
  escape_for_terminal(text, what);
  what.append("' has no Windows spelling: ").append(why);
  return fail(ErrorCode::kBadPath, std::move(what), "use the short spelling");
}

std::optional<std::string> name_or_nothing(std::string_view name) {
  if (name.empty()) return std::nullopt;
  return escape_glob(name);
}

}  // namespace

std::string print_short(const CounterPath& path) {
  std::string out;
  if (path.provider) {
    std::size_t mark = path.provider_pid ? kNowhere : last_mark(*path.provider, '@');
    if (mark != kNowhere && !is_number(path.provider->substr(mark + 1))) mark = kNowhere;
    append_short_word(*path.provider, ":", mark, out);
    append_provider_pid(path, out);
    out.push_back(':');
  }
  append_short_word(path.set, ":", kNowhere, out);
  const std::optional<std::string> instance = path.whole_instance();
  if (path.second_word) {
    const SecondWord& word = *path.second_word;
    out.push_back('/');
    append_short_instance(word.index ? word.as_instance : word.as_counter, word.index, out);
  } else if (instance && !instance->empty()) {
    out.push_back('/');
    append_short_instance(*instance, path.index, out);
    out.push_back('/');
    append_short_word(path.counter ? *path.counter : "*", "", kNowhere, out);
  } else if (path.counter) {
    out.push_back('/');
    append_short_instance(*path.counter, std::nullopt, out);
  }
  if (!out.empty() && out.front() == '\\') out.insert(out.begin(), ':');
  return out;
}

namespace {

Result<std::string> in_windows_spelling(const CounterPath& path) {
  if (path.second_word) return cannot_say(path, "its second word has two readings");
  if (!path.counter) return cannot_say(path, "it names no counter");
  std::string out;
  if (path.provider) {
    out.append(R"(\\)");
    append_windows_word(*path.provider, out);
    append_provider_pid(path, out);
  }
  out.push_back('\\');
  append_windows_word(path.set, out);
  const CounterPath flat = without_parent(path);
  if (flat.instance) {
    out.push_back('(');
    append_windows_word(*flat.instance, out);
    append_index(flat.index, out);
    out.push_back(')');
  }
  out.push_back('\\');
  append_windows_word(*path.counter, out);
  // There are no escapes, so the only proof that the text says what was meant is to read it.
  const Result<CounterPath> read_back = parse_path(out);
  if (!read_back || without_parent(*read_back) != flat) {
    return cannot_say(path, "a name contains what that spelling reads as something else");
  }
  return out;
}

}  // namespace

Result<std::string> print_windows(const CounterPath& path) {
  return report_no_memory([&] { return in_windows_spelling(path); });
}

std::string print_path(const CounterPath& path) {
  if (path.spelling == PathSpelling::kWindows) {
    Result<std::string> windows = print_windows(path);
    if (windows) return *std::move(windows);
  }
  return print_short(path);
}

CounterPath path_of(const RowNames& names, PathSpelling spelling) {
  CounterPath path;
  path.provider = name_or_nothing(names.provider);
  path.set = escape_glob(names.set);
  path.instance = name_or_nothing(names.instance);
  path.counter = name_or_nothing(names.counter);
  path.spelling = spelling;
  return path;
}

}  // namespace meterbank
