// SPDX-License-Identifier: Apache-2.0
//
// An arbiter that says what a test tells it to say: one that grants everything by itself, or lies.
//
// It lives in a thread of its own, as LedgerOwner wants it; run() does something there.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"
#include "meterbank/shm/pmu/ledger_owner.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

class ScriptedArbiter {
 public:
  struct Client {
    PacketSocket socket;
    std::optional<MappedExtent> heartbeat = {};
  };
  // True: the message was dealt with. On the arbiter's thread.
  using Script = std::function<bool(ScriptedArbiter& self, Client& client, std::uint64_t id,
                                    const pmu::ClientMessage& message)>;

  explicit ScriptedArbiter(std::string path, Script script = {}, std::uint16_t epoch = 1)
      : path_(std::move(path)), script_(std::move(script)), epoch_(epoch) {
    wake_.reset(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread([this] { live(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return listens_; });
  }
  ScriptedArbiter(const ScriptedArbiter&) = delete;
  ScriptedArbiter& operator=(const ScriptedArbiter&) = delete;
  ~ScriptedArbiter() { stop(); }

  // As a crash looks to its clients.
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    wake();
    thread_.join();
  }

  // ---- From the test ----

  // On the arbiter's thread, at once; returns when it was done.
  void run(const std::function<void(ScriptedArbiter&)>& act) {
    std::unique_lock lock(mutex_);
    acts_.push_back(&act);
    const std::uint64_t until = ++acts_pushed_;
    wake();
    changed_.wait(lock, [&] { return acts_done_ >= until; });
  }
  // All of one type that came so far.
  template <typename Message>
  [[nodiscard]] std::vector<Message> received() {
    const std::lock_guard lock(mutex_);
    return of_type<Message>();
  }
  // Waits until `count` have come.
  template <typename Message>
  [[nodiscard]] std::vector<Message> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30),
                      [&] { return of_type<Message>().size() >= count; });
    return of_type<Message>();
  }

  // ---- On its thread ----

  [[nodiscard]] std::list<Client>& clients() noexcept { return clients_; }
  [[nodiscard]] pmu::LedgerOwner& ledger() noexcept { return *ledger_; }
  // Beside the first one, which clients may still look at.
  void keep_ledger(pmu::LedgerOwner ledger) { later_.push_back(std::move(ledger)); }
  [[nodiscard]] std::uint16_t epoch() const noexcept { return epoch_; }

  static void send(Client& client, std::uint64_t id, const pmu::ArbiterMessage& message,
                   int attached = -1) {
    client.socket.send(pmu::encode(id, message), attached);
  }
  void send_all(const pmu::ArbiterMessage& message, int attached = -1) {
    for (Client& client : clients_) send(client, 0, message, attached);
  }
  void set_lease(pmu::Token token, pmu::LeaseState state) {
    ledger_->set_lease(pmu::lease_of(token), pmu::ledger_word(state, 0, token));
    ledger_->publish();
  }
  // A number and a generation that were not given out before; in force.
  [[nodiscard]] pmu::Token new_token() {
    const auto number = static_cast<std::uint16_t>(++leases_);
    const pmu::Token token = pmu::make_token(epoch_, number, 7);
    set_lease(token, pmu::LeaseState::kActive);
    return token;
  }
  // One counter for each item.
  [[nodiscard]] pmu::Granted grant_for(const pmu::Allocate& asked) {
    pmu::Granted granted;
    granted.head.token = (asked.head.flags & pmu::kAllocateDryRun) != 0 ? 0 : new_token();
    granted.head.term_ns = asked.head.term_ns;
    granted.head.quality = pmu::Quality::kExact;
    for (std::uint32_t item = 0; item < asked.items.size(); ++item) {
      granted.counters.push_back({.item = item, .counter = item, .slot = item});
    }
    granted.head.counter_count = static_cast<std::uint32_t>(granted.counters.size());
    return granted;
  }
  void welcome(Client& client, std::uint64_t id, std::uint32_t flags = 0) {
    send(client, id, pmu::Welcome{.flags = flags, .epoch = epoch_, .client = 42},
         ledger_->descriptor());
  }

 private:
  template <typename Message>
  [[nodiscard]] std::vector<Message> of_type() const {
    std::vector<Message> found;
    for (const pmu::ClientMessage& message : received_) {
      if (const auto* one = std::get_if<Message>(&message)) found.push_back(*one);
    }
    return found;
  }

  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  }

  void live() {
    const std::vector<pmu::LedgerPlaceForm> places{{.pmu = "core", .cpu = 0, .general = 4}};
    ledger_.emplace(*pmu::LedgerOwner::create(epoch_, places));
    auto listener = PacketListener::listen(path_, 64);
    {
      const std::lock_guard lock(mutex_);
      listens_ = true;
    }
    changed_.notify_all();
    for (;;) {
      std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}, {listener->descriptor(), POLLIN, 0}};
      for (const Client& client : clients_) {
        polled.push_back({client.socket.descriptor(), POLLIN, 0});
      }
      ::poll(polled.data(), polled.size(), -1);
      if (polled[0].revents != 0 && !act()) break;
      if (polled[1].revents != 0) {
        PacketSocket socket;
        static_cast<void>(listener->accept(socket));
        if (socket) clients_.push_back({std::move(socket)});
      }
      serve();
    }
    clients_.clear();
    later_.clear();
    ledger_.reset();
  }

  // False: the end.
  bool act() {
    std::uint64_t count = 0;
    static_cast<void>(!::read(wake_.get(), &count, sizeof count));
    std::unique_lock lock(mutex_);
    while (!acts_.empty()) {
      const auto* const next = acts_.front();
      acts_.pop_front();
      lock.unlock();
      (*next)(*this);
      lock.lock();
      ++acts_done_;
    }
    changed_.notify_all();
    return !stops_;
  }

  void serve() {
    for (auto client = clients_.begin(); client != clients_.end();) {
      UniqueFd attached;
      PacketSocket::Got got = PacketSocket::Got::kPacket;
      while ((got = client->socket.receive(packet_, attached)) == PacketSocket::Got::kPacket) {
        handle(*client, std::move(attached));
        if (!client->socket) break;
      }
      const bool ends = !client->socket || got == PacketSocket::Got::kEnd;
      client = ends ? clients_.erase(client) : std::next(client);
    }
  }

  void handle(Client& client, UniqueFd attached) {
    auto decoded = pmu::decode_client_message(packet_.bytes());
    if (decoded.rejection) return send(client, decoded.id, pmu::Rejected{*decoded.rejection});
    if (std::holds_alternative<pmu::Hello>(decoded.message) && attached) {
      if (auto page = MappedExtent::map(std::move(attached), 1 << 16)) {
        client.heartbeat.emplace(std::move(*page));
      }
    }
    {
      const std::lock_guard lock(mutex_);
      received_.push_back(decoded.message);
    }
    if (!script_ || !script_(*this, client, decoded.id, decoded.message)) {
      answer(client, decoded.id, decoded.message);
    }
    changed_.notify_all();
  }

  void answer(Client& client, std::uint64_t id, const pmu::ClientMessage& message) {
    if (std::holds_alternative<pmu::Hello>(message)) return welcome(client, id);
    if (const auto* allocate = std::get_if<pmu::Allocate>(&message)) {
      return send(client, id, grant_for(*allocate));
    }
    if (const auto* free = std::get_if<pmu::Free>(&message)) {
      set_lease(free->token, pmu::LeaseState::kFenced);
      return send(client, id, pmu::Done{});
    }
    if (const auto* read = std::get_if<pmu::Read>(&message)) {
      pmu::LeaseValues values;
      values.head.token = read->token;
      values.head.quality = pmu::Quality::kExact;
      values.values.push_back(
          {.item = 0, .cpu = 0, .value = 1234, .enabled_ns = 5, .running_ns = 5});
      return send(client, id, values);
    }
    if (std::holds_alternative<pmu::Probe>(message)) return send(client, id, pmu::Room{3, 1});
    if (std::holds_alternative<pmu::Owners>(message)) {
      pmu::OwnersAnswer owners;
      owners.owners.push_back({.counter = 0, .kind = pmu::OwnerKind::kTagged, .tag = 0x4d42});
      return send(client, id, owners);
    }
    if (!std::holds_alternative<pmu::Cancel>(message)) send(client, id, pmu::Done{});
  }

  const std::string path_;
  const Script script_;
  const std::uint16_t epoch_;
  UniqueFd wake_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool listens_ = false;
  bool stops_ = false;
  std::list<const std::function<void(ScriptedArbiter&)>*> acts_;
  std::uint64_t acts_pushed_ = 0;
  std::uint64_t acts_done_ = 0;
  std::vector<pmu::ClientMessage> received_;

  std::optional<pmu::LedgerOwner> ledger_;
  std::list<pmu::LedgerOwner> later_;
  std::list<Client> clients_;
  PacketBuffer packet_;
  std::uint32_t leases_ = 0;
};

}  // namespace meterbank::test
