// SPDX-License-Identifier: Apache-2.0
//
// What a catalog left out, for people.
#pragma once

#include <string>
#include <string_view>

#include "cli/session/console.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::cli {

// "20 providers beyond the limit of one user (uid 65534)"
[[nodiscard]] std::string left_out_text(const LeftOut& left_out);
[[nodiscard]] std::string_view remedy_for(LeftOutReason reason);

// One line if providers that are well may be among what was left out; else nothing.
void report_left_out(const Catalog& catalog, const Console& console);

}  // namespace meterbank::cli
