// SPDX-License-Identifier: Apache-2.0
//
// Attacks on a runtime directory that the same user and another one make.
#pragma once

#include "../patched_provider.hpp"

namespace meterbank::hostile {

inline constexpr std::string_view kLie = "attacker@lie.provider";

void fill_with_dead_records(const Stage& stage, int count);
void fill_with_junk(const Stage& stage, int count);
// Where METERBANK_PMUD_DIR is this directory.
void be_a_silent_arbiter(const Stage& stage);

}  // namespace meterbank::hostile
