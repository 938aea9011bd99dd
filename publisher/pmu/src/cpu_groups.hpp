// SPDX-License-Identifier: Apache-2.0
//
// CPUs by number, as masks of 64.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu::detail {

// False: no machine has this one. Keeps the groups ascending.
bool add_cpu(std::vector<CpuGroup>& groups, std::uint32_t cpu);
// "0-3,8". Nothing if the text is empty or not a list of CPUs.
[[nodiscard]] std::optional<std::vector<CpuGroup>> parse_cpus(std::string_view list);

}  // namespace meterbank::pmu::detail
