// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/words.hpp"

#include <algorithm>
#include <array>

namespace meterbank::generator {
namespace {

// The locale has no say in what a letter is.
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr char lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c + 32) : c; }
constexpr char upper(char c) noexcept { return is_lower(c) ? static_cast<char>(c - 32) : c; }

// Of C up to C23 and C++ up to C++20: generated headers are read by both.
constexpr std::array<std::string_view, 120> kKeywords{
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_BitInt",
    "_Bool",
    "_Complex",
    "_Decimal128",
    "_Decimal32",
    "_Decimal64",
    "_Generic",
    "_Imaginary",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
};

// Whether a new word begins at `at`: squareWave, IOReads, but neither CPUs nor 3D.
bool begins_word(std::string_view name, std::size_t at) noexcept {
  if (at == 0 || !is_upper(name[at])) return false;
  const char before = name[at - 1];
  if (is_lower(before)) return true;
  const bool lower_follows = at + 1 < name.size() && is_lower(name[at + 1]);
  if (!lower_follows || !(is_upper(before) || is_digit(before))) return false;
  const bool is_plural = name[at + 1] == 's' && (at + 2 == name.size() || !is_lower(name[at + 2]));
  return !is_plural;
}

}  // namespace

bool is_keyword(std::string_view text) noexcept {
  return std::ranges::find(kKeywords, text) != kKeywords.end() && !text.empty();
}

bool is_identifier(std::string_view text) noexcept {
  if (text.empty() || is_digit(text.front()) || is_keyword(text)) return false;
  return std::ranges::all_of(
      text, [](char c) { return c == '_' || is_lower(c) || is_upper(c) || is_digit(c); });
}

std::string snake_case(std::string_view name) {
  std::string word;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (!is_lower(c) && !is_upper(c) && !is_digit(c)) {
      if (!word.empty() && word.back() != '_') word += '_';
      continue;
    }
    if (begins_word(name, at) && !word.empty() && word.back() != '_') word += '_';
    word += lower(c);
  }
  if (!word.empty() && word.back() == '_') word.pop_back();
  return word;
}

std::string upper_case(std::string_view text) {
  std::string name;
  for (const char c : text) name += upper(c);
  return name;
}

std::string camel_case(std::string_view word) {
  std::string name;
  bool begins = true;
  for (const char c : word) {
    if (c == '_') {
      begins = true;
      continue;
    }
    name += begins ? upper(c) : c;
    begins = false;
  }
  return name;
}

}  // namespace meterbank::generator
