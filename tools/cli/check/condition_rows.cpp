// SPDX-License-Identifier: Apache-2.0
#include "cli/check/condition_rows.hpp"

#include <algorithm>
#include <utility>

#include "cli/distribution/percentile_rows.hpp"

namespace meterbank::cli {

Result<ConditionRows> ConditionRows::prepare(Condition condition, SelectionOptions& options) {
  SelectionOptions own;
  own.provider = options.provider;
  own.excluded = options.excluded;
  Derivation derivation = Derivation::of_paths({}, {});
  if (condition.expression()) {
    auto prepared = Derivation::prepare({*condition.expression()}, own);
    if (!prepared) return tl::make_unexpected(prepared.error());
    derivation = *std::move(prepared);
  } else {
    own.paths = {condition.path()};
    auto paths = gather_paths(own);
    if (!paths) return tl::make_unexpected(paths.error());
    own.paths = *std::move(paths);
    derivation = Derivation::of_paths(own.paths, own.excluded);
  }
  options.paths.insert(options.paths.end(), own.paths.begin(), own.paths.end());
  return ConditionRows(std::move(condition), std::move(own.paths), std::move(derivation),
                       std::move(own.excluded));
}

void ConditionRows::each(const Sampler& sampler, const Selection& selection, ValueSink take) {
  const auto& rows = derivation_.rows(sampler, selection);
  const RowWalk walk = [&rows](ValueSink each) {
    for (const Value* const row : rows) {
      if (!each(*row)) return;
    }
  };
  if (!condition_.percentile()) return walk(take);
  PercentileRows percentiles({*condition_.percentile()});
  lacks_distribution_ = !rows.empty();
  bool is_of_interval = false;
  percentiles.each(walk, [&](const Value& row) {
    if (row.counter->form != ValueForm::kDistribution) return true;
    lacks_distribution_ = false;
    if (row.counter->word != kNoCounter) {
      // The count of values, which comes before its percentiles.
      is_of_interval = sampler.taken() > 1 && row.cooked.status != CookStatus::kFirstSample;
      return true;
    }
    if (is_of_interval) return take(row);
    // Without a sample before, it is of all values since the provider began.
    Value without_interval = row;
    without_interval.cooked = {0, CookStatus::kFirstSample};
    return take(without_interval);
  });
}

std::vector<const ProviderView*> ConditionRows::providers(const Selection& selection) const {
  std::vector<const ProviderView*> providers;
  const auto part = Query::compile_part(selection.query, selection.catalog(), patterns_, excluded_);
  if (!part) return providers;
  for (const SelectedSet& selected : part->selected()) {
    const ProviderView* const provider = &selected.provider();
    if (std::find(providers.begin(), providers.end(), provider) == providers.end()) {
      providers.push_back(provider);
    }
  }
  return providers;
}

}  // namespace meterbank::cli
