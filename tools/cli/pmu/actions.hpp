// SPDX-License-Identifier: Apache-2.0
//
// The actions of `meterbank pmu`, one function each. Each returns an exit code and has said on the
// console why if that is not zero.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

int pmu_list(const Invocation& invocation, Console& console);
int pmu_leases(const Invocation& invocation, Console& console);
int pmu_who(const Invocation& invocation, Console& console);
int pmu_run(const Invocation& invocation, Console& console);
int pmu_hold(const Invocation& invocation, Console& console);
int pmu_wait(const Invocation& invocation, Console& console);
int pmu_probe(const Invocation& invocation, Console& console);
int pmu_revoke(const Invocation& invocation, Console& console);
int pmu_reserve(const Invocation& invocation, Console& console);

}  // namespace meterbank::cli
