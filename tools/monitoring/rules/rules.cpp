// SPDX-License-Identifier: Apache-2.0
#include "monitoring/rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "monitoring/rules/group.hpp"
#include "monitoring/safe_text.hpp"

namespace meterbank::monitoring {
namespace {

// Queries hold no foreign text: names of metrics and labels are words of [a-z0-9_].
class RulesFile {
 public:
  explicit RulesFile(const MonitoredSets& sets) {
    text_ = "# Prometheus rules for the countersets of meterbank\n# Generated; sets:";
    for (const MonitoredSet* const set : sets.list()) text_.append(" ").append(set->key);
    text_ += "\ngroups:\n";
  }

  void add(const RuleGroup& group) {
    text_ += fmt::format("  - name: {}\n    rules:\n", group.name);
    for (const Recording& recording : group.recordings) {
      text_ += fmt::format("      - record: {}\n", recording.name);
      add_query(recording.query);
    }
    for (const Alert& alert : group.alerts) add(alert);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add_query(std::string_view query) {
    text_ += "        expr: |-\n";
    while (!query.empty()) {
      const std::size_t end = std::min(query.find('\n'), query.size());
      text_.append("          ").append(query.substr(0, end)).append("\n");
      query.remove_prefix(std::min(end + 1, query.size()));
    }
  }

  void add(const Alert& alert) {
    text_ += fmt::format("      - alert: {}\n", alert.name);
    add_query(alert.query);
    const bool is_warning = alert.severity == Severity::kWarning;
    text_ += fmt::format("        for: {}\n        labels:\n          severity: {}\n",
                         alert.lasting, is_warning ? "warning" : "info");
    if (!alert.counterset.empty()) {
      text_ += fmt::format("          counterset: {}\n", yaml_quoted(alert.counterset));
    }
    text_ += fmt::format("        annotations:\n          summary: {}\n          description: {}\n",
                         yaml_quoted(alert.summary), yaml_quoted(alert.description));
  }

  std::string text_;
};

}  // namespace

std::string prometheus_rules(const MonitoredSets& sets) {
  RulesFile file(sets);
  // No set can have this name, since keys have no colon.
  file.add({sets.prefix() + "agent:alerts", {}, agent_alerts(sets.prefix())});
  for (const MonitoredSet* const set : sets.list()) {
    file.add({sets.prefix() + set->key, recordings_of(sets.prefix(), *set),
              alerts_of(sets.prefix(), *set)});
  }
  return file.take();
}

}  // namespace meterbank::monitoring
