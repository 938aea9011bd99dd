// SPDX-License-Identifier: Apache-2.0
//
// Values that several parts of the arbiter write down, as text for the program that takes over.
// Each
// ..._from() throws what the JSON library throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "arbiter/core/lease.hpp"

namespace meterbank::arbiter {

[[nodiscard]] nlohmann::json to_json(const ClientIdentity& identity);
[[nodiscard]] ClientIdentity identity_from(const nlohmann::json& from);
[[nodiscard]] nlohmann::json to_json(const std::vector<Reading>& readings);
[[nodiscard]] std::vector<Reading> readings_from(const nlohmann::json& from);

}  // namespace meterbank::arbiter
