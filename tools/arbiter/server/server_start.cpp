// SPDX-License-Identifier: Apache-2.0
//
// How a server begins: anew, after one that died, or where another image of the program left off.
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "arbiter/server/server.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::arbiter {
namespace {

// After the last one; without a last one any, so that tokens of a journal that was removed are
// never reused.
std::uint16_t next_epoch(const Journal& journal) noexcept {
  std::uint16_t epoch = journal.last_epoch();
  if (epoch == 0) static_cast<void>(!::getrandom(&epoch, sizeof epoch, GRND_NONBLOCK));
  ++epoch;
  return epoch == 0 ? std::uint16_t{1} : epoch;
}

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<UniqueFd> take_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) ::sigaddset(&wanted, signal);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  UniqueFd signals(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail(ErrorCode::kSystem, "wait for signals", {}, errno);
  return signals;
}

Result<Listener> make_listener(const ServerOptions& options, const SavedServer* saved) {
  if (saved != nullptr) {
    return Listener::adopt(UniqueFd(saved->listener), options.directory,
                           saved->listener_name_stays);
  }
  if (auto passed = service::take_passed_listener(SOCK_SEQPACKET)) {
    return Listener::adopt(std::move(*passed), options.directory, true);
  }
  return Listener::listen(options.directory, options.socket_mode);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              std::unique_ptr<Backend> backend, Program program,
                                              const SavedServer* saved) {
  raise_descriptor_limit();
  // Before any thread, so that every thread leaves the signals to this one.
  auto signals = take_signals();
  if (!signals) return tl::make_unexpected(signals.error());
  if (auto made = prepare_directory(options.directory); !made) {
    return tl::make_unexpected(made.error());
  }
  auto processes = ProcessTable::open();
  if (!processes) return tl::make_unexpected(processes.error());
  auto policy = PolicyFile::open(options.policy);
  if (!policy) return tl::make_unexpected(policy.error());
  auto journal = Journal::open(options.journal.empty()
                                   ? fmt::format("{}/{}", options.directory, pmu::kArbiterJournal)
                                   : options.journal);
  if (!journal) return tl::make_unexpected(journal.error());
  auto listener = make_listener(options, saved);
  if (!listener) return tl::make_unexpected(listener.error());

  std::unique_ptr<Server> server(new Server(options, std::move(backend), std::move(program),
                                            std::move(*processes), std::move(*journal),
                                            std::move(*policy), std::move(*listener)));
  server->signals_ = std::move(*signals);
  if (auto ready = server->prepare(); !ready) return tl::make_unexpected(ready.error());
  auto begun = saved == nullptr ? server->begin() : server->resume(*saved);
  if (!begun) {
    server->listener_.close();
    return tl::make_unexpected(begun.error());
  }
  server->supervisor_.tell(
      fmt::format("READY=1\nSTATUS=epoch {}", static_cast<unsigned>(server->epoch_)));
  return server;
}

Result<void> Server::prepare() {
  if (!set_.open() || !watch(listener_.descriptor(), Source::kListener, 0, EPOLLIN) ||
      !watch(signals_.get(), Source::kSignals, 0, EPOLLIN)) {
    return fail(ErrorCode::kSystem, "descriptors to wait with",
                "raise LimitNOFILE or fs.epoll.max_user_watches", errno);
  }
  auto rows = Rows::create(options_.directory);
  if (!rows) return tl::make_unexpected(rows.error());
  rows_.emplace(std::move(*rows));
  return {};
}

Result<LedgerWriter> Server::make_ledger(std::uint16_t epoch, Nanoseconds now) {
  return LedgerWriter::create(backend_->machine(), epoch, now);
}

Result<void> Server::begin() {
  const Nanoseconds now = clock_ns(CLOCK_MONOTONIC);
  auto policy = policy_.read();
  if (!policy) return tl::make_unexpected(policy.error());
  auto book = MachineBook::open(backend_->machine());
  if (!book) return tl::make_unexpected(book.error());
  epoch_ = next_epoch(journal_);
  ArbiterOptions options;
  options.epoch = epoch_;
  options.own_uid = ::geteuid();
  options.has_descriptors = backend_->has_descriptors();
  // An arbiter that ends itself takes all leases back before.
  if (journal_.held() != 0) {
    options.grace_ns = kGrace;
    grace_end_ = now + kGrace;
  }
  auto ledger = make_ledger(epoch_, now);
  if (!ledger) return tl::make_unexpected(ledger.error());
  Arbiter arbiter(std::move(*book), std::move(*policy), options);
  arbiter.remember(journal_.records());
  if (journal_.damaged_bytes() != 0) {
    log_.say(fmt::format("{} bytes of the journal were no records", journal_.damaged_bytes()));
  }
  if (journal_.held() != 0) {
    log_.say(fmt::format("{} leases may be claimed again for {} s", journal_.held(),
                         kGrace / 1'000'000'000));
  }
  exchange_.emplace(std::move(arbiter), *backend_, processes_, std::move(*ledger), *this);
  exchange_->set_grace_end(grace_end_);
  JournalRecord started;
  started.monotonic_ns = now;
  started.pid = static_cast<std::uint32_t>(::getpid());
  started.uid = ::geteuid();
  record(started);
  journal_.sync();
  tick(now);
  publish(now);
  return {};
}

Result<void> Server::resume(const SavedServer& saved) {
  const Nanoseconds now = clock_ns(CLOCK_MONOTONIC);
  auto policy = policy_.read();
  if (!policy) return tl::make_unexpected(policy.error());
  auto book = MachineBook::open(backend_->machine());
  if (!book) return tl::make_unexpected(book.error());
  epoch_ = saved.epoch;
  auto arbiter = Arbiter::restore(saved.arbiter, std::move(*book), std::move(*policy));
  if (!arbiter) return tl::make_unexpected(arbiter.error());
  auto ledger = make_ledger(epoch_, now);
  if (!ledger) return tl::make_unexpected(ledger.error());
  next_client_ = saved.next_client;
  connections_refused_ = saved.connections_refused;
  backend_->adopt(saved.carriers);
  for (const SavedCarrier& carrier : saved.carriers) {
    for (const int descriptor : carrier.descriptors) {
      if (descriptor >= 0) set_close_on_exec(descriptor, true);
    }
  }
  exchange_.emplace(std::move(*arbiter), *backend_, processes_, std::move(*ledger), *this);
  for (const SavedClient& client : saved.clients) resume_client(client);
  exchange_->announce_ledger();
  tick(now);
  watch_counters();
  publish(now);
  log_.say(fmt::format("goes on with {} clients and {} leases", connections_.size(),
                       exchange_->arbiter().leases().size()));
  return {};
}

void Server::resume_client(const SavedClient& saved) {
  const Nanoseconds now = clock_ns(CLOCK_MONOTONIC);
  const ClientNumber client = saved.visitor.client;
  set_close_on_exec(saved.socket, true);
  PacketSocket socket{UniqueFd(saved.socket)};
  auto peer = processes_.peer_of(socket.descriptor());
  exchange_->adopt(saved.visitor, peer ? peer->identity : ClientIdentity());
  // The arbiter is told of clients that ended meanwhile as of any end.
  if (!peer || !admission_.enter(peer->identity.uid, now)) {
    exchange_->disconnected(client, now);
    return;
  }
  ClientConnection connection(std::move(socket), std::move(peer->process));
  for (const SavedPacket& packet : saved.unsent) {
    UnsentPacket unsent;
    const auto bytes = std::as_bytes(std::span(packet.bytes));
    unsent.bytes.assign(bytes.begin(), bytes.end());
    if (packet.attached >= 0) {
      set_close_on_exec(packet.attached, true);
      unsent.attached.emplace_back(UniqueFd(packet.attached));
    }
    connection.peer.keep(std::move(unsent));
  }
  const bool has_unsent = connection.peer.has_unsent();
  connection.waits_for_room = has_unsent;
  const int descriptor = connection.peer.descriptor();
  add_client(client, std::move(connection));
  if (has_unsent) watch(descriptor, Source::kClient, client, EPOLLIN | EPOLLOUT);
}

}  // namespace meterbank::arbiter
