// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "exposition/page/page_layout.hpp"

namespace meterbank::agent {

// The families of a layout and the counters that they are made of, as JSON:
//
//   {"metrics": [{"name": "meterbank_demo_orders_accepted_total", "type": "counter", "unit": "",
//     "help": "…", "counters": [{"provider": "orders", "counterset": "demo_orders", "guid": "{…}",
//     "counter": "accepted", "id": 1, "type": "perf_counter_bulk_count", "unit": "{order}",
//     "rows": 3}]}]}
[[nodiscard]] std::string schema_page(const exposition::PageLayout& layout);

}  // namespace meterbank::agent
