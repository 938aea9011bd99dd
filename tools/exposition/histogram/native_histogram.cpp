// SPDX-License-Identifier: Apache-2.0
#include "exposition/histogram/native_histogram.hpp"

#include <limits>

namespace meterbank::exposition {

void NativeHistogram::assign(const Distribution& distribution) {
  const DistributionShape& shape = distribution.shape;
  schema = shape.scale;
  zero_threshold = bucket_bound(shape.first, shape.scale);
  zero_count = distribution.below;
  spans.clear();
  deltas.clear();
  next_ = 0;
  last_ = 0;
  for (std::size_t bucket = 0; bucket < distribution.buckets.size(); ++bucket) {
    add(shape.first + static_cast<std::int32_t>(bucket) + 1, distribution.buckets[bucket]);
  }
  const std::int32_t largest = bucket_index(std::numeric_limits<double>::max(), shape.scale) + 1;
  add(largest + 1, distribution.above);
}

// Empty buckets cost a byte each in a span, and a span costs about four.
void NativeHistogram::add(std::int32_t index, std::uint64_t count) {
  constexpr std::int32_t kGapMax = 2;
  if (count == 0) return;
  const std::int32_t gap = index - next_;
  const auto append = [this](std::int64_t value) {
    deltas.push_back(value - last_);
    last_ = value;
  };
  if (spans.empty() || gap > kGapMax) {
    spans.push_back({gap, 0});
  } else {
    for (std::int32_t empty = 0; empty < gap; ++empty) append(0);
    spans.back().length += static_cast<std::uint32_t>(gap);
  }
  append(static_cast<std::int64_t>(count));
  ++spans.back().length;
  next_ = index + 1;
}

}  // namespace meterbank::exposition
