// SPDX-License-Identifier: Apache-2.0
//
// Everything a reader of counters needs: Catalog -> Query -> Sample -> Row -> Value. A Replay makes
// a Catalog of what was recorded.
#pragma once

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/item_query.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
