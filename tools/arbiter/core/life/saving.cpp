// SPDX-License-Identifier: Apache-2.0
//
// All that is known, as text for the program that takes over. Bookings are not written down: leases
// and carriers are booked anew, and may stand on other counters, as they may at any time. What the
// kernel has yet to let go of after a grant that was undone has no owner and is not booked: if it
// is lent too early, the kernel refuses, and the arbiter tries again.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "arbiter/core/leases/saved_values.hpp"
#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

using nlohmann::json;

[[nodiscard]] json to_json(const ArbiterOptions& options) {
  return {options.epoch,     options.own_uid,    options.has_backend,    options.leases_max,
          options.drain_ns,  options.grace_ns,   options.detached_ns,    options.slice_ns,
          options.ageing_ns, options.confirm_ns, options.has_descriptors};
}

[[nodiscard]] ArbiterOptions options_from(const json& from) {
  return {.epoch = from.at(0),
          .own_uid = from.at(1),
          .has_backend = from.at(2),
          .has_descriptors = from.at(10),
          .leases_max = from.at(3),
          .drain_ns = from.at(4),
          .grace_ns = from.at(5),
          .detached_ns = from.at(6),
          .slice_ns = from.at(7),
          .ageing_ns = from.at(8),
          .confirm_ns = from.at(9)};
}

[[nodiscard]] json to_json(const Statistics& counts) {
  return {counts.grants,     counts.refusals,    counts.queued,      counts.revocations,
          counts.expiries,   counts.preemptions, counts.suspensions, counts.violations,
          counts.mismatches, counts.reclaims};
}

[[nodiscard]] Statistics statistics_from(const json& from) {
  Statistics counts;
  counts.grants = from.at(0);
  counts.refusals = from.at(1).get<std::array<std::uint64_t, 32>>();
  counts.queued = from.at(2);
  counts.revocations = from.at(3);
  counts.expiries = from.at(4);
  counts.preemptions = from.at(5);
  counts.suspensions = from.at(6);
  counts.violations = from.at(7);
  counts.mismatches = from.at(8);
  counts.reclaims = from.at(9);
  return counts;
}

}  // namespace

std::string Arbiter::LeasePath::save() const {
  json saved = {{"options", to_json(options_)},
                {"now", now_},
                {"waiting", line_.in_order()},
                {"changes", changes_},
                {"statistics", to_json(statistics_)}};
  leases_.save(saved);
  carriers_.save(saved);
  turns_.save(saved);
  recovery_.save(saved);
  outsiders_.save(saved);
  reservations_.save(saved);
  json& known = saved["clients"] = json::array();
  for (const auto& [number, client] : clients_) known.push_back({number, to_json(client.identity)});
  return saved.dump();
}

bool Arbiter::LeasePath::load(std::string_view saved) {
  // The library throws where a key is missing or has another type; nothing of that leaves here.
  try {
    const json from = json::parse(saved);
    load_plain(from);
    if (!leases_.load(from, book_.machine()) || !carriers_.load(from)) return false;
    if (!is_consistent() || !book_again()) return false;
    for (const json& one : from.at("waiting")) {
      Lease* lease = leases_.find(one.get<LeaseNumber>());
      if (lease == nullptr) return false;
      line_.join(*lease);
    }
    changes_ = from.at("changes");
    note_times();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

void Arbiter::LeasePath::load_plain(const nlohmann::json& from) {
  options_ = options_from(from.at("options"));
  has_begun_ = true;
  now_ = from.at("now");
  outbox_ = Outbox(options_.epoch);
  leases_ = LeaseTable(options_.epoch, options_.leases_max, policy_);
  times_ = LeaseTimes(options_.leases_max);
  outbox_.set_time(now_);
  carriers_ = KernelCounters(outbox_, options_.has_backend, options_.confirm_ns);
  line_ = WaitLine(options_.ageing_ns);
  line_.set_time(now_);
  turns_ = Turns(options_.slice_ns);
  turns_.load(from);
  recovery_.load(from);
  outsiders_ = Outsiders(book_, outbox_, options_.has_backend);
  outsiders_.load(from);
  reservations_.load(from);
  statistics_ = statistics_from(from.at("statistics"));
  for (const json& one : from.at("clients")) {
    ClientIdentity identity = identity_from(one.at(1));
    Rights rights = policy_.rights_of(identity, options_.own_uid);
    const ClientNumber client = one.at(0);
    clients_.insert_or_assign(client, Client{std::move(identity), std::move(rights)});
    outbox_.connect(client);
  }
}

bool Arbiter::LeasePath::is_consistent() const {
  const auto is_known = [&](LeaseNumber number) { return leases_.contains(number); };
  const std::vector<LeaseNumber>& members = turns_.members();
  if (!std::all_of(members.begin(), members.end(), is_known)) return false;
  if (turns_.present() != 0 && !is_known(turns_.present())) return false;
  for (const auto& [number, lease] : leases_) {
    if (number == 0 || number >= options_.leases_max) return false;
    if (lease.token != 0 && pmu::lease_of(lease.token) != number) return false;
    std::size_t counters = 0;
    for (const CarrierNumber of : lease.carriers) {
      const Carrier* carrier = carriers_.find(of);
      if (carrier == nullptr) return false;
      counters += carrier->openings.size();
    }
    const bool ends =
        lease.state() == pmu::LeaseState::kFenced || lease.state() == pmu::LeaseState::kLimbo;
    if (!ends && counters != lease.items.size()) return false;
  }
  return std::all_of(carriers_.begin(), carriers_.end(), [&](const auto& entry) {
    const Carrier& carrier = entry.second;
    return std::all_of(carrier.leases.begin(), carrier.leases.end(), is_known);
  });
}

bool Arbiter::LeasePath::book_again() {
  // Before those that get only what is left: outsiders, and the reserve.
  reservations_.forget_bookings();
  const CpuSet online = book_.machine().online;
  book_.set_online(book_.machine().possible);
  for (const auto& [number, lease] : leases_) {
    const Alternative alternative = alternative_of(lease);
    const bool is_aside =
        lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kPreempted;
    for (const Piece& piece : pieces_of(lease)) {
      if (piece.openings.empty()) {
        if (lease.has_rest && !book_.try_take(number, piece.plan, alternative).is_granted()) {
          return false;
        }
        continue;
      }
      for (const CarrierNumber of : lease.carriers) {
        const Carrier& carrier = carriers_.at(of);
        const bool is_its = carrier.plan.parts.empty() && carrier.counts_as(piece.openings);
        if (!is_its) continue;
        carriers_.set_plan(of, piece.plan);
        if (is_aside) break;
        if (!book_.try_take(booking_of(of), piece.plan, alternative).is_granted()) return false;
        break;
      }
    }
  }
  book_.set_online(online);
  outsiders_.book();
  reservations_.book();
  return true;
}

}  // namespace meterbank::arbiter
