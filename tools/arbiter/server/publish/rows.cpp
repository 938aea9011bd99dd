// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/publish/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/server/publish/lease_text.hpp"
#include "arbiter_rows.hpp"
#include "meterbank/publisher/provider.hpp"

namespace meterbank::arbiter {
namespace {

using pmu::CounterState;
using pmu::Reason;

constexpr std::string_view kTotal = "_Total";

// What the slot words of one place or of all of them say, by CounterState.
struct SlotCounts {
  std::array<std::uint64_t, 16> of = {};
  [[nodiscard]] std::uint64_t operator[](CounterState state) const noexcept {
    return of[static_cast<std::size_t>(state)];
  }
  void add(std::uint64_t word) noexcept {
    ++of[static_cast<std::size_t>(pmu::state_of<CounterState>(word))];
  }
  void add(const SlotCounts& other) noexcept {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
  }
  [[nodiscard]] std::uint64_t all() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : of) sum += count;
    return sum;
  }
};

void show_slots(pmud::PmuArbiterUpdate& row, const SlotCounts& slots) noexcept {
  row.set_counters(slots.all());
  row.set_leased(slots[CounterState::kLeased] + slots[CounterState::kRevoking]);
  row.set_free(slots[CounterState::kFree]);
  row.set_guarded(slots[CounterState::kGuarded]);
  row.set_foreign(slots[CounterState::kForeign]);
  row.set_kernel(slots[CounterState::kKernel]);
  row.set_limbo(slots[CounterState::kLimbo]);
  row.set_offline(slots[CounterState::kOffline]);
  row.set_broken(slots[CounterState::kBroken]);
}

std::uint64_t refusals(const Statistics& statistics, std::initializer_list<Reason> reasons) {
  std::uint64_t sum = 0;
  for (const Reason reason : reasons) {
    sum += statistics.refusals.at(static_cast<std::size_t>(reason));
  }
  return sum;
}

// The arbiter counts from its first start on, over upgrades; a row begins with the total of then.
void show_statistics(pmud::PmuArbiterUpdate& row, const Statistics& now) {
  using enum pmud::PmuArbiterCounter;
  Values& values = row.values();
  values.set(kGrants, now.grants);
  values.set(kQueued, now.queued);
  values.set(kRefusedTaken,
             refusals(now, {Reason::kTaken, Reason::kWholePmu, Reason::kForeign, Reason::kLimbo,
                            Reason::kCpuOffline, Reason::kUnverified}));
  values.set(kRefusedPolicy, refusals(now, {Reason::kPolicy, Reason::kQuota, Reason::kQueueFull}));
  values.set(kRefusedImpossible,
             refusals(now, {Reason::kNoPmu, Reason::kNoSuchThing, Reason::kNeverFits}));
  values.set(kRefusedMalformed, refusals(now, {Reason::kMalformed}));
  values.set(kRefusedOther, refusals(now, {Reason::kTimeOut, Reason::kCancelled, Reason::kGrace,
                                           Reason::kTooHard}));
  values.set(kRevocations, now.revocations);
  values.set(kExpiries, now.expiries);
  values.set(kPreemptions, now.preemptions);
  values.set(kSuspensions, now.suspensions);
  values.set(kViolations, now.violations);
  values.set(kMismatches, now.mismatches);
  values.set(kReclaims, now.reclaims);
}

// Closes the rows of those that `live` does not have.
template <typename Key, typename Row>
void close_others(std::map<Key, Row>& rows, const std::set<Key>& live) {
  std::erase_if(rows, [&live](const auto& entry) { return !live.contains(entry.first); });
}

template <typename Update>
void show_who(Update& row, const Lease& lease) noexcept {
  row.set_token(lease.token);
  row.set_holder(lease.holder.program);
  row.set_pid(lease.holder.pid);
  row.set_uid(lease.holder.uid);
  row.set_tag(lease.plan.tag.value_or(0));
  row.set_label(pmu::text_of(lease.asked.head.label));
  row.set_priority(name_of(static_cast<pmu::Priority>(lease.asked.head.priority)));
}

bool has_row(const Lease& lease) noexcept {
  switch (lease.state()) {
    case pmu::LeaseState::kActive:
    case pmu::LeaseState::kSuspended:
    case pmu::LeaseState::kRevoking:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string row_name_of(pmu::Token token) { return fmt::format("{:016x}", token); }

struct Rows::Sets {
  explicit Sets(Provider owned) : provider(std::move(owned)) {}

  Provider provider;
  pmud::PmuArbiter arbiters;
  pmud::PmuLease leases;
  pmud::PmuWaiter waiters;
  pmud::PmuOutsider outsiders;
  pmud::PmuValue values;

  using Place = std::pair<PmuIndex, std::uint32_t>;
  struct PlaceRow {
    pmud::PmuArbiterInstance row;
    SlotCounts slots;
  };
  struct LeaseRow {
    pmud::PmuLeaseInstance row;
    std::uint64_t word = 0;  // of the ledger, when it was last written
    Nanoseconds ends_ns = 0;
  };
  struct ValueRow {
    pmud::PmuValueInstance row;
    Nanoseconds sampled_ns = ~Nanoseconds{0};
    pmu::Quality quality = pmu::Quality::kUnverified;
  };
  using ValueKey = std::pair<pmu::Token, std::size_t>;
  using OutsiderKey = std::pair<std::uint32_t, std::pair<std::string, PmuIndex>>;

  pmud::PmuArbiterInstance total;
  std::map<Place, PlaceRow> place_rows;
  std::map<pmu::Token, LeaseRow> lease_rows;
  std::map<pmu::Token, pmud::PmuWaiterInstance> waiter_rows;
  std::map<OutsiderKey, pmud::PmuOutsiderInstance> outsider_rows;
  std::map<ValueKey, ValueRow> value_rows;
  std::uint64_t changes = ~std::uint64_t{0};  // of the arbiter, when rows were last written
  std::uint64_t left_out = 0;
  std::uint64_t outsiders_left_out = 0;

  Result<void> add();
  void show_places(const Arbiter& arbiter);
  void show_leases(const Arbiter& arbiter);
  void show_waiters(const Arbiter& arbiter);
  void show_outsiders(const Arbiter& arbiter);
  void show_values(const Arbiter& arbiter);
  void show_values_of(const Arbiter& arbiter, const Lease& lease, std::set<ValueKey>& live);
};

Result<void> Rows::Sets::add() {
  const auto one = [this](auto& set) -> Result<void> {
    auto added = std::remove_reference_t<decltype(set)>::add(provider);
    if (!added) return tl::make_unexpected(added.error());
    set = std::move(*added);
    return {};
  };
  for (auto added : {one(arbiters), one(leases), one(waiters), one(outsiders), one(values)}) {
    if (!added) return added;
  }
  auto row = arbiters.create(kTotal);
  if (!row) return tl::make_unexpected(row.error());
  total = std::move(*row);
  return {};
}

void Rows::Sets::show_places(const Arbiter& arbiter) {
  const auto& pmus = arbiter.book().machine().topology.pmus;
  SlotCounts all;
  for (PmuIndex pmu = 0; pmu < pmus.size(); ++pmu) {
    for (const std::uint32_t cpu : pmus[pmu].cpus.numbers()) {
      SlotCounts slots;
      for (const std::uint64_t word : arbiter.slot_words(pmu, cpu)) slots.add(word);
      all.add(slots);
      const auto [place, is_new] = place_rows.try_emplace({pmu, cpu});
      if (is_new) {
        auto row = arbiters.create(fmt::format("{} {}", pmus[pmu].name, cpu));
        if (row) place->second.row = std::move(*row);
      } else if (place->second.slots.of == slots.of) {
        continue;
      }
      place->second.slots = slots;
      place->second.row.update(
          [&slots](pmud::PmuArbiterUpdate& row) noexcept { show_slots(row, slots); });
    }
  }
  total.update([&all](pmud::PmuArbiterUpdate& row) noexcept { show_slots(row, all); });
}

void Rows::Sets::show_leases(const Arbiter& arbiter) {
  const Topology& topology = arbiter.book().machine().topology;
  std::set<pmu::Token> live;
  for (const auto& numbered : arbiter.leases()) {
    const Lease& lease = numbered.second;
    if (!has_row(lease)) continue;
    live.insert(lease.token);
    const std::uint64_t word = arbiter.lease_word(numbered.first);
    const auto [entry, is_new] = lease_rows.try_emplace(lease.token);
    if (is_new) {
      auto row = leases.create(row_name_of(lease.token));
      if (row) entry->second.row = std::move(*row);
    } else if (entry->second.word == word && entry->second.ends_ns == lease.ends_ns) {
      continue;
    }
    entry->second.word = word;
    entry->second.ends_ns = lease.ends_ns;
    const LeaseText text = describe(lease, topology);
    entry->second.row.update([&](pmud::PmuLeaseUpdate& row) noexcept {
      show_who(row, lease);
      row.set_state(name_of(lease.state()));
      row.set_quality(name_of(lease.quality));
      row.set_grade(name_of(lease.grade));
      row.set_since_ns(lease.granted_ns);
      row.set_ends_ns(lease.ends_ns);
      row.set_term_ns(lease.asked.head.term_ns);
      row.set_pmu(text.pmus);
      row.set_cpus(text.cpus);
      row.set_counters(text.counters);
      row.set_counters_held(text.counters_held);
    });
  }
  close_others(lease_rows, live);
}

void Rows::Sets::show_waiters(const Arbiter& arbiter) {
  const Topology& topology = arbiter.book().machine().topology;
  std::set<pmu::Token> live;
  std::uint64_t position = 0;
  for (const std::uint16_t number : arbiter.queue()) {
    const auto found = arbiter.leases().find(number);
    if (found == arbiter.leases().end()) continue;
    const Lease& lease = found->second;
    live.insert(lease.token);
    const auto [entry, is_new] = waiter_rows.try_emplace(lease.token);
    if (is_new) {
      auto row = waiters.create(row_name_of(lease.token));
      if (row) entry->second = std::move(*row);
    }
    const LeaseText text = describe(lease, topology);
    const std::uint64_t wait = lease.asked.head.wait_ns;
    entry->second.update([&](pmud::PmuWaiterUpdate& row) noexcept {
      show_who(row, lease);
      row.set_position(position);
      row.set_since_ns(lease.asked_ns);
      row.set_gives_up_ns(wait > pmu::kForever - lease.asked_ns ? 0 : lease.asked_ns + wait);
      row.set_pmu(text.pmus);
      row.set_cpus(text.cpus);
    });
    ++position;
  }
  close_others(waiter_rows, live);
}

void Rows::Sets::show_outsiders(const Arbiter& arbiter) {
  const Topology& topology = arbiter.book().machine().topology;
  std::set<OutsiderKey> live;
  outsiders_left_out = 0;
  for (const Outsider& outsider : arbiter.outsiders()) {
    if (live.size() >= kOutsiderRowsMax) {
      ++outsiders_left_out;
      continue;
    }
    const OutsiderKey key{outsider.pid, {outsider.name, outsider.pmu}};
    live.insert(key);
    const bool is_known = outsider.pmu < topology.pmus.size();
    const std::string pmu = is_known ? topology.pmus[outsider.pmu].name : std::string();
    const auto [entry, is_new] = outsider_rows.try_emplace(key);
    if (is_new) {
      auto row = outsiders.create(fmt::format("{} {} {}", outsider.pid, pmu, outsider.name));
      if (row) entry->second = std::move(*row);
    }
    const std::string cpus = outsider.cpus.text();
    entry->second.update([&](pmud::PmuOutsiderUpdate& row) noexcept {
      row.set_name(outsider.name);
      row.set_pid(outsider.pid);
      row.set_uid(outsider.uid);
      row.set_pmu(pmu);
      row.set_cpus(cpus);
      row.set_counters(outsider.counters);
      row.set_how(outsider.how);
      row.set_first_ns(outsider.first_ns);
      row.set_last_ns(outsider.last_ns);
    });
  }
  close_others(outsider_rows, live);
}

void Rows::Sets::show_values(const Arbiter& arbiter) {
  std::set<ValueKey> live;
  left_out = 0;
  for (const auto& [number, lease] : arbiter.leases()) {
    if (has_row(lease) && !lease.carriers.empty()) show_values_of(arbiter, lease, live);
  }
  close_others(value_rows, live);
}

void Rows::Sets::show_values_of(const Arbiter& arbiter, const Lease& lease,
                                std::set<ValueKey>& live) {
  const pmu::LeaseValues now = arbiter.values(lease);
  for (std::size_t position = 0; position < now.values.size(); ++position) {
    const ValueKey key{lease.token, position};
    if (!value_rows.contains(key) && value_rows.size() >= kValueRowsMax) {
      ++left_out;
      continue;
    }
    live.insert(key);
    const auto [entry, is_new] = value_rows.try_emplace(key);
    ValueRow& shown = entry->second;
    if (is_new) {
      auto row = values.create(fmt::format("{}.{}", row_name_of(lease.token), position));
      if (row) shown.row = std::move(*row);
    } else if (shown.sampled_ns == now.head.sampled_ns && shown.quality == now.head.quality) {
      continue;
    }
    shown.sampled_ns = now.head.sampled_ns;
    shown.quality = now.head.quality;
    const pmu::Value& value = now.values[position];
    // What never ran has no value, whatever the lease as a whole is worth.
    const bool is_starved = value.enabled_ns != 0 && value.running_ns == 0;
    const auto quality = is_starved ? pmu::Quality::kStarved : now.head.quality;
    shown.row.update([&](pmud::PmuValueUpdate& row) noexcept {
      row.values().set(pmud::PmuValueCounter::kValue, value.value);
      row.set_enabled_ns(value.enabled_ns);
      row.set_running_ns(value.running_ns);
      row.set_sampled_ns(now.head.sampled_ns);
      row.set_token(lease.token);
      row.set_quality(name_of(quality));
      row.set_item(value.item);
      row.set_cpu(value.cpu);
      row.set_label(pmu::text_of(lease.asked.head.label));
    });
  }
}

Result<Rows> Rows::create(const std::string& directory) {
  auto provider = Provider::create({.name = std::string(pmud::PmuLease::kProvider),
                                    .directory = directory,
                                    .quarantine = std::chrono::milliseconds(1000)});
  if (!provider) return tl::make_unexpected(provider.error());
  auto sets = std::make_unique<Sets>(std::move(*provider));
  if (auto added = sets->add(); !added) return tl::make_unexpected(added.error());
  return Rows(std::move(sets));
}

Rows::Rows(std::unique_ptr<Sets> sets) noexcept : sets_(std::move(sets)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

void Rows::update(const Arbiter& arbiter, const ServerCounts& counts) {
  Sets& sets = *sets_;
  if (arbiter.changes() != sets.changes) {
    sets.changes = arbiter.changes();
    sets.show_places(arbiter);
    sets.show_leases(arbiter);
  }
  sets.show_waiters(arbiter);
  sets.show_outsiders(arbiter);
  sets.show_values(arbiter);
  const std::uint64_t waiting = sets.waiter_rows.size();
  sets.total.update([&](pmud::PmuArbiterUpdate& row) {
    row.set_leases(sets.lease_rows.size());
    row.set_waiters(waiting);
    row.set_outsiders(arbiter.outsiders().size());
    row.set_clients(counts.clients);
    row.values().set(pmud::PmuArbiterCounter::kConnectionsRefused, counts.connections_refused);
    row.values().set(pmud::PmuArbiterCounter::kPacketsRejected, counts.packets_rejected);
    row.set_rows_left_out(sets.left_out + sets.outsiders_left_out);
    show_statistics(row, arbiter.statistics());
  });
}

void Rows::record_grant(double seconds) noexcept { sets_->total.record_grant_latency(seconds); }

}  // namespace meterbank::arbiter
