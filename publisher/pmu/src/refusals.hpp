// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meterbank/pmu/refusal.hpp"

namespace meterbank::pmu::detail {

[[nodiscard]] Error error_of(const Rejected& rejected);
// Nobody decided.
[[nodiscard]] tl::unexpected<Refusal> not_decided(Error error);

}  // namespace meterbank::pmu::detail
