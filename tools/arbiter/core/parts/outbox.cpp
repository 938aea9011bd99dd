// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/outbox.hpp"

#include <utility>

namespace meterbank::arbiter {

void Outbox::send(ClientNumber client, std::uint64_t id, pmu::ArbiterMessage message) {
  if (connected_.contains(client)) ask(Send{client, id, std::move(message)});
}

void Outbox::send_values(const Lease& lease, std::uint64_t id) {
  if (!connected_.contains(lease.client)) return;
  actions_.push_back({.action = Send{lease.client, id, pmu::LeaseValues{}}, .values_of = lease});
}

void Outbox::notice(const Lease& lease, pmu::NoticeKind kind, Nanoseconds deadline_ns) {
  send(lease.client, 0, pmu::Notice{lease.token, kind, lease.cause, deadline_ns});
}

void Outbox::record(JournalRecord::Kind kind, const Lease& lease, std::uint64_t other,
                    std::uint32_t reason) {
  record({.token = lease.token,
          .other = other,
          .start_time = lease.holder.start_time,
          .pid = lease.holder.pid,
          .uid = lease.holder.uid,
          .kind = kind,
          .reason = static_cast<std::uint16_t>(reason),
          .counters = static_cast<std::uint32_t>(lease.items.size())});
}

void Outbox::record(JournalRecord record) {
  record.monotonic_ns = now_;
  record.epoch = epoch_;
  ask(Record{record});
}

void Outbox::ask(Action action) { actions_.push_back({.action = std::move(action)}); }

std::optional<Action> Outbox::next(const ValuesOf& values_of) {
  if (actions_.empty()) return std::nullopt;
  Pending pending = std::move(actions_.front());
  actions_.pop_front();
  if (pending.values_of) std::get<Send>(pending.action).message = values_of(*pending.values_of);
  return std::move(pending.action);
}

}  // namespace meterbank::arbiter
