// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/case_fold.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "../eight_bytes.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

struct FoldRange {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t distance;
};

constexpr FoldRange kFoldRanges[] = {
#include "case_fold_table.inc"
};

// The ranges are what a person can review; this is what a look-up wants: two loads. Pages without a
// folding share page 0. A distance is kept modulo 2^16, since no folding leaves its plane.
constexpr std::size_t kPageBits = 7;
constexpr std::size_t kPageSize = std::size_t{1} << kPageBits;
constexpr char32_t kFoldedMax = std::end(kFoldRanges)[-1].last;
constexpr std::size_t kPageIndexSize = (kFoldedMax >> kPageBits) + 1;

using PageIndex = std::array<std::uint8_t, kPageIndexSize>;

constexpr bool no_folding_leaves_its_plane() {
  for (const FoldRange& range : kFoldRanges) {
    for (const char32_t end : {range.first, range.last}) {
      const auto folded = static_cast<char32_t>(static_cast<std::int32_t>(end) + range.distance);
      if ((folded >> 16U) != (end >> 16U)) return false;
    }
  }
  return true;
}
static_assert(no_folding_leaves_its_plane());

constexpr PageIndex number_pages() {
  PageIndex index{};
  std::uint8_t pages = 1;
  for (const FoldRange& range : kFoldRanges) {
    for (char32_t code_point = range.first; code_point <= range.last; code_point += range.step) {
      std::uint8_t& page = index[code_point >> kPageBits];
      if (page == 0) page = pages++;
    }
  }
  return index;
}
constexpr PageIndex kPageIndex = number_pages();
constexpr std::size_t kPages = 1U + *std::max_element(kPageIndex.begin(), kPageIndex.end());

using Distances = std::array<std::uint16_t, kPages * kPageSize>;

constexpr Distances fill_pages() {
  Distances distances{};
  for (const FoldRange& range : kFoldRanges) {
    for (char32_t code_point = range.first; code_point <= range.last; code_point += range.step) {
      const std::size_t page = kPageIndex[code_point >> kPageBits];
      distances[page * kPageSize + code_point % kPageSize] =
          static_cast<std::uint16_t>(range.distance & 0xFFFF);
    }
  }
  return distances;
}
constexpr Distances kDistances = fill_pages();

constexpr std::size_t kWordSize = sizeof(std::uint64_t);

template <typename Word>
[[nodiscard]] std::uint64_t load(const char* bytes) noexcept {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  if constexpr (std::endian::native == std::endian::big && sizeof(word) == 8) {
    return __builtin_bswap64(word);
  } else if constexpr (std::endian::native == std::endian::big) {
    return __builtin_bswap32(word);
  }
  return word;
}

// The first `size` bytes of `text` with the first one lowest, whatever the byte order of the
// machine. The ends of names are short, and a call to memcpy would cost more than the rest of a
// look-up; so two loads that overlap take its place. Precondition: 1 <= size <= 8 and size <=
// text.size().
[[nodiscard]] std::uint64_t load_bytes(std::string_view text, std::size_t size) noexcept {
  const char* const bytes = text.data();
  if (size == kWordSize) return load<std::uint64_t>(bytes);
  if (size >= 4) {
    const std::uint64_t high = load<std::uint32_t>(bytes + size - 4);
    return load<std::uint32_t>(bytes) | (high << (8U * (size - 4)));
  }
  const auto byte = [bytes](std::size_t offset) -> std::uint64_t {
    return static_cast<unsigned char>(bytes[offset]);
  };
  // One to three bytes: first, middle and last, which may coincide.
  return byte(0) | (byte(size / 2) << (8U * (size / 2))) | (byte(size - 1) << (8U * (size - 1)));
}

// A to Z to a to z in eight bytes at once. Precondition: every byte is ASCII, so that no sum below
// carries into its neighbour.
[[nodiscard]] constexpr std::uint64_t fold_ascii(std::uint64_t word) noexcept {
  const std::uint64_t from_a = word + kEachByte * (0x80U - 'A');
  const std::uint64_t beyond_z = word + kEachByte * (0x7FU - 'Z');
  return word | (((from_a ^ beyond_z) & kHighBits) >> 2U);
}

void append_bytes(std::uint64_t bytes, std::size_t size, std::string& out) {
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  std::array<char, kWordSize> buffer{};
  std::memcpy(buffer.data(), &bytes, kWordSize);
  out.append(buffer.data(), size);
}

struct FoldedUnit {
  std::uint64_t bytes;  // first byte lowest
  unsigned size;        // 1 to 4
};

// The bytes that the front of `text` folds to; removes them from `text`. Precondition: not empty.
[[nodiscard]] FoldedUnit take_folded_unit(std::string_view& text) noexcept {
  const DecodedCodePoint decoded = decode_utf8(text);
  if (!decoded.valid) {
    const FoldedUnit unit{static_cast<unsigned char>(text.front()), 1};
    text.remove_prefix(1);
    return unit;
  }
  text.remove_prefix(decoded.length);
  const std::uint64_t folded = fold_code_point(decoded.code_point);
  if (folded < 0x80) return {folded, 1};
  const std::uint64_t last = 0x80U | (folded & 0x3FU);
  if (folded < 0x800) return {(0xC0U | (folded >> 6U)) | (last << 8U), 2};
  const std::uint64_t third = 0x80U | ((folded >> 6U) & 0x3FU);
  if (folded < 0x10000) return {(0xE0U | (folded >> 12U)) | (third << 8U) | (last << 16U), 3};
  const std::uint64_t second = 0x80U | ((folded >> 12U) & 0x3FU);
  return {(0xF0U | (folded >> 18U)) | (second << 8U) | (third << 16U) | (last << 24U), 4};
}

// Joins pieces of one to eight bytes to words of eight, whatever the pieces; the last word may be
// filled up with zeros, so that the length belongs to the text.
template <typename Take>
class WordStream {
 public:
  explicit WordStream(Take& take) noexcept : take_(take) {}

  // Precondition: 1 <= size <= 8, and bytes beyond `size` are zero.
  void push(std::uint64_t bytes, unsigned size) noexcept {
    length_ += size;
    pending_ |= bytes << (8U * pending_size_);
    if (pending_size_ + size < kWordSize) {
      pending_size_ += size;
      return;
    }
    take_(pending_);
    const unsigned used = static_cast<unsigned>(kWordSize) - pending_size_;
    pending_ = used == kWordSize ? 0 : bytes >> (8U * used);
    pending_size_ = size - used;
  }

  // Returns the length in bytes.
  std::uint64_t finish() noexcept {
    if (pending_size_ != 0) take_(pending_);
    return length_;
  }

 private:
  Take& take_;
  std::uint64_t length_ = 0;
  std::uint64_t pending_ = 0;
  unsigned pending_size_ = 0;  // below 8
};

// Calls take(word) for each eight bytes of the folded text; returns the length of that text. Two
// texts that are not equal_folded differ in a word or in the length.
template <typename Take>
std::uint64_t take_folded_words(std::string_view text, Take take) noexcept {
  WordStream<Take> words(take);
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), kWordSize);
    const std::uint64_t word = load_bytes(text, size);
    const std::uint64_t foreign = word & kHighBits;
    if (foreign == 0) {
      words.push(fold_ascii(word), static_cast<unsigned>(size));
      text.remove_prefix(size);
      continue;
    }
    const auto ascii = static_cast<unsigned>(std::countr_zero(foreign)) / 8U;
    if (ascii != 0) {
      const std::uint64_t kept = (std::uint64_t{1} << (8U * ascii)) - 1U;
      words.push(fold_ascii(word & kept), ascii);
      text.remove_prefix(ascii);
    }
    const FoldedUnit unit = take_folded_unit(text);
    words.push(unit.bytes, unit.size);
  }
  return words.finish();
}

// Where the kernel has no entropy to give yet, an address: hard to know from another process.
std::uint64_t random_word() noexcept {
  std::uint64_t word = reinterpret_cast<std::uintptr_t>(&word);
  if (::getrandom(&word, sizeof word, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof word)) {
    word ^= reinterpret_cast<std::uintptr_t>(&random_word);
  }
  return word;
}

}  // namespace

char32_t fold_code_point(char32_t code_point) noexcept {
  if (code_point > kFoldedMax) return code_point;
  const std::size_t page = kPageIndex[code_point >> kPageBits];
  const char32_t distance = kDistances[page * kPageSize + code_point % kPageSize];
  return (code_point & ~char32_t{0xFFFF}) | ((code_point + distance) & 0xFFFFU);
}

char32_t FoldCursor::next() noexcept {
  const DecodedCodePoint decoded = decode_utf8(rest_);
  if (decoded.valid) {
    rest_.remove_prefix(decoded.length);
    return fold_code_point(decoded.code_point);
  }
  const auto byte = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  return kInvalidByte + byte;
}

void fold_append(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size());
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), kWordSize);
    const std::uint64_t word = load_bytes(text, size);
    if ((word & kHighBits) == 0) {
      append_bytes(fold_ascii(word), size, out);
      text.remove_prefix(size);
    } else {
      const FoldedUnit unit = take_folded_unit(text);
      append_bytes(unit.bytes, unit.size, out);
    }
  }
}

bool equal_folded(std::string_view left, std::string_view right) noexcept {
  while (!left.empty() && !right.empty()) {
    const std::size_t size = std::min({left.size(), right.size(), kWordSize});
    const std::uint64_t left_word = load_bytes(left, size);
    const std::uint64_t right_word = load_bytes(right, size);
    if (((left_word | right_word) & kHighBits) != 0) break;
    if (fold_ascii(left_word) != fold_ascii(right_word)) return false;
    left.remove_prefix(size);
    right.remove_prefix(size);
  }
  return compare_folded(left, right) == 0;
}

std::strong_ordering compare_folded(std::string_view left, std::string_view right) noexcept {
  FoldCursor left_cursor(left);
  FoldCursor right_cursor(right);
  while (!left_cursor.done() && !right_cursor.done()) {
    const auto order = left_cursor.next() <=> right_cursor.next();
    if (order != 0) return order;
  }
  return right_cursor.done() <=> left_cursor.done();
}

// The rounds and constants follow xxHash (64 bits): each round can be undone, so no word can wipe
// out what came before it.
std::uint64_t folded_hash(std::string_view text, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kFirstPrime = 0x9E3779B185EBCA87U;
  constexpr std::uint64_t kSecondPrime = 0xC2B2AE3D27D4EB4FU;
  constexpr std::uint64_t kThirdPrime = 0x165667B19E3779F9U;
  constexpr std::uint64_t kFourthPrime = 0x85EBCA77C2B2AE63U;
  constexpr std::uint64_t kFifthPrime = 0x27D4EB2F165667C5U;
  std::uint64_t state = seed + kFifthPrime;
  const std::uint64_t length = take_folded_words(text, [&state](std::uint64_t word) {
    state ^= std::rotl(word * kSecondPrime, 31) * kFirstPrime;
    state = std::rotl(state, 27) * kFirstPrime + kFourthPrime;
  });
  std::uint64_t hash = state ^ length;
  hash = (hash ^ (hash >> 33U)) * kSecondPrime;
  hash = (hash ^ (hash >> 29U)) * kThirdPrime;
  return hash ^ (hash >> 32U);
}

std::size_t KeyedFoldedHash::operator()(std::string_view text) const noexcept {
  // The halves of the words, then the length, are the coefficients of a polynomial. Two different
  // texts of n bytes meet at no more than n / 4 + 3 of the 2^61 points (Carter and Wegman), and
  // an attacker cannot know which point it is.
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;
  static const std::uint64_t point = random_word() % (kPrime - 2) + 2;
  std::uint64_t sum = 1;
  const auto add = [&sum](std::uint64_t coefficient) {
    const Wide product = static_cast<Wide>(sum) * point + coefficient;
    sum = static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61U);
    if (sum >= kPrime) sum -= kPrime;
  };
  add(take_folded_words(text, [&add](std::uint64_t word) {
    add(word & 0xFFFFFFFFU);
    add(word >> 32U);
  }));
  return static_cast<std::size_t>(sum);
}

}  // namespace meterbank
