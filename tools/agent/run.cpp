// SPDX-License-Identifier: Apache-2.0
#include "agent/run.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
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

// Threads that are started later inherit the mask, so only wait_for_signal() gets these signals.
sigset_t block_signals() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Nothing: faults, which have been printed.
std::optional<Settings> load(const CommandLine& line, std::ostream& err, int& code) {
  syntax::Problems problems;
  auto settings = load_settings(line, problems);
  code = kExitUsage;
  if (!settings) {
    code = complain(settings.error(), err);
    return std::nullopt;
  }
  if (!*settings) err << problems.text(line.config, charset_of(STDERR_FILENO)) << std::flush;
  return std::move(*settings);
}

// The service manager may have made the socket.
Result<ListenSocket> listen_on(const std::string& address) {
  if (auto passed = service::take_passed_listener(SOCK_STREAM)) {
    return adopt_listen_socket(std::move(*passed));
  }
  return open_listen_socket(address);
}

// Returns the next signal. Until then it tells the service manager, as often as that wants to hear
// it, that requests are answered.
int wait_for_signal(const sigset_t& signals, const service::Supervisor& supervisor,
                    int listening_socket) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const std::uint64_t period = supervisor.watchdog_ns() / 2;
  const timespec pause{static_cast<time_t>(period / kSecondNs),
                       static_cast<long>(period % kSecondNs)};
  while (true) {
    if (period != 0 && is_answering(listening_socket)) supervisor.tell("WATCHDOG=1");
    const int signal =
        period == 0 ? ::sigwaitinfo(&signals, nullptr) : ::sigtimedwait(&signals, nullptr, &pause);
    if (signal > 0) return signal;
  }
}

// Reads the file again. If it has a fault, everything stays as it is.
void reload(const CommandLine& line, const std::string& address, SnapshotService& snapshots,
            HttpServer& server, std::ostream& err) {
  int code = 0;
  auto settings = load(line, err, code);
  if (!settings) {
    err << "meterbank-agent: the file is not used; going on as before\n" << std::flush;
    return;
  }
  auto opened = exposition::Snapshots::open(std::move(settings->snapshots));
  if (!opened) {
    complain(opened.error(), err);
    return;
  }
  snapshots.use(std::move(*opened));
  server.set_compression(settings->server.compression);
  const bool has_moved = settings->address != address;
  err << (has_moved ? "meterbank-agent: read the file again; a new address needs a restart\n"
                    : "meterbank-agent: read the file again\n")
      << std::flush;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const auto line = parse_command_line(arguments);
  if (!line) return complain(line.error(), err);
  if (!line->text.empty()) {
    out << line->text;
    return kExitDone;
  }
  int code = kExitUsage;
  auto settings = load(*line, err, code);
  if (!settings) return code;
  if (line->check) {
    out << escape_for_terminal(line->config, charset_of(STDOUT_FILENO)) << ": no fault\n";
    return kExitDone;
  }
  const sigset_t signals = block_signals();
  auto listener = listen_on(settings->address);
  if (!listener) return complain(listener.error(), err);
  const int socket = listener->socket.get();
  PageCounts counts(settings->snapshots.catalog.directory);
  auto snapshots = exposition::Snapshots::open(std::move(settings->snapshots));
  if (!snapshots) return complain(snapshots.error(), err);
  SnapshotService snapshot_service(std::move(*snapshots),
                                   [&counts](std::uint64_t duration_ns, std::size_t requests) {
                                     counts.snapshot_taken(duration_ns, requests);
                                   });
  auto server =
      HttpServer::start(std::move(listener->socket), settings->server, snapshot_service, counts);
  if (!server) return complain(server.error(), err);
  const service::Supervisor supervisor;
  supervisor.tell("READY=1\nSTATUS=Serving http://" + listener->address + "/metrics");
  err << "meterbank-agent: serving http://" << listener->address << "/metrics\n" << std::flush;
  while (wait_for_signal(signals, supervisor, socket) == SIGHUP) {
    supervisor.tell("RELOADING=1");
    reload(*line, settings->address, snapshot_service, *server, err);
    supervisor.tell("READY=1");
  }
  supervisor.tell("STOPPING=1");
  snapshot_service.stop();
  return kExitDone;
}

}  // namespace meterbank::agent
