// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::agent {

// The provider that the agent publishes its own counters with. If it cannot be created, the reason
// goes to standard error, and everything counts into nothing.
[[nodiscard]] Provider make_own_provider(const std::string& directory);

}  // namespace meterbank::agent
