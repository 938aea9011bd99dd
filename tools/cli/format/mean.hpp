// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace meterbank::cli {

// The mean of finite numbers, whose sum may be larger than any double.
class Mean {
 public:
  void add(double value) noexcept {
    sum_ += value;
    small_sum_ += value * kSmall;
    ++count_;
  }
  // Precondition: a number was added.
  [[nodiscard]] double value() const noexcept {
    if (std::isfinite(sum_)) return sum_ / count_;
    constexpr double kMost = std::numeric_limits<double>::max();
    return std::clamp(small_sum_ / count_ / kSmall, -kMost, kMost);
  }

 private:
  static constexpr double kSmall = 0x1p-60;

  double sum_ = 0;
  double small_sum_ = 0;  // of the numbers times kSmall
  double count_ = 0;
};

}  // namespace meterbank::cli
