// SPDX-License-Identifier: Apache-2.0
//
// Leases that outlive the connection or the arbiter of their holder.
#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

void Arbiter::LeasePath::end_grace() {
  const auto ended = recovery_.end_grace(now_);
  if (!ended) return;
  for (const JournalRecord& record : *ended) outbox_.record(record);
  has_news_ = true;
}

// The same user takes over what its connection before left behind, with all that it has counted.
bool Arbiter::LeasePath::take_over(ClientNumber client, std::uint64_t id,
                                   const pmu::Allocate& asked) {
  Lease* lease = leases_.find_present(pmu::lease_of(asked.head.reclaims));
  if (asked.head.reclaims == 0 || lease == nullptr) return false;
  const ClientIdentity& identity = clients_.at(client).identity;
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
  lease->heartbeat_ns = now_;
  // Another process has it from here on: a client that still has the old token is fenced by that.
  leases_.renew_token(*lease);
  ++changes_;
  book_.touch(lease->plan);
  ++statistics_.reclaims;
  outbox_.record(JournalRecord::Kind::kReclaimed, *lease, old);
  record_grant(*lease);
  send_granted(*lease);
  return true;
}

}  // namespace meterbank::arbiter
