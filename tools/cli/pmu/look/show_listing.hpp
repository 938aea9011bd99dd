// SPDX-License-Identifier: Apache-2.0
//
// A list of what the arbiter knows, where and how the command line wants it.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/format/listing.hpp"
#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

// `nothing`: what people read where the list is empty; a table of no rows if there are no words
// for it. Returns an exit code.
[[nodiscard]] int show_listing(const Invocation& invocation, Console& console,
                               const Listing& listing, std::string_view nothing = {});

// For how long; nothing where the beginning is not known. Moments of CLOCK_MONOTONIC.
[[nodiscard]] Cell since_cell(std::uint64_t since_ns, std::uint64_t now_ns);

}  // namespace meterbank::cli
