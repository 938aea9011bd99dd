// SPDX-License-Identifier: Apache-2.0
//
// The verb diff in words.
#pragma once

#include "cli/arguments/verb_parser.hpp"

namespace meterbank::cli {

inline constexpr VerbText kDiffText{
    "diff", " A [B] [PATH...]",
    "Compares two recordings, or two ranges of one, and prints what changed, the strongest\n"
    "change first, each with the range that it lies in. Chance alone makes it find a change in\n"
    "at most one of a hundred pairs. B is the second word if there is such a file. Exit code 0:\n"
    "nothing changed, 1: something did, 3: nothing could be compared.",
    "  meterbank diff before.mbr after.mbr\n"
    "  meterbank diff /var/tmp/box --a 02:00..02:10 --b 03:00..03:10\n"
    "  meterbank diff before.mbr after.mbr --least 5% 'demo_orders/*'\n"};

}  // namespace meterbank::cli
