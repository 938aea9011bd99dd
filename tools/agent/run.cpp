// SPDX-License-Identifier: Apache-2.0
#include "agent/run.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <utility>

#include "agent/http/http_server.hpp"
#include "agent/http/listen_socket.hpp"
#include "agent/options.hpp"
#include "agent/pages/page_counts.hpp"
#include "agent/pages/snapshot_service.hpp"
#include "meterbank/shm/utf8.hpp"
#include "service/supervisor.hpp"

namespace meterbank::agent {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;

int complain(const Error& error, std::ostream& err) {
  err << "meterbank-agent: "
      << escape_composed(error.message(), Composed::kLine, charset_of(STDERR_FILENO)) << '\n';
  err.flush();
  const bool is_usage =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kBadPath;
  return is_usage ? kExitUsage : kExitEnvironment;
}

// Threads that are started later inherit the mask, so only wait_for_end() gets these signals.
sigset_t block_end_signals() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// That of the service manager, if there is one.
Result<ListenSocket> listen_on(const std::string& address) {
  if (auto passed = service::take_passed_listener(SOCK_STREAM)) {
    return adopt_listen_socket(std::move(*passed));
  }
  return open_listen_socket(address);
}

// Tells the service manager, as often as it wants to hear it, that requests are answered.
void wait_for_end(const sigset_t& end_signals, const service::Supervisor& supervisor,
                  int listening_socket) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::uint64_t period = supervisor.watchdog_ns() / 2;
  const timespec pause{static_cast<time_t>(period / kNsPerSecond),
                       static_cast<long>(period % kNsPerSecond)};
  while (true) {
    if (period != 0 && is_answering(listening_socket)) supervisor.tell("WATCHDOG=1");
    const int signal = period == 0 ? ::sigwaitinfo(&end_signals, nullptr)
                                   : ::sigtimedwait(&end_signals, nullptr, &pause);
    if (signal > 0) return;
  }
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  auto line = parse_command_line(arguments);
  if (!line) return complain(line.error(), err);
  if (!line->text.empty()) {
    out << line->text;
    return kExitDone;
  }
  const sigset_t end_signals = block_end_signals();
  auto listener = listen_on(line->address);
  if (!listener) return complain(listener.error(), err);
  const int socket = listener->socket.get();
  PageCounts counts(line->snapshots.catalog.directory);
  auto snapshots = exposition::Snapshots::open(std::move(line->snapshots));
  if (!snapshots) return complain(snapshots.error(), err);
  SnapshotService snapshot_service(std::move(*snapshots),
                                   [&counts](std::uint64_t duration_ns, std::size_t requests) {
                                     counts.snapshot_taken(duration_ns, requests);
                                   });
  auto server =
      HttpServer::start(std::move(listener->socket), line->server, snapshot_service, counts);
  if (!server) return complain(server.error(), err);
  const service::Supervisor supervisor;
  supervisor.tell("READY=1\nSTATUS=Serving http://" + listener->address + "/metrics");
  err << "meterbank-agent: serving http://" << listener->address << "/metrics\n" << std::flush;
  wait_for_end(end_signals, supervisor, socket);
  supervisor.tell("STOPPING=1");
  snapshot_service.stop();
  return kExitDone;
}

}  // namespace meterbank::agent
