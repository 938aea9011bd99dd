// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/actions.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/pmu/lease_session.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"

namespace meterbank::cli {
namespace {

bool say(Console& console, const std::string& line) {
  auto output = Output::open(console, {});
  return output->write(line + "\n") && output->finish(kExitDone) == kExitDone;
}

// Administrators' requests are refused by name, not by scarcity.
int report_admin(const Console& console, const pmu::Refusal& refusal, const std::string& remedy) {
  if (refusal.error && refusal.error->code == ErrorCode::kDenied) {
    auto error = *refusal.error;
    error.what = "only administrators of the arbiter may do that";
    error.remedy = remedy;
    complain(console, error);
    return kExitEnvironment;
  }
  return report_refusal(console, refusal, {});
}

std::string granted_text(const pmu::Granted& granted) {
  return fmt::format("{}  {}, {}, {}", token_text(granted.head.token),
                     counted(granted.counters.size(), "counter"), name_of(granted.head.grade),
                     name_of(granted.head.quality));
}

}  // namespace

int pmu_hold(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  LeaseSession session(invocation, console, waiter);
  if (!session.acquire(request_of(invocation.pmu, "meterbank pmu hold"))) return session.code();
  if (!say(console, granted_text(session.lease().granted()))) return kExitEnvironment;
  const auto end =
      invocation.duration ? Clock::now() + *invocation.duration : Clock::time_point::max();
  for (;;) {
    switch (waiter.wait_until(end, session.notice_descriptor())) {
      case Wake::kInput:
        if (!session.look_at_notices()) return session.code();
        break;
      case Wake::kTimeout:
        return kExitTimeout;
      case Wake::kDeadline:
      case Wake::kStop:
        return kExitDone;
      case Wake::kResize:
      case Wake::kRequest:
        break;
    }
  }
}

int pmu_wait(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  LeaseSession session(invocation, console, waiter);
  auto request = request_of(invocation.pmu, "meterbank pmu wait");
  if (!invocation.pmu.wait) request.wait(pmu::Request::kForEver);
  return session.acquire(request) ? kExitDone : session.code();
}

int pmu_probe(const Invocation& invocation, Console& console) {
  auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  const auto room = connection->probe(request_of(invocation.pmu, "meterbank pmu probe"));
  if (!room) return report_refusal(console, room.error(), {});
  say(console, fmt::format("{} more on each CPU, {}", room->counters,
                           room->is_probed != 0 ? "says the kernel" : "say the books"));
  return room->counters > 0 ? kExitDone : kExitNo;
}

int pmu_revoke(const Invocation& invocation, Console& console) {
  auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  const auto token = invocation.pmu.token;
  const auto done = connection->revoke(token, invocation.pmu.drain);
  if (!done && done.error().reason == pmu::Reason::kMalformed) {
    complain(console, fmt::format("no lease {}; try: meterbank pmu leases -v", token_text(token)));
    return kExitNo;
  }
  if (!done) {
    return report_admin(console, done.error(),
                        "as root; or end the process that holds it, see meterbank pmu leases");
  }
  return kExitDone;
}

int pmu_reserve(const Invocation& invocation, Console& console) {
  auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  const auto& v = invocation.pmu;
  const auto done = connection->reserve(v.pmu, v.cpus, v.counters);
  if (!done) return report_admin(console, done.error(), "as root");
  return kExitDone;
}

}  // namespace meterbank::cli
