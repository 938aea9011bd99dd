// SPDX-License-Identifier: Apache-2.0
//
// Makes layouts, and keeps names and numbers from one to the next.
//
// Rules:
// - A metric is the counters of one name, type, semantics and unit in sets of one name, whichever
//   providers have them. Its identifier is made of these, so it is the same after a restart. Of
//   metrics that differ in type, semantics or unit only, the first keeps the name, and the others
//   have eight digits behind theirs that are made of all of it.
// - If a provider has two sets of one name, the second has the first digits of its GUID behind it.
// - All metrics of sets of one name have one instance domain.
// - Totals are left out, as they are on pages of the exporter: see page_layout.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "meterbank/reader/sample.hpp"
#include "pcp/layout/layout.hpp"
#include "pcp/layout/provider_names.hpp"
#include "pcp/names/stable_numbers.hpp"

namespace meterbank::pcp {

struct LayoutLimits {
  std::size_t metrics = 200'000;
  std::size_t metrics_of_provider = 20'000;
};

class LayoutMaker {
 public:
  // `domain`: the number of this agent in PCP.
  explicit LayoutMaker(int domain, LayoutLimits limits = {}) noexcept;

  // `selected`: of a query or of its samples, whose rows are numbered alike.
  [[nodiscard]] Layout make(const std::vector<SelectedSet>& selected);

 private:
  class Builder;

  // What the counters of a set become. Kept, because a set has thousands of counters and rows come
  // and go.
  struct KnownSet {
    std::shared_ptr<const Counterset> set;
    std::vector<std::uint32_t> counters;
    std::vector<SetMetric> metrics;
    bool is_used = true;
  };

  [[nodiscard]] const std::vector<SetMetric>& metrics_of_set(
      const std::shared_ptr<const Counterset>& set, const std::vector<std::uint32_t>& counters);
  // `set`: with the root. `path`: below it.
  [[nodiscard]] const std::string& name_of_metric(const std::string& set, const std::string& path,
                                                  const std::string& key);
  [[nodiscard]] std::string free_name(std::string name, const std::string& owner);
  void forget_unused(const Layout& layout);
  [[nodiscard]] pmID id_of_metric(const std::string& key);
  [[nodiscard]] pmInDom id_of_domain(const std::string& set);

  int domain_;
  LayoutLimits limits_;
  ProviderNames provider_names_;
  StableNumbers metric_numbers_, domain_numbers_;
  std::unordered_map<std::string, StableNumbers> instance_numbers_;  // by set
  std::unordered_map<std::string, std::string> metric_names_;        // by key
  std::unordered_map<std::string, std::string> name_owners_;  // keys, by name; inner nodes, too
  std::unordered_map<const Counterset*, KnownSet> sets_;
};

}  // namespace meterbank::pcp
