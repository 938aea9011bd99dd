// SPDX-License-Identifier: Apache-2.0
//
// Which threads have which numbers, in all sharded sets of this process.
#pragma once

#include "meterbank/publisher/sharded.hpp"

namespace meterbank::detail {

// Before the first sharded instance: what take_thread_number() must not do itself, because a signal
// handler may be the first to count.
void prepare_thread_numbers() noexcept;

// In the child of a fork.
void keep_only_own_thread_number() noexcept;

}  // namespace meterbank::detail
