// SPDX-License-Identifier: Apache-2.0
#include "agent/counts/own_provider.hpp"

#include "agent_rows.hpp"

namespace meterbank::agent {

Provider make_own_provider(const std::string& directory) {
  return Provider::create_or_disabled(
      {.name = std::string(::agent::AgentExporter::kProvider), .directory = directory});
}

}  // namespace meterbank::agent
