// SPDX-License-Identifier: Apache-2.0
//
// What is said of a path that matches nothing: what is not there, why, and what is nearest to it.
#pragma once

#include <string>

#include "cli/session/console.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank::cli {

// `log`: the recording that was read; empty: live providers were.
[[nodiscard]] std::string unmatched_text(const Unmatched& miss, const Catalog& catalog,
                                         const std::string& log = {});
void complain_of(const Unmatched& miss, const Catalog& catalog, const Console& console,
                 const std::string& log = {});

}  // namespace meterbank::cli
