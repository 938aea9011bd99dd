// SPDX-License-Identifier: Apache-2.0
//
// Rules and dashboards for the sets of a layout, under the names that pages give their metrics.
#pragma once

#include <string>

#include "exposition/page/page_options.hpp"

namespace meterbank::agent {

// For the sets that `options` select by set and provider. Empty: they select none.
// Cost: the patterns times the registrations.
[[nodiscard]] std::string rules_page(const exposition::PageLayout& layout,
                                     const exposition::PageOptions& options);
[[nodiscard]] std::string dashboard_page(const exposition::PageLayout& layout,
                                         const exposition::PageOptions& options);

}  // namespace meterbank::agent
