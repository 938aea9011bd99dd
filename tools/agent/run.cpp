// SPDX-License-Identifier: Apache-2.0
#include "agent/run.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <ostream>
#include <utility>

#include "agent/counts/own_provider.hpp"
#include "agent/counts/page_counts.hpp"
#include "agent/counts/push_counts.hpp"
#include "agent/counts/record_counts.hpp"
#include "agent/counts/view_counts.hpp"
#include "agent/http/http_server.hpp"
#include "agent/options.hpp"
#include "agent/pages/snapshot_service.hpp"
#include "agent/receivers/push_once.hpp"
#include "agent/receivers/receivers.hpp"
#include "agent/recorder/recorder_part.hpp"
#include "agent/view/view_part.hpp"
#include "http/listen_socket.hpp"
#include "meterbank/shm/utf8.hpp"
#include "push/delivery/http_post.hpp"
#include "service/supervisor.hpp"

namespace meterbank::agent {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;

// In one piece, because pushers have something to say at the same time. Several threads may write
// to std::cerr, which is what `err` is.
void say(std::ostream& err, const std::string& text) {
  const std::string line = escape_composed(text, Composed::kLine, charset_of(STDERR_FILENO));
  err << "meterbank-agent: " + line + '\n' << std::flush;
}

int complain(const Error& error, std::ostream& err) {
  say(err, error.message());
  const bool is_usage =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kBadPath;
  return is_usage ? kExitUsage : kExitEnvironment;
}

// A client or receiver that closes its connection must not end the program.
void ignore_broken_pipes() noexcept {
  ::signal(SIGPIPE, SIG_IGN);
  // Nor must a file of a recording that reaches the largest size that is allowed.
  ::signal(SIGXFSZ, SIG_IGN);
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
Result<http::ListenSocket> listen_on(const std::string& address) {
  if (auto passed = service::take_passed_listener(SOCK_STREAM)) {
    return http::adopt_listen_socket(std::move(*passed));
  }
  return http::open_listen_socket(address);
}

// Returns the next signal. Until then it tells the service manager, as often as that wants to hear
// it, that requests are answered, if pages are served.
int wait_for_signal(const sigset_t& signals, const service::Supervisor& supervisor,
                    std::optional<int> listening_socket) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const std::uint64_t period = supervisor.watchdog_ns() / 2;
  const timespec pause{static_cast<time_t>(period / kSecondNs),
                       static_cast<long>(period % kSecondNs)};
  while (true) {
    const bool is_watched = period != 0;
    if (is_watched && (!listening_socket || http::is_answering(*listening_socket))) {
      supervisor.tell("WATCHDOG=1");
    }
    const int signal =
        period == 0 ? ::sigwaitinfo(&signals, nullptr) : ::sigtimedwait(&signals, nullptr, &pause);
    if (signal > 0) return signal;
  }
}

// Everything that runs until a signal ends it.
class Agent {
 public:
  Agent(Settings settings, exposition::Snapshots snapshots, std::ostream& err)
      : settings_(std::move(settings)),
        err_(err),
        own_(make_own_provider(settings_.snapshots.catalog.directory)),
        page_counts_(own_),
        push_set_(own_),
        record_counts_(own_),
        view_counts_(own_),
        snapshots_(std::move(snapshots),
                   [this](std::uint64_t duration_ns, std::size_t requests) {
                     page_counts_.snapshot_taken(duration_ns, requests);
                   }),
        receivers_(snapshots_, push_set_, [this](const std::string& line) { say(err_, line); }),
        recorder_(record_counts_, [this](const std::string& line) { say(err_, line); }),
        view_(view_counts_, [this](const std::string& line) { say(err_, line); }) {}

  ~Agent() { stop(); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  Result<void> start();
  Result<void> use_view(const Settings& settings);
  void reload(const CommandLine& line);
  void stop() {
    view_.stop();
    recorder_.stop();
    receivers_.stop();
    snapshots_.stop();
  }
  [[nodiscard]] std::optional<int> listening_socket() const noexcept { return socket_; }
  [[nodiscard]] const std::string& status() const noexcept { return status_; }

 private:
  Settings settings_;
  std::ostream& err_;
  Provider own_;
  PageCounts page_counts_;
  PushSet push_set_;
  RecordCounts record_counts_;
  ViewCounts view_counts_;
  SnapshotService snapshots_;
  Receivers receivers_;
  RecorderPart recorder_;
  ViewPart view_;
  std::optional<HttpServer> server_;  // none: nothing is served
  std::optional<int> socket_;
  std::string status_;
};

Result<void> Agent::start() {
  if (settings_.address != kNoAddress) {
    auto listener = listen_on(settings_.address);
    if (!listener) return tl::make_unexpected(listener.error());
    socket_ = listener->socket.get();
    auto server =
        HttpServer::start(std::move(listener->socket), settings_.server, snapshots_, page_counts_);
    if (!server) return tl::make_unexpected(server.error());
    server_.emplace(std::move(*server));
    status_ = "Serving http://" + listener->address + "/metrics";
    say(err_, "serving http://" + listener->address + "/metrics");
  }
  if (auto pushing = receivers_.use(settings_.receivers); !pushing) return pushing;
  for (const push::ReceiverOptions& receiver : settings_.receivers) {
    say(err_, "pushing to " + push::printable_url(receiver.url));
  }
  if (auto recording = recorder_.use(settings_.record, settings_.snapshots.catalog); !recording) {
    return recording;
  }
  if (settings_.record.is_on()) say(err_, "recording to " + settings_.record.directory);
  if (auto shown = use_view(settings_); !shown) return shown;
  if (status_.empty() && !settings_.receivers.empty()) {
    status_ = fmt::format("Pushing to {} receivers", settings_.receivers.size());
  }
  if (status_.empty() && settings_.record.is_on()) {
    status_ = "Recording to " + settings_.record.directory;
  }
  if (status_.empty()) status_ = "Serving the page at http://" + view_.address();
  return {};
}

// The token is in the file alone: what is said here ends in logs.
Result<void> Agent::use_view(const Settings& settings) {
  const std::string before = view_.address();
  if (auto shown = view_.use(settings.view, settings.snapshots.catalog, settings.record.directory);
      !shown) {
    return shown;
  }
  if (!view_.address().empty() && view_.address() != before) {
    say(err_, fmt::format("serving the page for browsers; {} has its address",
                          settings.view.address_file));
  }
  return {};
}

// Reads the file again. If it has a fault, everything stays as it is.
void Agent::reload(const CommandLine& line) {
  int code = 0;
  auto settings = load(line, err_, code);
  if (!settings) return say(err_, "the file is not used; going on as before");
  auto opened = exposition::Snapshots::open(settings->snapshots);
  if (!opened) {
    complain(opened.error(), err_);
    return;
  }
  snapshots_.use(std::move(*opened));
  if (server_) server_->set_compression(settings->server.compression);
  if (const auto pushing = receivers_.use(settings->receivers); !pushing) {
    complain(pushing.error(), err_);
  }
  if (const auto recording = recorder_.use(settings->record, settings->snapshots.catalog);
      !recording) {
    complain(recording.error(), err_);
  }
  if (const auto shown = use_view(*settings); !shown) complain(shown.error(), err_);
  const bool has_moved = settings->address != settings_.address;
  say(err_,
      has_moved ? "read the file again; a new address needs a restart" : "read the file again");
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
  ignore_broken_pipes();
  auto snapshots = exposition::Snapshots::open(settings->snapshots);
  if (!snapshots) return complain(snapshots.error(), err);
  if (line->once) {
    return push_once(*snapshots, settings->receivers, out) ? kExitDone : kExitEnvironment;
  }
  const sigset_t signals = block_signals();
  Agent agent(std::move(*settings), std::move(*snapshots), err);
  if (const auto started = agent.start(); !started) return complain(started.error(), err);
  const service::Supervisor supervisor;
  supervisor.tell("READY=1\nSTATUS=" + agent.status());
  while (wait_for_signal(signals, supervisor, agent.listening_socket()) == SIGHUP) {
    supervisor.tell("RELOADING=1");
    agent.reload(*line);
    supervisor.tell("READY=1");
  }
  supervisor.tell("STOPPING=1");
  agent.stop();
  return kExitDone;
}

}  // namespace meterbank::agent
