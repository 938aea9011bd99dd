// SPDX-License-Identifier: Apache-2.0
#include "agent/run.hpp"

#include <pthread.h>
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

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  auto line = parse_command_line(arguments);
  if (!line) return complain(line.error(), err);
  if (!line->text.empty()) {
    out << line->text;
    return kExitDone;
  }
  const sigset_t end_signals = block_end_signals();
  auto listener = open_listen_socket(line->address);
  if (!listener) return complain(listener.error(), err);
  PageCounts counts(line->snapshots.catalog.directory);
  auto snapshots = exposition::Snapshots::open(std::move(line->snapshots));
  if (!snapshots) return complain(snapshots.error(), err);
  SnapshotService service(std::move(*snapshots),
                          [&counts](std::uint64_t duration_ns, std::size_t requests) {
                            counts.snapshot_taken(duration_ns, requests);
                          });
  auto server = HttpServer::start(std::move(listener->socket), line->server, service, counts);
  if (!server) return complain(server.error(), err);
  err << "meterbank-agent: serving http://" << listener->address << "/metrics\n" << std::flush;
  int signal = 0;
  ::sigwait(&end_signals, &signal);
  service.stop();
  return kExitDone;
}

}  // namespace meterbank::agent
