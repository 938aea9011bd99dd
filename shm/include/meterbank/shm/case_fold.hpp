// SPDX-License-Identifier: Apache-2.0
//
// When two names are the same name.
//
// Names keep the case they were given and are compared by Unicode simple case folding from a fixed
// table, never by the locale: a provider in Istanbul and a reader in Oslo must agree. One code
// point folds to one code point, so a sharp s is not "ss", and the dotted capital and the dotless
// small i of Turkish are neither "I" nor "i"; the Kelvin sign is "k", and both small Greek sigmas
// are one. No normalisation takes place.
//
// Every function is total. A byte that is not part of valid UTF-8 stands for itself alone, equal to
// the same byte only, so damaged names stay apart.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank {

[[nodiscard]] char32_t fold_code_point(char32_t code_point) noexcept;

// Walks the folded code points of a text. A byte outside valid UTF-8 is given as kInvalidByte plus
// its value, which lies above every code point.
class FoldCursor {
 public:
  static constexpr char32_t kInvalidByte = 0x110000;

  explicit FoldCursor(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  // Precondition: not done().
  char32_t next() noexcept;
  // What next() has not yet consumed.
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

// May grow the text: a few code points fold to one that takes a byte more.
void fold_append(std::string_view text, std::string& out);

// True exactly if both fold to the same text. Allocates nothing.
[[nodiscard]] bool equal_folded(std::string_view left, std::string_view right) noexcept;

// Orders by folded code points; `equal` exactly if equal_folded.
[[nodiscard]] std::strong_ordering compare_folded(std::string_view left,
                                                  std::string_view right) noexcept;

// Equal for texts that are equal_folded, and the same in every process. Eight bytes of ASCII at a
// time, no allocation. Names that fall together are easy to find, whatever the seed: for tables of
// strangers' names there is KeyedFoldedHash.
[[nodiscard]] std::uint64_t folded_hash(std::string_view text, std::uint64_t seed = 0) noexcept;

// For std::unordered_map<std::string, T, FoldedHash, FoldedEqual>, looked up by string_view.
struct FoldedHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
    return static_cast<std::size_t>(folded_hash(text));
  }
};

// The same for a table whose names come from strangers, who must not be able to choose names that
// fall together: a polynomial over a prime field, with a point drawn once a process.
struct KeyedFoldedHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept;
};

struct FoldedEqual {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const noexcept {
    return equal_folded(left, right);
  }
};
// For ordered containers and sorting.
struct FoldedLess {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const noexcept {
    return compare_folded(left, right) < 0;
  }
};

}  // namespace meterbank
