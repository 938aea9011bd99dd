// SPDX-License-Identifier: Apache-2.0
//
// A distribution as Prometheus' native histogram, bucket by bucket.
//
// Its scale is the histogram's schema. Bucket i of a distribution holds (base^i, base^(i+1)], which
// is bucket i + 1 there. Values below the range are in the zero bucket, whose threshold is the
// lower end of the range. Values above it are in the bucket of infinity, behind that of the largest
// double: they are known to be larger than the range, and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "meterbank/shm/distribution.hpp"

namespace meterbank::exposition {

struct NativeHistogram {
  struct Span {
    std::int32_t offset = 0;  // buckets between this span and the end of the last; first: an index
    std::uint32_t length = 0;
  };
  std::int32_t schema = 0;
  double zero_threshold = 0;
  std::uint64_t zero_count = 0;
  std::vector<Span> spans;
  std::vector<std::int64_t> deltas;  // each bucket of the spans, less the bucket before

  // Uses the memory of the last one again.
  void assign(const Distribution& distribution);

 private:
  void add(std::int32_t index, std::uint64_t count);

  std::int32_t next_ = 0;  // index behind the last span
  std::int64_t last_ = 0;
};

}  // namespace meterbank::exposition
