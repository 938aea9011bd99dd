// SPDX-License-Identifier: Apache-2.0
//
// To the arbiter of this machine, and why there is none; what it said no to, in words.
#pragma once

#include <string>
#include <string_view>

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/pmu/connection.hpp"
#include "meterbank/pmu/refusal.hpp"

namespace meterbank::cli {

// Where it listens: in --dir, else where clients of the library look.
[[nodiscard]] std::string arbiter_socket(const Invocation& invocation);
// Where its countersets are.
[[nodiscard]] std::string arbiter_directory(const Invocation& invocation);

// Errors say how to start one.
[[nodiscard]] Result<pmu::Connection> connect_to_arbiter(const Invocation& invocation,
                                                         pmu::ConnectionOptions options = {});
[[nodiscard]] Error no_arbiter(Error error, const std::string& socket);

// The request of the options: events, PMU, CPUs, wait, priority, sharing, duty. `label`: where the
// options have none.
[[nodiscard]] pmu::Request request_of(const PmuOptions& options, const std::string& label);

// What a refused action can be told to try.
struct RefusalRemedies {
  const char* wait = nullptr;  // its option that waits in the queue
  bool has_waited = false;     // that was said
  const char* no_pmu = "--pmu breakpoint, or mem:0x... for -e";
};
[[nodiscard]] RefusalRemedies remedies_of(const PmuOptions& options);

// "counters on CPUs 0-3 are leased by orders@47001 (uid 1000, "ipc sampling", for 2m14s, until
// 14:03:07); try: --wait 30s".
[[nodiscard]] std::string refusal_text(const pmu::Refusal& refusal,
                                       const RefusalRemedies& remedies);
// Says it, and returns the exit code that it means.
[[nodiscard]] int report_refusal(const Console& console, const pmu::Refusal& refusal,
                                 const RefusalRemedies& remedies);
// "waiting, 2 ahead, served in 3m at the latest"
[[nodiscard]] std::string queued_text(const pmu::Queued& queued);

// Of what stood in the way before the arbiter was asked.
[[nodiscard]] int report_error(const Console& console, const Error& error);

// "orders@47001", "kernel watchdog".
[[nodiscard]] std::string holder_text(std::string_view name, std::uint64_t pid);
// "0001000200000003": leases as people copy them.
[[nodiscard]] std::string token_text(pmu::Token token);

}  // namespace meterbank::cli
