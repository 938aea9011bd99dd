// SPDX-License-Identifier: Apache-2.0
//
// What lies behind a sample and a query, for tests of it: plan_of(query), content_of(sample).
#pragma once

#include "../../reader/src/plan/query_plan.hpp"
#include "../../reader/src/query/compiled_query.hpp"
