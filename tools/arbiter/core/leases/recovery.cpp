// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/recovery.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "meterbank/base/fnv1a.hpp"

namespace meterbank::arbiter {

std::uint64_t digest_of(const pmu::Allocate& asked) noexcept {
  Fnv1a digest;
  const std::uint32_t what_is_had = pmu::kAllocateHasGroups | pmu::kAllocateHasItems;
  digest.add_object(asked.head.flags & what_is_had);
  digest.add_object(asked.head.task);
  digest.add_object(asked.head.pmu);
  for (const pmu::CpuGroup& group : asked.groups) digest.add_object(group);
  for (const pmu::Item& item : asked.items) digest.add_object(item);
  return digest.value();
}

void Recovery::remember(const std::vector<JournalRecord>& journal) {
  for (const JournalRecord& record : journal) {
    switch (record.kind) {
      case JournalRecord::Kind::kGranted:
        leases_[record.token] = record;
        break;
      case JournalRecord::Kind::kDelegated:
        if (leases_.contains(record.token) && record.reason < pmu::kItemsMax) {
          std::vector<KeptCounter>& counters = counters_[record.token];
          counters.resize(std::max<std::size_t>(counters.size(), record.reason + std::size_t{1}));
          counters[record.reason].kernel_id = record.other;
        }
        break;
      case JournalRecord::Kind::kReclaimed:
        reclaim(record.other);
        break;
      case JournalRecord::Kind::kFenced:
      case JournalRecord::Kind::kFreed:
        reclaim(record.token);
        break;
      default:
        break;
    }
  }
}

bool Recovery::reclaim(pmu::Token token) {
  counters_.erase(token);
  return leases_.erase(token) != 0;
}

std::optional<Decision> Recovery::refusal(const Lease& lease) const {
  const auto found = leases_.find(lease.asked.head.reclaims);
  const JournalRecord* record = found == leases_.end() ? nullptr : &found->second;
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

const Recovery::KeptCounter* Recovery::find_counter(const pmu::Offer& offer) const {
  const auto counters = counters_.find(offer.token);
  if (counters == counters_.end() || offer.kernel_id == 0) return nullptr;
  // Numbers of the kernel are never used again, so it is this counter and no other.
  const auto counter =
      std::find_if(counters->second.begin(), counters->second.end(),
                   [&](const KeptCounter& one) { return one.kernel_id == offer.kernel_id; });
  return counter == counters->second.end() ? nullptr : &*counter;
}

bool Recovery::expects(const ClientIdentity& client, const pmu::Offer& offer) const {
  const auto lease = leases_.find(offer.token);
  if (lease == leases_.end()) return false;
  // A descriptor is had by its process, also where others of its user may reclaim the lease.
  const bool is_holder =
      lease->second.pid == client.pid && lease->second.start_time == client.start_time;
  return is_holder && find_counter(offer) != nullptr;
}

void Recovery::accept(const pmu::Offer& offer) {
  std::vector<KeptCounter>& counters = counters_.at(offer.token);
  const auto counter = std::find_if(counters.begin(), counters.end(), [&](const KeptCounter& one) {
    return one.kernel_id == offer.kernel_id;
  });
  counter->is_offered = true;
}

std::vector<std::uint64_t> Recovery::kept_for(pmu::Token token) const {
  std::vector<std::uint64_t> numbers;
  const auto counters = counters_.find(token);
  if (counters == counters_.end()) return numbers;
  for (const KeptCounter& one : counters->second) {
    numbers.push_back(one.is_offered ? one.kernel_id : 0);
  }
  return numbers;
}

std::optional<std::vector<JournalRecord>> Recovery::end_grace(Nanoseconds now) {
  const bool is_over = grace_until_ns_ == 0 && leases_.empty();
  if (is_over || is_grace(now)) return std::nullopt;
  grace_until_ns_ = 0;
  counters_.clear();
  std::vector<JournalRecord> ended;
  for (const auto& [token, held] : std::exchange(leases_, {})) {
    JournalRecord& record = ended.emplace_back(held);
    record.kind = JournalRecord::Kind::kFenced;
    record.reason = static_cast<std::uint16_t>(pmu::Cause::kHolderGone);
    record.other = 0;
  }
  return ended;
}

void Recovery::save(nlohmann::json& saved) const {
  saved["grace"] = grace_until_ns_;
  nlohmann::json& before = saved["remembered"] = nlohmann::json::array();
  for (const auto& [token, record] : leases_) {
    before.push_back({token, record.other, record.start_time, record.pid, record.uid, record.reason,
                      record.counters});
  }
}

void Recovery::load(const nlohmann::json& from) {
  grace_until_ns_ = from.at("grace");
  for (const nlohmann::json& one : from.at("remembered")) {
    const pmu::Token token = one.at(0);
    leases_[token] = {.token = token,
                      .other = one.at(1),
                      .start_time = one.at(2),
                      .pid = one.at(3),
                      .uid = one.at(4),
                      .kind = JournalRecord::Kind::kGranted,
                      .reason = one.at(5),
                      .counters = one.at(6)};
  }
}

}  // namespace meterbank::arbiter
