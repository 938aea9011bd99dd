// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "exposition/snapshot/snapshots.hpp"
#include "meterbank/publisher.hpp"
#include "rows.hpp"

namespace meterbank::bench {

// `instance` is one of those on the pages.
void scraped_row(Instance& instance, exposition::Snapshots& snapshots, std::size_t series,
                 const Effort& effort, Table& table);

}  // namespace meterbank::bench
