// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a request for a page:
//
//   set=GLOB  instance=GLOB  provider=GLOB  name[]=GLOB   each repeatable
//   shard=I/N   part I, from 0, of N      buckets=B,B,...  upper ends of buckets, ascending
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exposition/page/page_options.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::agent {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Errors: kInvalidArgument, with the parameter and what it may be; of both functions.
[[nodiscard]] Result<exposition::PageOptions> parse_page_request(const Parameters& parameters);

// Of a request for rules or a dashboard, which are about sets and not about rows: set and provider.
[[nodiscard]] Result<exposition::PageOptions> parse_set_request(const Parameters& parameters);

}  // namespace meterbank::agent
