// SPDX-License-Identifier: Apache-2.0
//
// A distribution: how often values of which size occurred, in exponential buckets.
//
// ---- Buckets ------------------------------------------------------------------------------------
//
// At scale s a factor of two is divided into 2^s buckets that are equally wide on a logarithmic
// axis. Bucket i holds (base^i, base^(i+1)] with base = 2^(2^-s): the buckets of OpenTelemetry's
// exponential histograms and of Prometheus' native ones, index for index.
//
//   scale 1:    1          1.41          2          2.83          4          5.66         8
//               |  i = 0   ]   i = 1     ]   i = 2  ]   i = 3     ]   i = 4  ]   i = 5    ]
//   scale 0:    |  i = 0                 ]   i = 1                ]   i = 2               ]
//
// Two buckets of one scale are one of the scale below, so distributions of different scales can be
// added without loss of meaning: the finer gives way.
//
// ---- Words --------------------------------------------------------------------------------------
//
//   the counter's own    behind the words of all counters
//   +------+             +----+------+-----+------+------+--------+---------+-- --+
//   |count |             |sum |least |most |below |above |refused |bucket 0 | ... |
//   +------+             +----+------+-----+------+------+--------+---------+-- --+
//   own                  more
//
// Rule: count = below + above + the sum of all buckets. `below` are values up to the lower end of
// the first bucket, zero and negative ones among them; `above` are those beyond the upper end of
// the last, infinity among them. NaN is refused: counted there and nowhere else. The words belong
// to one block, so a snapshot has all of them of one moment and the rule holds in each.
//
// Sum, least and most are doubles, as bits; the sum is that of the finite values. All words but
// least and most only grow, or, as the sum does, go on from where they were: the difference of two
// snapshots is the distribution between them.
//
// Sources: OpenTelemetry metrics data model, exponential histogram; Prometheus native histograms.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "meterbank/shm/block_parts.hpp"

namespace meterbank {

inline constexpr std::int32_t kScaleMin = -4;
inline constexpr std::int32_t kScaleMax = 8;

namespace detail {

inline constexpr std::size_t kFinestBuckets = std::size_t{1} << kScaleMax;  // of a factor of two
inline constexpr unsigned kMantissaBits = 52;

// The integer square root of a 124-bit number whose square root fits 62 bits.
__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t root_of(Wide square) noexcept {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 1) {
    const std::uint64_t candidate = root | bit;
    if (Wide{candidate} * candidate <= square) root = candidate;
  }
  return root;
}

// Mantissas of 2^(k/256), rounded down. What lies above the boundary has a greater mantissa, for no
// boundary but the first is a rational number.
struct Boundaries {
  std::array<std::uint64_t, kFinestBuckets + 2> mantissa{};  // two more that no mantissa reaches
  // How many boundaries lie below the k-th 256th of the mantissas; the others are at most two away.
  std::array<std::uint16_t, kFinestBuckets> below{};

  constexpr Boundaries() noexcept {
    constexpr unsigned kPoint = 61;                // fixed point
    std::array<std::uint64_t, kScaleMax> roots{};  // 2^(1/2), 2^(1/4), ...
    std::uint64_t power = std::uint64_t{2} << kPoint;
    for (std::uint64_t& root : roots) root = power = root_of(Wide{power} << kPoint);
    for (std::size_t k = 0; k < kFinestBuckets; ++k) {
      Wide product = Wide{1} << kPoint;
      for (std::size_t bit = 0; bit < roots.size(); ++bit) {
        if ((k >> (kScaleMax - 1 - bit) & 1) != 0) product = product * roots[bit] >> kPoint;
      }
      const auto fraction = static_cast<std::uint64_t>(product - (Wide{1} << kPoint));
      mantissa[k] = fraction >> (kPoint - kMantissaBits);
    }
    mantissa[kFinestBuckets] = mantissa[kFinestBuckets + 1] = UINT64_MAX;
    std::size_t count = 0;
    for (std::size_t slot = 0; slot < kFinestBuckets; ++slot) {
      const std::uint64_t start = std::uint64_t{slot} << (kMantissaBits - kScaleMax);
      while (mantissa[count] < start) ++count;
      below[slot] = static_cast<std::uint16_t>(count);
    }
  }
};
inline constexpr Boundaries kBoundaries;
static_assert(kBoundaries.mantissa[0] == 0);
static_assert(kBoundaries.mantissa[128] == 0x6a09e667f3bcc, "the square root of two");

// Whether finest_index() has to look at two boundaries and no more.
constexpr bool are_two_away_at_most(const Boundaries& boundaries) noexcept {
  std::size_t next = kFinestBuckets;
  for (std::size_t slot = kFinestBuckets; slot-- > 0; next = boundaries.below[slot]) {
    if (next - boundaries.below[slot] > 2) return false;
  }
  return next == 0;
}
static_assert(are_two_away_at_most(kBoundaries));

// Index at kScaleMax. Precondition: positive and finite.
constexpr std::int32_t finest_index(double value) noexcept {
  constexpr std::int32_t kBias = 1023;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  std::int32_t shift = 0;
  if (bits >> kMantissaBits == 0) {  // subnormal: the same number with a normal exponent
    constexpr double kLift = 0x1p64;
    bits = std::bit_cast<std::uint64_t>(value * kLift);
    shift = 64;
  }
  const auto exponent = static_cast<std::int32_t>(bits >> kMantissaBits) - kBias - shift;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  std::size_t count = kBoundaries.below[mantissa >> (kMantissaBits - kScaleMax)];
  // Without a branch: which of the neighbouring buckets it is, no processor can foresee.
  const bool is_beyond_first = kBoundaries.mantissa[count] < mantissa;
  const bool is_beyond_second = kBoundaries.mantissa[count + 1] < mantissa;
  count += std::size_t{is_beyond_first} + std::size_t{is_beyond_second};
  return exponent * static_cast<std::int32_t>(kFinestBuckets) + static_cast<std::int32_t>(count) -
         1;
}

}  // namespace detail

// Of a positive, finite value.
[[nodiscard]] constexpr std::int32_t bucket_index(double value, std::int32_t scale) noexcept {
  return detail::finest_index(value) >> (kScaleMax - scale);
}

// base^index. Zero and infinity where a double ends.
[[nodiscard]] double bucket_bound(std::int32_t index, std::int32_t scale) noexcept;

// Where the words of one distribution are, and which values it tells apart.
struct DistributionShape {
  // Behind `more`; the count is the counter's own word.
  enum Word : std::uint32_t { kSum, kLeast, kMost, kBelow, kAbove, kRefused, kBuckets };

  std::int32_t scale = 0;
  std::int32_t first = 0;  // index of the first bucket
  std::uint32_t buckets = 0;

  // Buckets for all values from `least` to `most`. Nothing: 0 < least <= most does not hold, the
  // scale is out of range, or there would be more than `buckets_max`.
  static constexpr std::optional<DistributionShape> of(std::int32_t scale, double least,
                                                       double most,
                                                       std::uint32_t buckets_max) noexcept {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const bool is_range = least > 0 && least <= most && most < kInfinity;
    if (scale < kScaleMin || scale > kScaleMax || !is_range) return std::nullopt;
    const std::int32_t first = bucket_index(least, scale);
    const std::int32_t last = bucket_index(most, scale);
    const auto buckets = static_cast<std::uint32_t>(last - first) + 1;
    if (buckets > buckets_max) return std::nullopt;
    return DistributionShape{scale, first, buckets};
  }

  [[nodiscard]] constexpr std::uint32_t more_words() const noexcept { return kBuckets + buckets; }

  // The word that a value is counted in.
  [[nodiscard]] constexpr std::uint32_t word_of(double value) const noexcept {
    if (value != value) return kRefused;
    if (value <= 0) return kBelow;
    if (value > std::numeric_limits<double>::max()) return kAbove;
    const std::int32_t index = bucket_index(value, scale);
    if (index < first) return kBelow;
    const auto position = static_cast<std::uint32_t>(index - first);
    return position < buckets ? kBuckets + position : kAbove;
  }

  friend constexpr bool operator==(const DistributionShape&, const DistributionShape&) = default;
};
static_assert(DistributionShape::kSum == 0);
static_assert(DistributionShape::kLeast == 1);
static_assert(DistributionShape::kMost == 2);
static_assert(DistributionShape::kBelow == 3);
static_assert(DistributionShape::kAbove == 4);
static_assert(DistributionShape::kRefused == 5);
static_assert(DistributionShape::kBuckets == 6);

// Where the words of one distribution lie in a block.
struct DistributionPlace {
  DistributionShape shape;
  std::uint32_t own = 0;   // the count
  std::uint32_t more = 0;  // the others, in a row
};

// One value as the words that it changes: at most six. `value_of(word)` says what is there now.
template <typename ValueOf>
constexpr WordList<6> changes_of(const DistributionPlace& place, double value,
                                 ValueOf&& value_of) noexcept {
  using Shape = DistributionShape;
  WordList<6> changes;
  const std::uint32_t counted = place.more + place.shape.word_of(value);
  changes.add(counted, value_of(counted) + 1);
  if (counted == place.more + Shape::kRefused) return changes;
  const auto real_at = [&](std::uint32_t word) {
    return std::bit_cast<double>(value_of(place.more + word));
  };
  const auto put = [&](std::uint32_t word, double real) {
    changes.add(place.more + word, std::bit_cast<std::uint64_t>(real));
  };
  const std::uint64_t count = value_of(place.own);
  changes.add(place.own, count + 1);
  if (value - value == 0) put(Shape::kSum, real_at(Shape::kSum) + value);  // finite
  if (count == 0 || value < real_at(Shape::kLeast)) put(Shape::kLeast, value);
  if (count == 0 || value > real_at(Shape::kMost)) put(Shape::kMost, value);
  return changes;
}

// A value that a share of the recorded ones does not exceed.
struct Quantile {
  enum class Side : std::uint8_t {
    kWithin,  // `value` is it to within error_bound(), as a share of itself
    kBelow,   // it is not greater than `value`, the end of the range
    kAbove,   // it is greater than `value`, the end of the range
  };

  double value = 0;
  Side side = Side::kWithin;
};

// A distribution that was copied, added up, or is the difference of two.
struct Distribution {
  DistributionShape shape;
  std::uint64_t count = 0;
  double sum = 0;
  // Nothing: no value, or they are not known: of a difference, and of the first value in a block
  // that threads share, for a moment.
  std::optional<double> least, most;
  std::uint64_t below = 0, above = 0, refused = 0;
  std::vector<std::uint64_t> buckets;

  // Of a copied block. Nothing: it is too short, or breaks the rule that the parts make up the
  // count.
  static std::optional<Distribution> of(const DistributionPlace& place,
                                        std::span<const std::uint64_t> block);
  // The same into this one, whose memory is used again. False: nothing of it counts.
  [[nodiscard]] bool read(const DistributionPlace& place, std::span<const std::uint64_t> block);

  // Both as if they had been recorded in one, at the coarser scale and over both ranges. What one
  // of them only knows to lie below or above stays there.
  void add(const Distribution& other);
  // What was recorded since `before`, a snapshot of the same distribution. Nothing: it is not one.
  [[nodiscard]] std::optional<Distribution> since(const Distribution& before) const;
  // The same in place. False: nothing of this one counts any more.
  [[nodiscard]] bool subtract(const Distribution& before);

  // Of a share of 0..1. The least and the most are exact where they are known. Nothing: there are
  // no values.
  [[nodiscard]] std::optional<Quantile> quantile(double share) const noexcept;
  [[nodiscard]] double error_bound() const noexcept;
};

}  // namespace meterbank
