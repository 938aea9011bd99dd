// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "exposition/snapshot/snapshots.hpp"
#include "rows.hpp"

namespace meterbank::bench {

// A row for each protocol, of one point of these snapshots.
void push_rows(exposition::Snapshots& snapshots, std::string_view of, bool are_histograms,
               const Effort& effort, Table& table);

}  // namespace meterbank::bench
