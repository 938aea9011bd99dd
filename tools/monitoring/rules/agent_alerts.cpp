// SPDX-License-Identifier: Apache-2.0
//
// Alerts that need no set: they are the same in every file of one prefix.
#include <fmt/format.h>

#include "exposition/family/about_names.hpp"
#include "monitoring/rules/group.hpp"

namespace meterbank::monitoring {
namespace {

namespace about_names = exposition::about_names;

// Counters of tools/agent/agent.toml.
constexpr std::string_view kOverloaded = "agent_exporter_overloaded_total";
constexpr std::string_view kBrokenOff = "agent_exporter_broken_off_total";

}  // namespace

std::vector<Alert> agent_alerts(std::string_view prefix) {
  std::vector<Alert> alerts;
  alerts.push_back({"MeterbankAgentDown",
                    fmt::format("up == 0\nand on (job, instance) last_over_time({}{}[1d])", prefix,
                                about_names::kSkew),
                    "5m", Severity::kWarning, "",
                    "Prometheus cannot scrape meterbank-agent on {{ $labels.instance }}.",
                    "There are no values of the providers of this machine. The services themselves "
                    "do not need the agent."});
  alerts.push_back(
      {"MeterbankProviderUnreadable",
       fmt::format("max by ({}, pid) ({}{}_info{{state=\"unreadable\"}})", kProviderLabels, prefix,
                   about_names::kProvider),
       "5m", Severity::kWarning, "",
       "Provider {{ $labels.provider }} ({{ $labels.pid }}) on {{ $labels.instance }} cannot be "
       "read.",
       fmt::format("The label `reason` of {}{}_info says why, and so does `meterbank doctor`.",
                   prefix, about_names::kProvider)});
  alerts.push_back({"MeterbankProvidersLeftOut",
                    fmt::format("sum by (job, instance, reason) ({}{}) > 0", prefix,
                                about_names::kProvidersLeftOut),
                    "15m", Severity::kInfo, "",
                    "{{ $value }} providers on {{ $labels.instance }} are left out: {{ "
                    "$labels.reason }}.",
                    "The agent has no permission or no room to read them. `meterbank doctor` says "
                    "which."});
  alerts.push_back(
      {"MeterbankRowsUnread",
       fmt::format("sum by (job, instance, status) "
                   "({}{}{{status=~\"busy|timeout|overloaded|unanswered\"}}) > 0",
                   prefix, about_names::kRows),
       "15m", Severity::kInfo, "",
       "{{ $value }} rows on {{ $labels.instance }} have no value: {{ $labels.status }}.",
       "Each snapshot of the last 15 minutes lacked rows of this status. Rows that are computed on "
       "demand need a provider that answers in time."});
  alerts.push_back(
      {"MeterbankRowsLeftOut", fmt::format("{}{} > 0", prefix, about_names::kRowsLeftOut), "15m",
       Severity::kInfo, "", "{{ $value }} rows on {{ $labels.instance }} are on no page.",
       "Other rows have their labels, or too many sets have one symbol."});
  alerts.push_back({"MeterbankPagesFailing",
                    fmt::format("sum by (job, instance) (rate({0}{1}[5m]))\n"
                                "+ sum by (job, instance) (rate({0}{2}[5m])) > 0",
                                prefix, kOverloaded, kBrokenOff),
                    "15m", Severity::kInfo, "",
                    "Pages of meterbank-agent on {{ $labels.instance }} are refused or broken off.",
                    "Too many scrapers ask at once, or one reads too slowly. Without the page "
                    "there are gaps in the series."});
  return alerts;
}

}  // namespace meterbank::monitoring
