// SPDX-License-Identifier: Apache-2.0
//
// Values as they are written in C, with the names of meterbank/c/schema.h and publisher.h.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/publisher/schema.hpp"

namespace meterbank::generator {

// "QueueLength100Ns" as in "QUEUE_LENGTH_100NS", and "queue_length2" as in "QUEUE_LENGTH2".
[[nodiscard]] std::string upper_case_of(std::string_view name);

// "MB_TYPE_BULK_COUNT"
[[nodiscard]] std::string c_constant_of(CounterType type);
[[nodiscard]] std::string c_constant_of(ValueForm form);
[[nodiscard]] std::string c_constant_of(InstanceKind kind);
[[nodiscard]] std::string c_aggregate(std::uint32_t aggregate);
// "{0x5f0c1e2a, 0x3d6b, 0x4a57, {0x9a, 0x51, 0x6c, 0x1d, 0x0e, 0x8f, 0x7b, 0x42}}"
[[nodiscard]] std::string c_guid(const Guid& guid);
// "MB_SET_CUTS | MB_SET_STAMPED"; empty if there are none.
[[nodiscard]] std::string c_flags_of(const CounterSpec& counter);
[[nodiscard]] std::string c_flags_of(const CountersetSpec& set);

}  // namespace meterbank::generator
