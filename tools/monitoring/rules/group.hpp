// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

struct Recording {
  std::string name;  // level:metric:operation
  std::string query;
};

enum class Severity : bool { kInfo, kWarning };

struct Alert {
  std::string_view name;
  std::string query;
  std::string_view lasting;  // how long the query has results before the alert fires
  Severity severity = Severity::kWarning;
  std::string counterset;            // key of the set; empty: it is not about a set
  std::string summary, description;  // templates: see template_text()
};

// Evaluated one after the other, so a rule can use what those before it have recorded.
struct RuleGroup {
  std::string name;
  std::vector<Recording> recordings;
  std::vector<Alert> alerts;
};

// Labels of a provider in all families.
inline constexpr std::string_view kProviderLabels = "job, instance, provider";

// Name of the recording that counts the rows of a set by provider.
[[nodiscard]] std::string rows_recording(std::string_view prefix, const MonitoredSet& set);

[[nodiscard]] std::vector<Recording> recordings_of(std::string_view prefix,
                                                   const MonitoredSet& set);
[[nodiscard]] std::vector<Alert> alerts_of(std::string_view prefix, const MonitoredSet& set);
[[nodiscard]] std::vector<Alert> agent_alerts(std::string_view prefix);

}  // namespace meterbank::monitoring
