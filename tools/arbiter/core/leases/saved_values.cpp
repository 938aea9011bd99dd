// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/saved_values.hpp"

#include <nlohmann/json.hpp>

namespace meterbank::arbiter {

using nlohmann::json;

json to_json(const ClientIdentity& identity) {
  return {{"pid", identity.pid},
          {"uid", identity.uid},
          {"gid", identity.gid},
          {"groups", identity.groups},
          {"start", identity.start_time},
          {"program", identity.program},
          {"executable", identity.executable},
          {"cgroup", identity.cgroup}};
}

ClientIdentity identity_from(const json& from) {
  return {.pid = from.at("pid"),
          .uid = from.at("uid"),
          .gid = from.at("gid"),
          .groups = from.at("groups").get<std::vector<std::uint32_t>>(),
          .start_time = from.at("start"),
          .program = from.at("program"),
          .executable = from.at("executable"),
          .cgroup = from.at("cgroup")};
}

json to_json(const std::vector<Reading>& readings) {
  json result = json::array();
  for (const Reading& one : readings) {
    result.push_back({one.value, one.enabled_ns, one.running_ns, one.has_counter});
  }
  return result;
}

std::vector<Reading> readings_from(const json& from) {
  std::vector<Reading> readings;
  for (const json& one : from) readings.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
  return readings;
}

}  // namespace meterbank::arbiter
