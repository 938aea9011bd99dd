// SPDX-License-Identifier: Apache-2.0
//
// What is said of a path that matches nothing: what is not there, why, and what is nearest to it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/session/console.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank::cli {

// Where all names are, of this recording, or of live providers if it is empty.
[[nodiscard]] std::string list_command(const std::string& log);

enum class Asker : std::uint8_t { kRows, kCondition };

// `log`: the recording that was read; empty: live providers were.
[[nodiscard]] std::string unmatched_text(const Unmatched& miss, const Catalog& catalog,
                                         const std::string& log = {}, Asker asker = Asker::kRows);
void complain_of(const Unmatched& miss, const Catalog& catalog, const Console& console,
                 const std::string& log = {});

}  // namespace meterbank::cli
