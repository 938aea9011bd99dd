// SPDX-License-Identifier: Apache-2.0
//
// Attacks that the same user and another one make.
#pragma once

#include "../patched_provider.hpp"

namespace meterbank::hostile {

inline constexpr std::uint64_t kTotalLie = 999'999;

void same_guid_older(const Stage& stage);
void counter_called_like_an_instance(const Stage& stage);
void total_row(const Stage& stage);

}  // namespace meterbank::hostile
