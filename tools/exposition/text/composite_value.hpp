// SPDX-License-Identifier: Apache-2.0
//
// Values of several numbers in OpenMetrics 2.0, for which 1.0 has a line a number:
//
//   {count:3,sum:0.5,schema:3,zero_threshold:0.001,zero_count:0,positive_spans:[-20:2],
//    positive_buckets:[1,2],bucket:[0.1:1,+Inf:3]}
//
// Source: the grammar of OpenMetrics 2.0.0-rc0, "composite-value".
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "exposition/histogram/native_histogram.hpp"
#include "exposition/page/number.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::exposition {

class CompositeValues {
 public:
  // `bounds`: upper ends of classic buckets, which are left out where there are none.
  explicit CompositeValues(std::span<const double> bounds);

  void append_histogram(std::string& out, const Distribution& distribution);

 private:
  void append_native(std::string& out, const Distribution& distribution);

  std::span<const double> bounds_;
  NativeHistogram native_;
};

// Without quantiles, which the values of two samples do not have.
void append_summary(std::string& out, const Number& count, const Number& sum);

}  // namespace meterbank::exposition
