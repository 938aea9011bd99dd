// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/actions.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {

int pmu_command(const Invocation& invocation, Console& console) {
  switch (invocation.pmu.action) {
    case PmuAction::kList:
      return pmu_list(invocation, console);
    case PmuAction::kLeases:
      return pmu_leases(invocation, console);
    case PmuAction::kWho:
      return pmu_who(invocation, console);
    case PmuAction::kRun:
      return pmu_run(invocation, console);
    case PmuAction::kHold:
      return pmu_hold(invocation, console);
    case PmuAction::kWait:
      return pmu_wait(invocation, console);
    case PmuAction::kProbe:
      return pmu_probe(invocation, console);
    case PmuAction::kRevoke:
      return pmu_revoke(invocation, console);
    case PmuAction::kReserve:
      break;
  }
  return pmu_reserve(invocation, console);
}

}  // namespace meterbank::cli
