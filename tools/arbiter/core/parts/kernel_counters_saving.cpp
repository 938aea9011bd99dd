// SPDX-License-Identifier: Apache-2.0
//
// Carriers as text for the program that takes over.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "arbiter/core/leases/saved_values.hpp"
#include "arbiter/core/parts/kernel_counters.hpp"

namespace meterbank::arbiter {
namespace {

using nlohmann::json;

[[nodiscard]] json to_json(const std::vector<Opening>& openings) {
  json result = json::array();
  for (const Opening& one : openings) {
    result.push_back({one.item, one.pmu, one.cpu, one.task, one.event.code, one.event.unit_mask,
                      one.event.configuration, one.flags});
  }
  return result;
}

[[nodiscard]] std::vector<Opening> openings_from(const json& from) {
  std::vector<Opening> openings;
  for (const json& one : from) {
    openings.push_back(
        {.item = one.at(0),
         .pmu = one.at(1),
         .cpu = one.at(2),
         .task = one.at(3),
         .event = {.code = one.at(4), .unit_mask = one.at(5), .configuration = one.at(6)},
         .flags = one.at(7)});
  }
  return openings;
}

[[nodiscard]] json to_json(const Carrier& carrier) {
  return {{"number", carrier.number},
          {"state", carrier.state()},
          {"openings", to_json(carrier.openings)},
          {"kernel_ids", carrier.kernel_ids},
          {"readings", to_json(carrier.readings)},
          {"sampled", carrier.sampled_ns},
          {"leases", carrier.leases},
          {"shared", carrier.is_shared},
          {"sliced", carrier.is_sliced},
          {"next", carrier.next_ns},
          {"pause", carrier.pause_ns},
          {"fenced", to_json(carrier.fenced)}};
}

[[nodiscard]] Carrier carrier_from(const json& from) {
  Carrier carrier;
  carrier.number = from.at("number");
  carrier.openings = openings_from(from.at("openings"));
  carrier.kernel_ids = from.at("kernel_ids").get<std::vector<std::uint64_t>>();
  carrier.readings = readings_from(from.at("readings"));
  carrier.sampled_ns = from.at("sampled");
  carrier.leases = from.at("leases").get<std::vector<std::uint16_t>>();
  carrier.is_shared = from.at("shared");
  carrier.is_sliced = from.at("sliced");
  carrier.next_ns = from.at("next");
  carrier.pause_ns = from.at("pause");
  carrier.fenced = readings_from(from.at("fenced"));
  return carrier;
}

[[nodiscard]] bool is_consistent(const Carrier& carrier) {
  return carrier.readings.size() == carrier.openings.size() && !carrier.openings.empty() &&
         carrier.kernel_ids.size() == carrier.openings.size() &&
         (!carrier.leases.empty() || carrier.state() == CarrierState::kClosed);
}

}  // namespace

void KernelCounters::save(json& saved) const {
  saved["next_carrier"] = next_number_;
  json& open = saved["carriers"] = json::array();
  for (const auto& [number, carrier] : carriers_) open.push_back(to_json(carrier));
}

bool KernelCounters::load(const json& from) {
  next_number_ = from.at("next_carrier");
  for (const json& one : from.at("carriers")) {
    Carrier carrier = carrier_from(one);
    carrier.state_ = one.at("state").get<CarrierState>();
    if (!is_consistent(carrier) || carriers_.contains(carrier.number)) return false;
    if (carrier.next_ns != 0) looks_.emplace(carrier.next_ns, carrier.number);
    carriers_.emplace(carrier.number, std::move(carrier));
  }
  return true;
}

}  // namespace meterbank::arbiter
