// SPDX-License-Identifier: Apache-2.0
//
// After a crash. What was held is read from the journal; for a while only those who held it are
// served, so that a restart of the arbiter lets no client come between a lease and its holder.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {
namespace {

// FNV-1a: keeps honest clients from mistakes, and is no defence.
class Digest {
 public:
  template <typename T>
  void add(const T& value) noexcept {
    static_assert(std::has_unique_object_representations_v<T>);
    const auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
    for (const unsigned char byte : bytes) {
      value_ = (value_ ^ byte) * 0x100000001b3;
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t digest_of(const pmu::Allocate& asked) noexcept {
  Digest digest;
  const std::uint32_t what_is_had = pmu::kAllocateHasGroups | pmu::kAllocateHasItems;
  digest.add(asked.head.flags & what_is_had);
  digest.add(asked.head.task);
  digest.add(asked.head.pmu);
  for (const pmu::CpuGroup& group : asked.groups) digest.add(group);
  for (const pmu::Item& item : asked.items) digest.add(item);
  return digest.value();
}

void Arbiter::State::remember(const std::vector<JournalRecord>& journal) {
  for (const JournalRecord& record : journal) {
    switch (record.kind) {
      case JournalRecord::Kind::kGranted:
        remembered[record.token] = record;
        break;
      case JournalRecord::Kind::kDelegated:
        if (remembered.contains(record.token) && record.reason < pmu::kItemsMax) {
          std::vector<KeptCounter>& counters = kept_counters[record.token];
          counters.resize(std::max<std::size_t>(counters.size(), record.reason + std::size_t{1}));
          counters[record.reason].kernel_id = record.other;
        }
        break;
      case JournalRecord::Kind::kReclaimed:
        forget_remembered(record.other);
        break;
      case JournalRecord::Kind::kFenced:
      case JournalRecord::Kind::kFreed:
        forget_remembered(record.token);
        break;
      default:
        break;
    }
  }
}

void Arbiter::State::forget_remembered(pmu::Token token) {
  remembered.erase(token);
  kept_counters.erase(token);
}

KeptCounter* Arbiter::State::kept_counter(ClientNumber client, const pmu::Offer& offer) {
  const auto lease = remembered.find(offer.token);
  const auto counters = kept_counters.find(offer.token);
  if (lease == remembered.end() || counters == kept_counters.end()) return nullptr;
  // A descriptor is had by its process, also where others of its user may reclaim the lease.
  const ClientIdentity& identity = clients.at(client).identity;
  if (lease->second.pid != identity.pid || lease->second.start_time != identity.start_time) {
    return nullptr;
  }
  // Numbers of the kernel are never used again, so it is this counter and no other.
  const auto counter =
      std::find_if(counters->second.begin(), counters->second.end(),
                   [&](const KeptCounter& one) { return one.kernel_id == offer.kernel_id; });
  return counter == counters->second.end() || offer.kernel_id == 0 ? nullptr : &*counter;
}

std::vector<std::uint64_t> Arbiter::State::kept_for(const Lease& lease) const {
  std::vector<std::uint64_t> numbers;
  const auto counters = kept_counters.find(lease.asked.head.reclaims);
  if (counters == kept_counters.end() || !delegates(lease)) return numbers;
  for (const KeptCounter& one : counters->second) {
    numbers.push_back(one.is_offered ? one.kernel_id : 0);
  }
  return numbers;
}

std::optional<Decision> Arbiter::State::reclaim_refusal(const Lease& lease) const {
  const auto found = remembered.find(lease.asked.head.reclaims);
  const JournalRecord* record = found == remembered.end() ? nullptr : &found->second;
  const bool is_same_process = record != nullptr && record->pid == lease.holder.pid &&
                               record->start_time == lease.holder.start_time;
  const bool is_detached = record != nullptr && (record->reason & kJournalDetached) != 0;
  const bool is_its =
      record != nullptr && record->uid == lease.holder.uid && (is_same_process || is_detached);
  if (is_its && record->other == digest_of(lease.asked)) return std::nullopt;
  Decision decision;
  decision.answer = Answer::kInvalidParameter;
  decision.reason = Reason::kMalformed;
  decision.sentence = is_its ? "what is reclaimed was asked for in other words"
                             : "this client held no such lease when the arbiter before ended";
  return decision;
}

void Arbiter::State::end_grace() {
  const bool is_over = grace_until_ns == 0 && remembered.empty();
  if (is_over || is_grace()) return;
  grace_until_ns = 0;
  for (auto& [token, held] : remembered) {
    JournalRecord ended = held;
    ended.kind = JournalRecord::Kind::kFenced;
    ended.reason = static_cast<std::uint16_t>(pmu::Cause::kHolderGone);
    ended.other = 0;
    outbox.record(ended);
  }
  remembered.clear();
  kept_counters.clear();
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
