// SPDX-License-Identifier: Apache-2.0
//
// One number of two recordings: how it changed, and between which ends the change lies.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <variant>

#include "compare/statistics/block_histograms.hpp"
#include "compare/statistics/block_sums.hpp"
#include "compare/statistics/long_run.hpp"

namespace meterbank::compare {

// Why two numbers cannot be compared.
enum class NoContrast : std::uint8_t {
  kTooFewSamples,
  kWanders,        // it moves so slowly that the recordings have few independent parts
  kTooFewValues,   // of a percentile
  kBeyondBuckets,  // the percentile, or an end of its range
};

// Student's t for one probability, by degrees of freedom. It remembers what it has computed.
class CriticalT {
 public:
  explicit CriticalT(double probability) : probability_(probability) {}
  [[nodiscard]] double of(double freedom);

 private:
  double probability_;
  std::map<int, double> known_;
};

// Relative, 0.05 for 5 % more; infinite where it may be anything.
struct Change {
  double low = 0, middle = 0, high = 0;

  [[nodiscard]] bool is_certain() const noexcept { return low > 0 || high < 0; }
};

// As `middle` of a Change.
[[nodiscard]] double relative_change(double a, double b);

// Two means. `slack` is by how much each may be wrong for another reason than chance, as a share of
// itself: the samples at its ends took time to read.
class MeanContrast {
 public:
  static std::variant<MeanContrast, NoContrast> of(const BlockSums& a, const BlockSums& b,
                                                   double slack_a, double slack_b);
  [[nodiscard]] double a() const noexcept { return a_; }
  [[nodiscard]] double b() const noexcept { return b_; }
  // After Fieller: of a ratio whose denominator is uncertain, too. 0 is within it just where the
  // difference of both is within its own range.
  [[nodiscard]] Change change(CriticalT& critical) const;

 private:
  double a_ = 0, b_ = 0, slack_a_ = 0, slack_b_ = 0;
  LongRun spread_;
};

// Two percentiles. The share of values below one has a range like that of a mean; the values at the
// ends of that range are the ends of the percentile's. Both ranges are put together as in MOVER
// (Zou and Donner 2008), which leaves them as lopsided as they are.
class QuantileContrast {
 public:
  static std::variant<QuantileContrast, NoContrast> of(const BlockHistograms& a,
                                                       const BlockHistograms& b, double share);
  [[nodiscard]] double a() const noexcept { return a_; }
  [[nodiscard]] double b() const noexcept { return b_; }
  // Nothing: an end is where there are no values.
  [[nodiscard]] std::optional<Change> change(CriticalT& critical) const;

 private:
  const BlockHistograms *from_a_ = nullptr, *from_b_ = nullptr;
  double share_ = 0, a_ = 0, b_ = 0;
  LongRun spread_;
};

}  // namespace meterbank::compare
