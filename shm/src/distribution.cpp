// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace meterbank {
namespace {

using Shape = DistributionShape;

std::uint64_t total_of(const std::vector<std::uint64_t>& buckets) noexcept {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

// The same values at a coarser scale, over at least this range.
std::vector<std::uint64_t> spread(const Distribution& from, const Shape& to) {
  std::vector<std::uint64_t> buckets(to.buckets);
  const std::int32_t shift = from.shape.scale - to.scale;
  for (std::uint32_t position = 0; position < from.shape.buckets; ++position) {
    const std::int32_t index = (from.shape.first + static_cast<std::int32_t>(position)) >> shift;
    buckets[static_cast<std::size_t>(index - to.first)] += from.buckets[position];
  }
  return buckets;
}

Shape common_shape(const Shape& left, const Shape& right) noexcept {
  const std::int32_t scale = std::min(left.scale, right.scale);
  const auto first_of = [scale](const Shape& shape) {
    return shape.first >> (shape.scale - scale);
  };
  const auto last_of = [scale](const Shape& shape) {
    return (shape.first + static_cast<std::int32_t>(shape.buckets) - 1) >> (shape.scale - scale);
  };
  const std::int32_t first = std::min(first_of(left), first_of(right));
  const std::int32_t last = std::max(last_of(left), last_of(right));
  return {scale, first, static_cast<std::uint32_t>(last - first) + 1};
}

template <typename Choose>
std::optional<double> chosen(std::optional<double> left, std::optional<double> right,
                             Choose&& choose) noexcept {
  if (!left) return right;
  if (!right) return left;
  return choose(*left, *right);
}

}  // namespace

double bucket_bound(std::int32_t index, std::int32_t scale) noexcept {
  // Whole factors of two first, because 2^(index / 2^scale) would round twice.
  const std::int32_t finest = kScaleMax - scale;
  const std::int64_t at_finest = std::int64_t{index} * (std::int64_t{1} << finest);
  const auto exponent = static_cast<int>(at_finest >> kScaleMax);
  const auto fraction =
      static_cast<double>(at_finest & static_cast<std::int64_t>(detail::kFinestBuckets - 1));
  return std::ldexp(std::exp2(fraction / static_cast<double>(detail::kFinestBuckets)), exponent);
}

std::optional<Distribution> Distribution::of(const DistributionPlace& place,
                                             std::span<const std::uint64_t> block) {
  Distribution copy;
  if (!copy.read(place, block)) return std::nullopt;
  return copy;
}

bool Distribution::read(const DistributionPlace& place, std::span<const std::uint64_t> block) {
  const bool fits = place.own < block.size() && place.more <= block.size() &&
                    place.shape.more_words() <= block.size() - place.more;
  if (!fits) return false;
  const auto words = block.subspan(place.more);
  shape = place.shape;
  count = block[place.own];
  sum = std::bit_cast<double>(words[Shape::kSum]);
  below = words[Shape::kBelow];
  above = words[Shape::kAbove];
  refused = words[Shape::kRefused];
  least = most = std::nullopt;
  if (count != 0) {
    const auto lowest = std::bit_cast<double>(words[Shape::kLeast]);
    const auto highest = std::bit_cast<double>(words[Shape::kMost]);
    // Where threads share a block, the first value may be in its bucket and not in these as yet.
    if (lowest <= highest) {
      least = lowest;
      most = highest;
    }
  }
  const auto counts = words.subspan(Shape::kBuckets, shape.buckets);
  buckets.assign(counts.begin(), counts.end());
  // Modulo 2^64, as everything here counts.
  return below + above + total_of(buckets) == count;
}

void Distribution::add(const Distribution& other) {
  if (other.shape == shape) {
    std::transform(buckets.begin(), buckets.end(), other.buckets.begin(), buckets.begin(),
                   std::plus<>());
  } else {
    const Shape common = common_shape(shape, other.shape);
    buckets = spread(*this, common);
    const std::vector<std::uint64_t> more = spread(other, common);
    std::transform(buckets.begin(), buckets.end(), more.begin(), buckets.begin(), std::plus<>());
    shape = common;
  }
  // One whose extremes are not known, though it has values, leaves the sum without them.
  const bool known = (count == 0 || least) && (other.count == 0 || other.least);
  least = known ? chosen(least, other.least, [](double a, double b) { return std::min(a, b); })
                : std::nullopt;
  most = known ? chosen(most, other.most, [](double a, double b) { return std::max(a, b); })
               : std::nullopt;
  count += other.count;
  sum += other.sum;
  below += other.below;
  above += other.above;
  refused += other.refused;
}

std::optional<Distribution> Distribution::since(const Distribution& before) const {
  Distribution between = *this;
  if (!between.subtract(before)) return std::nullopt;
  return between;
}

bool Distribution::subtract(const Distribution& before) {
  if (before.shape != shape) return false;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] < before.buckets[i]) return false;
    buckets[i] -= before.buckets[i];
  }
  count -= before.count;
  sum -= before.sum;
  below -= before.below;
  above -= before.above;
  refused -= before.refused;
  if (before.count != 0) least = most = std::nullopt;
  return true;
}

std::optional<Quantile> Distribution::quantile(double share) const noexcept {
  if (count == 0) return std::nullopt;
  const double clamped = std::clamp(share, 0.0, 1.0);
  // The rank of the value, from 1: the smallest that has at least this share at or below it.
  const double exact = std::ceil(clamped * static_cast<double>(count));
  const std::uint64_t rank = exact < 1 ? 1 : std::min(count, static_cast<std::uint64_t>(exact));
  if (rank == 1 && least) return Quantile{*least};
  if (rank == count && most) return Quantile{*most};
  const std::int32_t end = shape.first + static_cast<std::int32_t>(shape.buckets);
  if (rank <= below)
    return Quantile{bucket_bound(shape.first, shape.scale), Quantile::Side::kBelow};
  std::uint64_t seen = below;
  for (std::int32_t index = shape.first; index < end; ++index) {
    seen += buckets[static_cast<std::size_t>(index - shape.first)];
    if (seen < rank) continue;
    const double low = bucket_bound(index, shape.scale);
    const double high = bucket_bound(index + 1, shape.scale);
    // As far from the one end as from the other, as a share of each.
    double value = 2 / (1 / low + 1 / high);
    if (least) value = std::max(value, *least);
    if (most) value = std::min(value, *most);
    return Quantile{value};
  }
  return Quantile{bucket_bound(end, shape.scale), Quantile::Side::kAbove};
}

double Distribution::error_bound() const noexcept {
  const double base = bucket_bound(1, shape.scale);
  return (base - 1) / (base + 1);
}

}  // namespace meterbank
