// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/arbiter_access.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

using pmu::Blocker;
using pmu::Reason;
using pmu::Refusal;

double seconds_since(std::uint64_t then_ns, std::uint64_t now_ns) {
  return then_ns >= now_ns ? 0.0 : static_cast<double>(now_ns - then_ns) / 1e9;
}

// A moment of the monotonic clock as a clock on the wall shows it.
std::string local_text(std::uint64_t monotonic_ns, std::uint64_t now_ns) {
  const std::uint64_t wall = clock_ns(CLOCK_REALTIME);
  const auto ahead = static_cast<std::int64_t>(monotonic_ns - now_ns);
  return print_moment(wall + static_cast<std::uint64_t>(ahead), wall);
}

std::string blocker_text(const Blocker& blocker, std::uint64_t now_ns) {
  std::string facts;
  const auto add = [&facts](const std::string& fact) {
    facts += facts.empty() ? fact : ", " + fact;
  };
  const bool is_kernel = blocker.token == 0 && blocker.pid == 0 && blocker.uid == 0;
  const auto label = escape_for_terminal(pmu::text_of(blocker.label));
  if (!label.empty()) add(fmt::format("\"{}\"", label));
  if (!is_kernel) add(fmt::format("uid {}", blocker.uid));
  if (blocker.since_ns != 0) {
    add(fmt::format("for {}", print_duration(seconds_since(blocker.since_ns, now_ns))));
  }
  if (blocker.ends_ns != 0) add("until " + local_text(blocker.ends_ns, now_ns) + " at the latest");
  if (blocker.token == 0 && !is_kernel) add("no lease");
  if (blocker.is_waiting != 0) add("waits before you");
  const auto name = escape_for_terminal(pmu::text_of(blocker.name));
  const auto who = holder_text(name.empty() ? "unknown process" : name, blocker.pid);
  return facts.empty() ? who : fmt::format("{} ({})", who, facts);
}

std::string remedy_for(const Refusal& refusal, const RefusalRemedies& remedies) {
  const bool can_wait = remedies.wait != nullptr && !remedies.has_waited;
  const std::string wait = can_wait ? fmt::format("{} 30s", remedies.wait) : std::string();
  switch (refusal.reason) {
    case Reason::kTaken:
    case Reason::kWholePmu:
    case Reason::kLimbo:
    case Reason::kGrace:
    case Reason::kUnverified:
      return can_wait ? wait : "meterbank pmu leases";
    case Reason::kForeign: {
      const bool is_kernel = !refusal.blockers.empty() && refusal.blockers.front().pid == 0;
      return is_kernel  ? "sysctl kernel.nmi_watchdog=0, or fewer events"
             : can_wait ? wait
                        : "end that program";
    }
    case Reason::kPolicy:
      return "events in user mode (:u) without --cpus, or a line in the arbiter's policy file";
    case Reason::kQuota:
    case Reason::kQueueFull:
      return "meterbank pmu leases, and end some of yours";
    case Reason::kNoSuchThing:
      return "meterbank pmu list -l";
    case Reason::kNeverFits:
      return "fewer events";
    case Reason::kNoPmu:
      return remedies.no_pmu;
    case Reason::kTimeOut:
      return fmt::format("a longer {}", remedies.wait == nullptr ? "wait" : remedies.wait);
    case Reason::kCpuOffline:
      return "other --cpus";
    default:
      return {};
  }
}

}  // namespace

std::string arbiter_socket(const Invocation& invocation) {
  const auto directories = split_directories(invocation.selection.directory);
  if (directories.empty()) return pmu::default_arbiter_socket();
  const auto in = [](const std::string& directory) {
    return directory + "/" + std::string(pmu::kArbiterSocket);
  };
  for (const std::string& directory : directories) {
    if (::access(in(directory).c_str(), F_OK) == 0) return in(directory);
  }
  return in(directories.front());
}

std::string arbiter_directory(const Invocation& invocation) {
  const std::string socket = arbiter_socket(invocation);
  const auto slash = socket.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : socket.substr(0, slash);
}

Error no_arbiter(Error error, const std::string& socket) {
  const bool is_silent = error.system_error == ETIMEDOUT;
  if (!is_silent && (error.code == ErrorCode::kGone || error.code == ErrorCode::kNotFound)) {
    return {ErrorCode::kGone, 0, fmt::format("no arbiter listens at {}", socket),
            "systemctl start meterbank-pmud.socket, or meterbank-pmud as root"};
  }
  if (error.code == ErrorCode::kDenied) {
    error.remedy = "as root, or as its user; see --socket-mode of meterbank-pmud";
  }
  return error;
}

Result<pmu::Connection> connect_to_arbiter(const Invocation& invocation,
                                           pmu::ConnectionOptions options) {
  options.socket = arbiter_socket(invocation);
  const std::string socket = options.socket;
  auto connection = pmu::Connection::connect(std::move(options));
  if (!connection) return tl::make_unexpected(no_arbiter(std::move(connection.error()), socket));
  return connection;
}

pmu::Request request_of(const PmuOptions& options, const std::string& label) {
  pmu::Request request;
  for (const EventWord& event : options.events) {
    const bool is_any = event.item.kind == static_cast<std::uint32_t>(pmu::ItemKind::kClass) &&
                        pmu::text_of(event.item.name).empty();
    if (!is_any) {
      request.item(event.item);
    } else if (options.pmu == pmu::kBreakpointPmu) {
      request.counters(event.item.count, "slot");
    } else {
      // What every general counter of every processor can count.
      const bool is_probe = options.action == PmuAction::kProbe;
      const std::uint32_t count = is_probe ? 1 : event.item.count;
      for (std::uint32_t i = 0; i < count; ++i) request.event("branches");
    }
  }
  if (!options.pmu.empty()) request.on_pmu(options.pmu);
  if (!options.cpus.empty()) request.cpus(options.cpus);
  if (options.wait) request.wait(*options.wait);
  request.priority(options.priority).label(options.label.empty() ? label : options.label);
  if (options.shares) request.shares();
  if (options.duty_permille < 1000) request.duty(options.duty_permille);
  return request;
}

RefusalRemedies remedies_of(const PmuOptions& options) {
  return {.wait = options.action == PmuAction::kWait ? "--for" : "--wait",
          .has_waited = options.wait || options.action == PmuAction::kWait};
}

std::string refusal_text(const Refusal& refusal, const RefusalRemedies& remedies) {
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  std::string text = refusal.message();
  // The arbiter's own remedy is kept; the holder that stands in the way is named before it.
  std::string remedy;
  if (const auto at = text.find("; try: "); at != std::string::npos) {
    remedy = text.substr(at + 7);
    text.resize(at);
  }
  // The arbiter's sentence names the first one.
  std::string others;
  for (const Blocker& blocker : refusal.blockers) {
    const auto name = pmu::text_of(blocker.name);
    const bool is_said = &blocker == refusal.blockers.data() && !name.empty() &&
                         text.find(name) != std::string::npos;
    if (!is_said) others += (others.empty() ? "" : "; ") + blocker_text(blocker, now);
  }
  if (!others.empty()) text += (refusal.blockers.size() > 1 ? ", also: " : ": ") + others;
  if (refusal.blockers_left_out > 0) text += fmt::format(", {} more", refusal.blockers_left_out);
  if (refusal.ahead > 0) text += fmt::format("; {} ahead in the queue", refusal.ahead);
  if (refusal.earliest_ns != 0) {
    text += fmt::format("; free at {} at the latest", local_text(refusal.earliest_ns, now));
  }
  if (refusal.reason == Reason::kTimeOut) text.insert(0, "waited in vain: ");
  if (auto own = remedy_for(refusal, remedies); !own.empty()) remedy = std::move(own);
  return remedy.empty() ? text : text + "; try: " + remedy;
}

int report_refusal(const Console& console, const Refusal& refusal,
                   const RefusalRemedies& remedies) {
  if (refusal.error) {
    complain(console, *refusal.error);
    // An arbiter that died is one that is not there.
    const ErrorCode code = refusal.error->code;
    return code == ErrorCode::kGone ? kExitEnvironment : exit_code_of(code);
  }
  complain(console, refusal_text(refusal, remedies));
  if (refusal.reason == Reason::kTimeOut) return kExitTimeout;
  if (refusal.reason == Reason::kCancelled) return kExitInterrupted;
  return refusal.answer == pmu::Answer::kInvalidParameter ? kExitUsage : kExitEnvironment;
}

std::string queued_text(const pmu::Queued& queued) {
  std::string text = queued.ahead == 0 ? "waiting, next in the queue"
                                       : fmt::format("waiting, {} ahead", queued.ahead);
  const auto now = clock_ns(CLOCK_MONOTONIC);
  if (queued.estimate_ns > now) {
    text += fmt::format(", served in {} at the latest",
                        print_duration(seconds_since(now, queued.estimate_ns)));
  }
  return text;
}

int report_error(const Console& console, const Error& error) {
  complain(console, error);
  return error.code == ErrorCode::kInvalidArgument ? kExitUsage : kExitEnvironment;
}

std::string holder_text(std::string_view name, std::uint64_t pid) {
  return pid == 0 ? std::string(name) : fmt::format("{}@{}", name, pid);
}

std::string token_text(pmu::Token token) { return fmt::format("{:016x}", token); }

}  // namespace meterbank::cli
