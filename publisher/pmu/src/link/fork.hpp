// SPDX-License-Identifier: Apache-2.0
//
// What a fork has to take away from the child.
#pragma once

namespace meterbank::pmu::detail {

class Link;

// Open LocalCounters, see local_state.hpp. Installs the handlers once.
void watch_forks();
void watch_forks(Link& link);
void unwatch_forks(Link& link) noexcept;

}  // namespace meterbank::pmu::detail
