// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/glob.hpp"

#include <cstddef>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

// Above every value a FoldCursor gives, so that no character of a text can be taken for one.
constexpr char32_t kAnyOne = 0x200000;
constexpr char32_t kAnyRun = 0x200001;

}  // namespace

Glob::Glob(std::string_view pattern, GlobOptions options) {
  FoldCursor cursor(pattern);
  while (!cursor.done()) {
    char32_t token = cursor.next();
    if (token == U'\\' && options.backslash_escapes && !cursor.done()) {
      token = cursor.next();
    } else if (token == U'?') {
      token = kAnyOne;
    } else if (token == U'*') {
      token = kAnyRun;
    }
    if (token == kAnyOne || token == kAnyRun) literal_ = false;
    // A second star in a row adds nothing but another place to come back to.
    if (token == kAnyRun && !tokens_.empty() && tokens_.back() == kAnyRun) continue;
    tokens_.push_back(token);
  }
}

bool Glob::matches(std::string_view text) const noexcept {
  // Only the latest star is ever widened: whatever an earlier one could still give, the latest can
  // take as well. So there is one place to come back to and no recursion.
  constexpr std::size_t kNoStar = std::u32string::npos;
  FoldCursor cursor(text);
  FoldCursor retry(text);  // where the text continues if the latest star takes what it has so far
  std::size_t position = 0;
  std::size_t after_star = kNoStar;
  while (!cursor.done()) {
    const bool tokens_left = position < tokens_.size();
    if (tokens_left && tokens_[position] == kAnyRun) {
      after_star = ++position;
      retry = cursor;
      if (after_star == tokens_.size()) return true;
      continue;
    }
    const char32_t character = cursor.next();
    if (tokens_left && (tokens_[position] == kAnyOne || tokens_[position] == character)) {
      ++position;
      continue;
    }
    if (after_star == kNoStar) return false;
    retry.next();  // the star takes one character more
    cursor = retry;
    position = after_star;
  }
  while (position < tokens_.size() && tokens_[position] == kAnyRun) ++position;
  return position == tokens_.size();
}

bool Glob::matches_everything() const noexcept {
  return tokens_.size() == 1 && tokens_.front() == kAnyRun;
}

bool glob_matches(std::string_view pattern, std::string_view text, GlobOptions options) {
  return Glob(pattern, options).matches(text);
}

std::string escape_glob(std::string_view name) {
  std::string pattern;
  pattern.reserve(name.size());
  for (const char character : name) {
    if (character == '*' || character == '?' || character == '\\') pattern.push_back('\\');
    pattern.push_back(character);
  }
  return pattern;
}

std::optional<std::string> literal_of(std::string_view pattern) {
  if (has_wildcard(pattern)) return std::nullopt;
  std::string name;
  name.reserve(pattern.size());
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] == '\\' && index + 1 < pattern.size()) ++index;
    name.push_back(pattern[index]);
  }
  return name;
}

bool has_wildcard(std::string_view pattern) noexcept {
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] == '\\') {
      ++index;
    } else if (pattern[index] == '*' || pattern[index] == '?') {
      return true;
    }
  }
  return false;
}

}  // namespace meterbank
