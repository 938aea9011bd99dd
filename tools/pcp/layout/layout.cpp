// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/layout.hpp"

#include <algorithm>

namespace meterbank::pcp {

const Metric* Layout::find(pmID id) const noexcept {
  const auto known = by_id.find(id);
  return known == by_id.end() ? nullptr : &metrics[known->second];
}

const Metric* Layout::find(std::string_view name) const noexcept {
  const auto at = std::lower_bound(
      metrics.begin(), metrics.end(), name,
      [](const Metric& metric, std::string_view wanted) { return metric.name < wanted; });
  return at != metrics.end() && at->name == name ? &*at : nullptr;
}

const Domain* Layout::find_domain(pmInDom id) const noexcept {
  const auto known = by_domain.find(id);
  return known == by_domain.end() ? nullptr : &domains[known->second];
}

}  // namespace meterbank::pcp
