// SPDX-License-Identifier: Apache-2.0
//
// The rows that a condition is about, sample by sample.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/check/condition.hpp"
#include "cli/derive/derivation.hpp"
#include "cli/session/selection.hpp"

namespace meterbank::cli {

class ConditionRows {
 public:
  // Adds what the condition reads to the paths of `options`. Errors are usage errors.
  [[nodiscard]] static Result<ConditionRows> prepare(Condition condition,
                                                     SelectionOptions& options);

  [[nodiscard]] const Condition& condition() const noexcept { return condition_; }
  // What it reads, each with the provider that was asked for.
  [[nodiscard]] const std::vector<std::string>& patterns() const noexcept { return patterns_; }

  // Hands over the rows of the sample that was taken last. They are valid during the call.
  // Percentiles are those of the time since the sample before, and have no value without one.
  void each(const Sampler& sampler, const Selection& selection, ValueSink take);
  // The last rows were to be percentiles, and what the path names is not a distribution.
  [[nodiscard]] bool lacks_distribution() const noexcept { return lacks_distribution_; }
  // Whose counters it reads now.
  [[nodiscard]] std::vector<const ProviderView*> providers(const Selection& selection) const;
  // Of other users, whose rows its last rows left out.
  [[nodiscard]] NotInTotals not_in_totals() const { return derivation_.not_in_totals(); }

 private:
  ConditionRows(Condition condition, std::vector<std::string> patterns, Derivation derivation,
                std::vector<std::string> excluded)
      : condition_(std::move(condition)),
        patterns_(std::move(patterns)),
        derivation_(std::move(derivation)),
        excluded_(std::move(excluded)) {}

  Condition condition_;
  std::vector<std::string> patterns_;
  Derivation derivation_;
  std::vector<std::string> excluded_;
  bool lacks_distribution_ = false;
};

}  // namespace meterbank::cli
