// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/server.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "meterbank/base/clock.hpp"

namespace meterbank::arbiter {
namespace {

constexpr int kPacketsAtOnce = 8;  // of one client, before the others have their turn
constexpr std::size_t kEventsAtOnce = 64;
constexpr Nanoseconds kPublishPeriod = 5'000'000;
constexpr unsigned kSourceShift = 56;

Nanoseconds monotonic() noexcept { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace

Server::Server(ServerOptions options, std::unique_ptr<Backend> backend, Program program,
               ProcessTable processes, Journal journal, PolicyFile policy, Listener listener)
    : options_(std::move(options)),
      backend_(std::move(backend)),
      program_(std::move(program)),
      processes_(std::move(processes)),
      journal_(std::move(journal)),
      policy_(std::move(policy)),
      listener_(std::move(listener)) {}

Server::~Server() = default;

// ---- Loop ----

void Server::run() {
  std::array<epoll_event, kEventsAtOnce> events;
  while (!has_ended_) {
    std::size_t count = 0;
    const auto woke = set_.wait(events, count, timeout_ms(monotonic()));
    const Nanoseconds now = monotonic();
    if (woke == WaitSet::Woke::kLost) return end(now);  // its descriptors are closed
    // Before anything else: after a time in which no process could act, terms are to grow first.
    const auto deadline = exchange_->arbiter().deadline();
    if (now >= next_tick_ || (deadline && now >= *deadline)) tick(now);
    for (std::size_t i = 0; i < count && !has_ended_; ++i) {
      const epoll_event& event = events[i];
      const std::uint64_t tag = event.data.u64;
      handle(static_cast<Source>(tag >> kSourceShift),
             tag & ((std::uint64_t{1} << kSourceShift) - 1), event.events);
    }
    if (has_ended_) return;
    drop_ending(now);
    watch_counters();
    publish(now);
  }
}

int Server::timeout_ms(Nanoseconds now) const {
  Nanoseconds next = next_tick_;
  if (const auto deadline = exchange_->arbiter().deadline()) next = std::min(next, *deadline);
  if (exchange_->arbiter().changes() != published_changes_) {
    next = std::min(next, published_ + kPublishPeriod);
  }
  if (next <= now) return 0;
  return static_cast<int>((next - now + 999'999) / 1'000'000);
}

bool Server::watch(int descriptor, Source source, std::uint64_t number,
                   std::uint32_t events) noexcept {
  const std::uint64_t tag = static_cast<std::uint64_t>(source) << kSourceShift | number;
  if (set_.watch(descriptor, tag, events, false)) return true;
  return errno == EEXIST && set_.watch(descriptor, tag, events, true);
}

// A lost counter says so once, and a counter that nothing is mapped of always says that it hung up:
// only changes count.
void Server::watch_counters() {
  auto wanted = backend_->watched();
  if (wanted == watched_) return;
  for (const auto& [descriptor, carrier] : wanted) {
    const auto known = watched_.find(descriptor);
    if (known != watched_.end() && known->second == carrier) continue;
    watch(descriptor, Source::kCounter, carrier, EPOLLIN | EPOLLET);
  }
  watched_ = std::move(wanted);
}

void Server::closes(CarrierNumber carrier) {
  std::erase_if(watched_, [this, carrier](const auto& entry) {
    if (entry.second != carrier) return false;
    set_.forget(entry.first);
    return true;
  });
}

void Server::handle(Source source, std::uint64_t number, std::uint32_t events) {
  switch (source) {
    case Source::kListener:
      return accept_clients(monotonic());
    case Source::kSignals:
      return read_signals(monotonic());
    case Source::kClient:
      return serve(number, events);
    case Source::kProcess:
      // Its end takes the leases along, though a child of it may have the socket still.
      return drop(number, monotonic());
    case Source::kCounter:
      return exchange_->check(number, monotonic());
  }
}

void Server::tick(Nanoseconds now) {
  exchange_->ledger().set_alive(now);
  exchange_->passed(now);
  if (now < next_tick_) return;
  next_tick_ = now + kTick;
  if (grace_end_ != 0 && now >= grace_end_) {
    grace_end_ = 0;
    journal_.forget_before(epoch_);
    if (std::exchange(upgrade_waits_, false)) upgrade(now);
  }
  const Nanoseconds watchdog = supervisor_.watchdog_ns();
  if (watchdog != 0 && now - told_supervisor_ >= watchdog / 3) {
    told_supervisor_ = now;
    supervisor_.tell("WATCHDOG=1");
  }
}

// Many changes in a row are shown together.
void Server::publish(Nanoseconds now) {
  const std::uint64_t changes = exchange_->arbiter().changes();
  const Nanoseconds age = now - std::min(now, published_);
  if (age < (changes == published_changes_ ? kTick : kPublishPeriod)) return;
  published_ = now;
  published_changes_ = changes;
  rows_->update(exchange_->arbiter(),
                {connections_.size(), connections_refused_, exchange_->packets_rejected()});
}

// ---- Clients ----

void Server::accept_clients(Nanoseconds now) {
  accept_waiting(
      listener_, [this, now](PacketSocket socket) { admit(std::move(socket), now); },
      [this, now] {
        ++connections_refused_;
        log_.complain("no descriptor is left for a client; raise LimitNOFILE", now);
      });
}

void Server::admit(PacketSocket socket, Nanoseconds now) {
  const uid_t uid = socket.peer().uid;
  if (!admission_.enter(uid, now)) {
    ++connections_refused_;
    log_.complain(fmt::format("user {} has too many connections, or all have", uid), now);
    const pmu::ArbiterMessage told = pmu::Rejected{pmu::Rejection::kTooMany, 0};
    static_cast<void>(socket.send(pmu::encode(0, told)));
    return;
  }
  auto peer = processes_.peer_of(socket.descriptor());
  if (!peer) {
    admission_.leave(uid);
    if (peer.error().code == ErrorCode::kGone) return;  // there is no peer to tell
    ++connections_refused_;
    log_.complain(peer.error().message(), now);
    const bool is_full = peer.error().code == ErrorCode::kLimit;
    const pmu::ArbiterMessage told =
        pmu::Rejected{is_full ? pmu::Rejection::kTooMany : pmu::Rejection::kNotAllowed, 0};
    static_cast<void>(socket.send(pmu::encode(0, told)));
    return;
  }
  const ClientNumber client = next_client_++;
  add_client(client, ClientConnection(std::move(socket), std::move(peer->process)));
  exchange_->connected(client, peer->identity, now);
}

void Server::add_client(ClientNumber client, ClientConnection connection) {
  // A client that cannot be heard would wait for ever, so it is dropped.
  if (!watch(connection.peer.descriptor(), Source::kClient, client, EPOLLIN) ||
      !watch(connection.peer.process(), Source::kProcess, client, EPOLLIN)) {
    ending_.insert(client);
  }
  connections_.emplace(client, std::move(connection));
}

void Server::serve(ClientNumber client, std::uint32_t events) {
  const auto found = connections_.find(client);
  if (found == connections_.end()) return;
  ClientConnection& connection = found->second;
  if ((events & EPOLLOUT) != 0) {
    if (!connection.peer.flush()) return drop(client, monotonic());
    if (!connection.peer.has_unsent()) {
      connection.waits_for_room = false;
      watch(connection.peer.descriptor(), Source::kClient, client, EPOLLIN);
    }
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_packets(client);
}

void Server::read_packets(ClientNumber client) {
  for (int count = 0; count < kPacketsAtOnce; ++count) {
    const auto found = connections_.find(client);
    if (found == connections_.end() || found->second.is_ending) return;
    ClientConnection& connection = found->second;
    const Nanoseconds now = monotonic();
    UniqueFd attached;
    switch (connection.peer.receive(packet_, attached)) {
      case PacketSocket::Got::kNothing:
        return;
      case PacketSocket::Got::kMalformed:
        log_.complain(fmt::format("uid {} sent a malformed packet", connection.peer.peer().uid),
                      now);
        [[fallthrough]];
      case PacketSocket::Got::kEnd:
        return drop(client, now);
      case PacketSocket::Got::kPacket:
        break;
    }
    const bool is_too_fast = !admission_.take_packet(connection.peer.peer().uid, now);
    exchange_->received(client, packet_.bytes(), std::move(attached), is_too_fast, now);
  }
}

void Server::drop(ClientNumber client, Nanoseconds now) {
  const auto found = connections_.find(client);
  if (found == connections_.end()) return;
  admission_.leave(found->second.peer.peer().uid);
  connections_.erase(found);
  ending_.erase(client);
  exchange_->disconnected(client, now);
}

void Server::drop_ending(Nanoseconds now) {
  while (!ending_.empty()) {
    const ClientNumber client = *ending_.begin();
    ending_.erase(ending_.begin());
    const auto found = connections_.find(client);
    // What it does not read now it is not owed.
    if (found != connections_.end()) static_cast<void>(found->second.peer.flush());
    drop(client, now);
  }
}

void Server::send(ClientNumber client, std::vector<std::byte> packet, int attached) {
  const auto found = connections_.find(client);
  if (found == connections_.end() || found->second.is_ending) return;
  ClientConnection& connection = found->second;
  if (!connection.peer.send(std::move(packet), attached)) return hang_up(client);
  if (!connection.peer.has_unsent() || connection.waits_for_room) return;
  connection.waits_for_room = true;
  watch(connection.peer.descriptor(), Source::kClient, client, EPOLLIN | EPOLLOUT);
}

void Server::hang_up(ClientNumber client) {
  const auto found = connections_.find(client);
  if (found == connections_.end()) return;
  found->second.is_ending = true;
  ending_.insert(client);
}

// ---- The rest of the outside ----

void Server::record(const JournalRecord& record) {
  JournalRecord kept = record;
  if (kept.epoch == 0) kept.epoch = epoch_;
  if (!journal_.append(kept)) log_.complain("the journal cannot be written", monotonic());
}

void Server::granted(Nanoseconds waited) {
  if (rows_) rows_->record_grant(static_cast<double>(waited) / 1e9);
}

void Server::read_signals(Nanoseconds now) {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    switch (signal.ssi_signo) {
      case SIGHUP:
        reload_policy(now);
        break;
      case SIGUSR2:
        upgrade(now);
        break;
      default:
        return end(now);
    }
  }
}

void Server::reload_policy(Nanoseconds now) {
  supervisor_.tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now / 1000));
  auto policy = policy_.read();
  if (policy) {
    exchange_->adopt(std::move(*policy), now);
    JournalRecord record;
    record.monotonic_ns = now;
    record.kind = JournalRecord::Kind::kPolicy;
    this->record(record);
    log_.say(policy_.path().empty() ? "no policy file: nothing to read anew"
                                    : "policy read anew: " + policy_.path());
  } else {
    log_.say("the policy stays as it was: " + policy.error().message());
  }
  supervisor_.tell("READY=1");
}

void Server::end(Nanoseconds now) {
  supervisor_.tell("STOPPING=1");
  has_ended_ = true;
  exchange_->end(now);
  for (auto& [client, connection] : connections_) static_cast<void>(connection.peer.flush());
  exchange_->ledger().end(pmu::LedgerState::kEnded);
  listener_.close();
  rows_.reset();
  log_.say("ended");
}

}  // namespace meterbank::arbiter
