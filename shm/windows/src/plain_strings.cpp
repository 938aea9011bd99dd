// SPDX-License-Identifier: Apache-2.0
//
// lstrcmp and lstrlen, which programs without a C library call.
#include <compare>
#include <cstddef>
#include <string_view>

#include "meterbank/shm/case_fold.hpp"
#include "meterbank/windows/utf16_functions.h"

namespace {

// A unit that is part of a pair has no fold of its own, and pairs are compared unit by unit.
template <typename Character>
int compare(const Character* left, const Character* right, bool folds) noexcept {
  if (left == nullptr || right == nullptr) {
    return left == right ? 0 : left == nullptr ? -1 : 1;
  }
  for (;; ++left, ++right) {
    auto first = static_cast<char32_t>(*left);
    auto second = static_cast<char32_t>(*right);
    if (folds) {
      first = meterbank::fold_code_point(first);
      second = meterbank::fold_code_point(second);
    }
    if (first != second) return first < second ? -1 : 1;
    if (first == 0) return 0;
  }
}

int sign(std::strong_ordering order) noexcept { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Narrow text is UTF-8, whose bytes are in the order of their code points.
int compare_narrow(const char* left, const char* right, bool folds) noexcept {
  if (left == nullptr || right == nullptr) {
    return left == right ? 0 : left == nullptr ? -1 : 1;
  }
  const std::string_view first(left);
  const std::string_view second(right);
  return sign(folds ? meterbank::compare_folded(first, second) : first <=> second);
}

template <typename Character>
int length(const Character* text) noexcept {
  int count = 0;
  while (text != nullptr && text[count] != 0) ++count;
  return count;
}

}  // namespace

extern "C" {

int lstrcmpA(LPCSTR left, LPCSTR right) { return compare_narrow(left, right, false); }
int lstrcmpW(LPCWSTR left, LPCWSTR right) { return compare(left, right, false); }
int meterbank_utf16_lstrcmpW(const char16_t* left, const char16_t* right) {
  return compare(left, right, false);
}
int lstrcmpiA(LPCSTR left, LPCSTR right) { return compare_narrow(left, right, true); }
int lstrcmpiW(LPCWSTR left, LPCWSTR right) { return compare(left, right, true); }
int meterbank_utf16_lstrcmpiW(const char16_t* left, const char16_t* right) {
  return compare(left, right, true);
}
int lstrlenA(LPCSTR text) { return length(text); }
int lstrlenW(LPCWSTR text) { return length(text); }
int meterbank_utf16_lstrlenW(const char16_t* text) { return length(text); }

}  // extern "C"
