// SPDX-License-Identifier: Apache-2.0
//
// What an Arbiter has decided and its caller has yet to do, in the order of the decisions: messages
// to clients, requests to the kernel, records for the journal.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>

#include "arbiter/core/arbiter.hpp"

namespace meterbank::arbiter {

class Outbox {
 public:
  // `epoch`: of the arbiter; records carry it.
  explicit Outbox(std::uint16_t epoch) noexcept : epoch_(epoch) {}

  // Records carry this time from now on.
  void set_time(Nanoseconds now) noexcept { now_ = now; }

  // Messages to clients that are not connected are dropped.
  void connect(ClientNumber client) { connected_.insert(client); }
  void disconnect(ClientNumber client) { connected_.erase(client); }

  void send(ClientNumber client, std::uint64_t id, pmu::ArbiterMessage message);
  // The values of the lease as it is now, read when the message is taken out.
  void send_values(const Lease& lease, std::uint64_t id);
  void notice(const Lease& lease, pmu::NoticeKind kind, Nanoseconds deadline_ns);
  void record(JournalRecord::Kind kind, const Lease& lease, std::uint64_t other = 0,
              std::uint32_t reason = 0);
  // Fills in time and epoch.
  void record(JournalRecord record);
  // Anything else that the caller is to do.
  void ask(Action action);

  using ValuesOf = std::function<pmu::LeaseValues(const Lease&)>;
  // Takes out the oldest action; nothing: none is left.
  [[nodiscard]] std::optional<Action> next(const ValuesOf& values_of);

 private:
  struct Pending {
    Action action;
    std::optional<Lease> values_of = {};  // fills the Send when its turn comes
  };

  std::uint16_t epoch_;
  Nanoseconds now_ = 0;
  std::set<ClientNumber> connected_;
  std::deque<Pending> actions_;
};

}  // namespace meterbank::arbiter
