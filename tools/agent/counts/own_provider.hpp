// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::agent {

// What the agent publishes of itself, as a provider like any other. Where there is no directory to
// publish in, the reason goes to standard error, and everything counts into nothing.
[[nodiscard]] Provider make_own_provider(const std::string& directory);

}  // namespace meterbank::agent
