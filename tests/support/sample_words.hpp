// SPDX-License-Identifier: Apache-2.0
//
// What lies behind a sample and a query, for tests of it: plan_of(query), content_of(sample).
#pragma once

#include "../../reader/src/plan/query_plan.hpp"
#include "../../reader/src/plan/row_blocks.hpp"
#include "../../reader/src/query/compiled_query.hpp"

namespace meterbank::test {

inline const InstanceView& instance_of(const QueryPlan& plan, std::size_t row) {
  return RowPlace(plan, row).instance();
}

inline BlockParts<const SharedWord> block_of(const QueryPlan& plan, std::size_t row) {
  const RowPlace place(plan, row);
  return RowBlocks(place.selection(), place.part(), place.in_part())[0];
}

}  // namespace meterbank::test
