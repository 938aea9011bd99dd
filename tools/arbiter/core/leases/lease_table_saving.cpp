// SPDX-License-Identifier: Apache-2.0
//
// Leases as text for the program that takes over.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "arbiter/core/leases/lease_table.hpp"
#include "arbiter/core/leases/pieces.hpp"
#include "arbiter/core/leases/saved_values.hpp"

namespace meterbank::arbiter {
namespace {

using nlohmann::json;

// A request is written down as the packet that it came in.
[[nodiscard]] json to_json(const pmu::Allocate& asked) {
  json bytes = json::array();
  for (const std::byte one : pmu::encode(1, pmu::ClientMessage{asked})) {
    bytes.push_back(std::to_integer<std::uint32_t>(one));
  }
  return bytes;
}

[[nodiscard]] std::optional<pmu::Allocate> asked_from(const json& from) {
  std::vector<std::byte> bytes;
  for (const json& one : from) bytes.push_back(static_cast<std::byte>(one.get<std::uint8_t>()));
  const auto decoded = pmu::decode_client_message(bytes);
  const auto* asked = std::get_if<pmu::Allocate>(&decoded.message);
  if (decoded.rejection || asked == nullptr) return std::nullopt;
  return *asked;
}

// Which CPUs a plan is about. A request for all that are online means those that were then.
[[nodiscard]] json places_of(const Plan& plan) {
  json places = json::array();
  for (const PmuDemand& part : plan.parts) places.push_back({part.pmu, part.cpus.text()});
  return places;
}

[[nodiscard]] bool set_places(Plan& plan, const json& places) {
  std::vector<PmuDemand> parts;
  for (const json& place : places) {
    const PmuIndex pmu = place.at(0);
    const auto cpus = CpuSet::parse(place.at(1).get<std::string>());
    const auto part = std::find_if(plan.parts.begin(), plan.parts.end(),
                                   [&](const PmuDemand& one) { return one.pmu == pmu; });
    if (!cpus || cpus->empty() || part == plan.parts.end() || !cpus->is_within(part->cpus)) {
      return false;
    }
    parts.push_back(*part);
    parts.back().cpus = *cpus;
  }
  plan.parts = std::move(parts);
  return !plan.parts.empty();
}

[[nodiscard]] json to_json(const Lease& lease) {
  json revokers = json::array();
  for (const Revoker& who : lease.revokers) revokers.push_back({who.client, who.request});
  return {{"token", lease.token},          {"number", lease.number},
          {"state", lease.state()},        {"client", lease.client},
          {"request", lease.request},      {"holder", to_json(lease.holder)},
          {"asked", to_json(lease.asked)}, {"grade", lease.grade},
          {"quality", lease.quality},      {"cause", lease.cause},
          {"asked_ns", lease.asked_ns},    {"granted", lease.granted_ns},
          {"ends", lease.ends_ns},         {"heartbeat", lease.heartbeat_ns},
          {"deadline", lease.deadline_ns}, {"carriers", lease.carriers},
          {"items", lease.items},          {"began", to_json(lease.began)},
          {"arrival", lease.arrival},      {"rest", lease.has_rest},
          {"told", lease.was_told},        {"away", lease.away_ns},
          {"revokers", revokers},          {"places", places_of(lease.plan)}};
}

[[nodiscard]] std::optional<Lease> lease_from(const json& from) {
  Lease lease;
  std::optional<pmu::Allocate> asked = asked_from(from.at("asked"));
  if (!asked) return std::nullopt;
  lease.asked = std::move(*asked);
  lease.token = from.at("token");
  lease.number = from.at("number");
  lease.client = from.at("client");
  lease.request = from.at("request");
  lease.holder = identity_from(from.at("holder"));
  lease.grade = from.at("grade");
  lease.quality = from.at("quality");
  lease.cause = from.at("cause");
  lease.asked_ns = from.at("asked_ns");
  lease.granted_ns = from.at("granted");
  lease.ends_ns = from.at("ends");
  lease.heartbeat_ns = from.at("heartbeat");
  lease.deadline_ns = from.at("deadline");
  lease.carriers = from.at("carriers").get<std::vector<CarrierNumber>>();
  lease.items = from.at("items").get<std::vector<std::uint32_t>>();
  lease.began = readings_from(from.at("began"));
  lease.arrival = from.at("arrival");
  lease.has_rest = from.at("rest");
  lease.was_told = from.at("told");
  lease.away_ns = from.at("away");
  for (const json& who : from.at("revokers")) lease.revokers.push_back({who.at(0), who.at(1)});
  return lease;
}

// Its CPUs may be offline by now: that is no reason not to know what it has.
[[nodiscard]] std::optional<Plan> plan_of(const pmu::Allocate& asked, Machine machine) {
  machine.online = machine.possible;
  auto plan = plan_for(request_of(asked), machine);
  if (!plan) return std::nullopt;
  return std::move(*plan);
}

}  // namespace

void LeaseTable::save(json& saved) const {
  saved["next_arrival"] = next_arrival_;
  json& all = saved["leases"] = json::array();
  for (const auto& [number, lease] : leases_) all.push_back(to_json(lease));
  json& used = saved["generations"] = json::array();
  for (const auto& [number, generation] : generations_) used.push_back({number, generation});
}

bool LeaseTable::load(const json& from, const Machine& machine) {
  next_arrival_ = from.at("next_arrival");
  for (const json& one : from.at("generations")) {
    generations_[one.at(0).get<LeaseNumber>()] = one.at(1);
  }
  for (const json& one : from.at("leases")) {
    std::optional<Lease> lease = lease_from(one);
    if (!lease || lease->number >= leases_max_ || contains(lease->number)) return false;
    std::optional<Plan> plan = plan_of(lease->asked, machine);
    if (!plan || !set_places(*plan, one.at("places"))) return false;
    set_plan(*lease, std::move(*plan));
    lease->state_ = one.at("state").get<pmu::LeaseState>();
    if (lease->state() == pmu::LeaseState::kNone) ended_.push_back(lease->number);
    count_in(*lease, tally_);
    const LeaseNumber number = lease->number;
    Lease& placed = leases_.emplace(number, std::move(*lease)).first->second;
    by_number_[number] = &placed;
    touch(placed);
  }
  return true;
}

}  // namespace meterbank::arbiter
