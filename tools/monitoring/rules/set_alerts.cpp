// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "exposition/family/about_names.hpp"
#include "monitoring/promql.hpp"
#include "monitoring/rules/group.hpp"
#include "monitoring/safe_text.hpp"

namespace meterbank::monitoring {
namespace {

namespace about_names = exposition::about_names;

constexpr std::string_view kProviderOnInstance =
    "Provider {{ $labels.provider }} ({{ $labels.pid }}) on {{ $labels.instance }}";

// Providers in this state that had rows of the set within a day.
std::string in_state(std::string_view prefix, const MonitoredSet& set, std::string_view state) {
  return fmt::format(
      "max by ({0}, pid) ({1}{2}_info{{state=\"{3}\"}})\n"
      "and on ({0}) last_over_time({4}[1d])",
      kProviderLabels, prefix, about_names::kProvider, state, rows_recording(prefix, set));
}

}  // namespace

std::vector<Alert> alerts_of(std::string_view prefix, const MonitoredSet& set) {
  const std::string name = template_text(set.name);
  std::vector<Alert> alerts;
  // A service that was started again has a successor of the same name, which is up.
  alerts.push_back({"MeterbankProviderEnded",
                    fmt::format("({})\nunless on ({}) ({}{} == 1)", in_state(prefix, set, "dead"),
                                kProviderLabels, prefix, about_names::kProviderUp),
                    "1m", Severity::kWarning, set.key,
                    fmt::format("{} has ended.", kProviderOnInstance),
                    fmt::format("The process ended without closing its counters of {}, and no "
                                "other provider has taken its name. The agent shows an ended "
                                "provider for five minutes, so this alert ends by itself.",
                                name)});
  alerts.push_back({"MeterbankProviderHung", in_state(prefix, set, "hung"), "2m",
                    Severity::kWarning, set.key,
                    fmt::format("{} does not respond.", kProviderOnInstance),
                    fmt::format("The process runs, but its heartbeat has stopped: it may be "
                                "stopped or frozen. Its counters of {} keep their last values.",
                                name)});
  alerts.push_back({"MeterbankSetMissing", fmt::format("absent({})", sample_of(set.steadiest())),
                    "10m", Severity::kWarning, set.key,
                    fmt::format("No provider has counters of {}.", name),
                    fmt::format("No page that Prometheus has scraped in the last ten minutes has a "
                                "row of {}. Providers may have ended, or have no instance.",
                                name)});
  return alerts;
}

}  // namespace meterbank::monitoring
