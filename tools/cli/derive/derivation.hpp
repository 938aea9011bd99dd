// SPDX-License-Identifier: Apache-2.0
//
// Rows that expressions make of other rows, sample by sample.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/derive/expression.hpp"
#include "cli/session/selection.hpp"

namespace meterbank::cli {

// Set and counter of a derived row: "expr/NAME", of an instance where its terms have one. The rows
// are like those of a counter, so that every format can show them; their counter has no word in any
// block, and no stored value.
class Derivation {
 public:
  // Adds what the expressions need to the paths of `options`, which must name each provider and
  // file. Without paths of its own, a selection shows derived rows only. Fails on bare words with
  // no selected set, or several.
  [[nodiscard]] static Result<Derivation> prepare(const std::vector<Expression>& expressions,
                                                  SelectionOptions& options);

  // Shows the rows of `paths` alone, which must name each provider.
  [[nodiscard]] static Derivation of_paths(std::vector<std::string> paths,
                                           std::vector<std::string> excluded);

  // The rows to show: those that were selected, then the derived ones. Valid until the next call
  // or sample.
  [[nodiscard]] const std::vector<const Value*>& rows(const Sampler& sampler,
                                                      const Selection& selection);
  // Providers that are not trusted, whose rows the expressions of the last rows() left out.
  [[nodiscard]] NotInTotals not_in_totals() const { return not_in_totals_; }

 private:
  struct Source {
    std::string pattern;
    bool literal_instance = false;
    std::optional<Query> query;  // compiled at the first sample
  };
  struct Formula {
    Expression expression;
    std::vector<Source> sources;  // one an input
    RegisteredSet plain, by_instance;
  };

  Result<void> add(const Expression& expression, SelectionOptions& options,
                   const std::vector<std::string>& selected);
  void keep_part(const Selection& selection, const std::vector<std::string>& patterns,
                 std::optional<Query>& part) const;
  Terms terms_of(Source& source, const Selection& selection);
  void index_rows();
  void show_selected(const Selection& selection);
  void show(const Formula& formula, const Term& term, bool plain, const Sampler& sampler);

  void keep_rows(const Sampler& sampler);

  using RowKey = std::pair<const InstanceView*, const CounterView*>;
  struct RowKeyHash {
    std::size_t operator()(const RowKey& key) const noexcept {
      return std::hash<const void*>()(key.first) * 31 + std::hash<const void*>()(key.second);
    }
  };
  // The rows of `query` among those of the sample.
  [[nodiscard]] std::vector<const Value*> find_rows(const Query& query) const;

  std::vector<std::string> selected_;  // what the user asked to see
  std::optional<Query> shown_;
  std::vector<std::string> excluded_;
  std::deque<Formula> formulas_;
  std::deque<KeptValue> inputs_;  // all values of the sample
  std::unordered_map<RowKey, const Value*, RowKeyHash> index_;
  std::deque<KeptValue> derived_;
  ProviderView no_provider_;  // the provider of derived rows where no trusted one is selected
  std::deque<InstanceView> instances_;
  std::deque<std::string> names_;  // of these instances
  std::vector<const Value*> rows_;
  NotInTotals not_in_totals_;
};

}  // namespace meterbank::cli
