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
#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {
namespace {

using nlohmann::json;

[[nodiscard]] json to_json(const Outsider& outsider) {
  return {{"name", outsider.name},         {"pid", outsider.pid}, {"uid", outsider.uid},
          {"kernel", outsider.is_kernel},  {"pmu", outsider.pmu}, {"cpus", outsider.cpus.text()},
          {"counters", outsider.counters}, {"how", outsider.how}, {"first", outsider.first_ns},
          {"last", outsider.last_ns}};
}

[[nodiscard]] Outsider outsider_from(const json& from) {
  return {.name = from.at("name"),
          .pid = from.at("pid"),
          .uid = from.at("uid"),
          .is_kernel = from.at("kernel"),
          .pmu = from.at("pmu"),
          .cpus = CpuSet::parse(from.at("cpus").get<std::string>()).value_or(CpuSet{}),
          .counters = from.at("counters"),
          .how = from.at("how"),
          .first_ns = from.at("first"),
          .last_ns = from.at("last")};
}

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

std::string Arbiter::State::save() const {
  json saved = {{"options", to_json(options)}, {"now", now},
                {"waiting", line.in_order()},  {"surveyed", surveyed_ns},
                {"changes", changes},          {"statistics", to_json(statistics)}};
  leases.save(saved);
  carriers.save(saved);
  turns.save(saved);
  recovery.save(saved);
  json& known = saved["clients"] = json::array();
  for (const auto& [number, client] : clients) known.push_back({number, to_json(client.identity)});
  json& seen = saved["outsiders"] = json::array();
  for (const Outsider& outsider : outsiders) seen.push_back(to_json(outsider));
  json& kept = saved["reserves"] = json::array();
  for (const auto& [place, count] : reserves) kept.push_back({place.first, place.second, count});
  json& held = saved["guards"] = json::array();
  for (const auto& [place, count] : guards) held.push_back({place.first, place.second, count});
  return saved.dump();
}

bool Arbiter::State::load(std::string_view saved) {
  // The library throws where a key is missing or has another type; nothing of that leaves here.
  try {
    const json from = json::parse(saved);
    load_plain(from);
    if (!leases.load(from, book.machine()) || !carriers.load(from)) return false;
    if (!is_consistent() || !book_again()) return false;
    for (const json& one : from.at("waiting")) {
      Lease* lease = leases.find(one.get<LeaseNumber>());
      if (lease == nullptr) return false;
      line.join(*lease);
    }
    changes = from.at("changes");
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

void Arbiter::State::load_plain(const nlohmann::json& from) {
  options = options_from(from.at("options"));
  has_begun = true;
  now = from.at("now");
  outbox = Outbox(options.epoch);
  leases = LeaseTable(options.epoch, options.leases_max, policy);
  outbox.set_time(now);
  carriers = KernelCounters(outbox, options.has_backend, options.confirm_ns);
  line = WaitLine(options.ageing_ns);
  line.set_time(now);
  turns = Turns(options.slice_ns);
  turns.load(from);
  recovery.load(from);
  surveyed_ns = from.at("surveyed");
  statistics = statistics_from(from.at("statistics"));
  for (const json& one : from.at("clients")) {
    ClientIdentity identity = identity_from(one.at(1));
    Rights rights = policy.rights_of(identity, options.own_uid);
    const ClientNumber client = one.at(0);
    clients.insert_or_assign(client, Client{std::move(identity), std::move(rights)});
    outbox.connect(client);
  }
  for (const json& one : from.at("outsiders")) outsiders.push_back(outsider_from(one));
  reserves.clear();
  for (const json& one : from.at("reserves")) reserves[{one.at(0), one.at(1)}] = one.at(2);
  for (const json& one : from.at("guards")) guards[{one.at(0), one.at(1)}] = one.at(2);
}

bool Arbiter::State::is_consistent() const {
  const auto is_known = [&](LeaseNumber number) { return leases.contains(number); };
  const std::vector<LeaseNumber>& members = turns.members();
  if (!std::all_of(members.begin(), members.end(), is_known)) return false;
  if (turns.present() != 0 && !is_known(turns.present())) return false;
  for (const auto& [number, lease] : leases) {
    if (number == 0 || number >= options.leases_max) return false;
    if (lease.token != 0 && pmu::lease_of(lease.token) != number) return false;
    std::size_t counters = 0;
    for (const CarrierNumber of : lease.carriers) {
      const Carrier* carrier = carriers.find(of);
      if (carrier == nullptr) return false;
      counters += carrier->openings.size();
    }
    const bool ends =
        lease.state() == pmu::LeaseState::kFenced || lease.state() == pmu::LeaseState::kLimbo;
    if (!ends && counters != lease.items.size()) return false;
  }
  return std::all_of(carriers.begin(), carriers.end(), [&](const auto& entry) {
    const Carrier& carrier = entry.second;
    return std::all_of(carrier.leases.begin(), carrier.leases.end(), is_known);
  });
}

bool Arbiter::State::book_again() {
  // Before those that get only what is left: outsiders, and the reserve.
  for (const auto& [place, holder] : std::exchange(reserve_holders, {})) {
    book.forget_unleased(holder);
  }
  const CpuSet online = book.machine().online;
  book.set_online(book.machine().possible);
  for (auto& [number, lease] : leases) {
    const Alternative alternative = alternative_of(lease);
    const bool is_aside =
        lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kPreempted;
    for (const Piece& piece : pieces_of(lease)) {
      if (piece.openings.empty()) {
        if (lease.has_rest && !book.try_take(number, piece.plan, alternative).is_granted()) {
          return false;
        }
        continue;
      }
      for (const CarrierNumber of : lease.carriers) {
        const Carrier& carrier = carriers.at(of);
        const bool is_its = carrier.plan.parts.empty() && carrier.counts_as(piece.openings);
        if (!is_its) continue;
        carriers.set_plan(of, piece.plan);
        if (is_aside) break;
        if (!book.try_take(booking_of(of), piece.plan, alternative).is_granted()) return false;
        break;
      }
    }
  }
  book.set_online(online);
  book_outsiders();
  book_reserves();
  return true;
}

}  // namespace meterbank::arbiter
