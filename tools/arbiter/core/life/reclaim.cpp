// SPDX-License-Identifier: Apache-2.0
//
// Leases that outlive the connection or the arbiter of their holder.
#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {

void Arbiter::State::end_grace() {
  const auto ended = recovery.end_grace(now);
  if (!ended) return;
  for (const JournalRecord& record : *ended) outbox.record(record);
  has_news = true;
}

// The same user takes over what its connection before left behind, with all that it has counted.
bool Arbiter::State::take_over(ClientNumber client, std::uint64_t id, const pmu::Allocate& asked) {
  Lease* lease = leases.find_present(pmu::lease_of(asked.head.reclaims));
  if (asked.head.reclaims == 0 || lease == nullptr) return false;
  const ClientIdentity& identity = clients.at(client).identity;
  const bool is_left = lease->token == asked.head.reclaims && lease->client == 0 &&
                       lease->is_held() && lease->state() != pmu::LeaseState::kRevoking;
  if (!is_left || lease->holder.uid != identity.uid ||
      digest_of(asked) != digest_of(lease->asked)) {
    return false;
  }
  const pmu::Token old = lease->token;
  lease->client = client;
  lease->request = id;
  lease->holder = identity;
  lease->deadline_ns = 0;
  lease->heartbeat_ns = now;
  // Another process has it from here on: a client that still has the old token is fenced by that.
  leases.renew_token(*lease);
  ++changes;
  book.touch(lease->plan);
  ++statistics.reclaims;
  outbox.record(JournalRecord::Kind::kReclaimed, *lease, old);
  record_grant(*lease);
  send_granted(*lease);
  return true;
}

}  // namespace meterbank::arbiter
