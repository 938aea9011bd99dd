// SPDX-License-Identifier: Apache-2.0
#include "compare/events.hpp"

#include <optional>
#include <string>

namespace meterbank::compare {
namespace {

Finding event(FindingKind kind, std::string path, std::string what) {
  Finding finding;
  finding.kind = kind;
  finding.path = std::move(path);
  finding.what = std::move(what);
  finding.is_changed = true;
  return finding;
}

bool is_alive_in(const Observation& observation, const std::string& name) {
  const auto found = observation.providers().find(name);
  return found != observation.providers().end() && found->second.alive.first != kNever;
}

// Nothing: what is there in both is in the same state.
std::optional<std::string> change_of_state(const ProviderHistory& a, const ProviderHistory& b) {
  const auto ended = [](const ProviderHistory& one) { return has_ended(one.last_state); };
  if (!ended(a) && ended(b)) return b.last_state == ProviderState::kDead ? "died" : "closed";
  const auto hung = [](const ProviderHistory& one) {
    return one.last_state == ProviderState::kHung;
  };
  if (!hung(a) && hung(b)) return "hung";
  if (!a.was_restarted() && b.was_restarted()) return "restarted";
  return std::nullopt;
}

void find_providers(const Observation& a, const Observation& b, std::vector<Finding>& findings) {
  const auto add = [&](const std::string& name, std::string what) {
    findings.push_back(event(FindingKind::kProvider, name, std::move(what)));
  };
  for (const auto& [name, history] : a.providers()) {
    if (!is_alive_in(a, name)) continue;
    if (!is_alive_in(b, name)) {
      add(name, "disappeared");
    } else if (auto what = change_of_state(history, b.providers().at(name))) {
      add(name, *std::move(what));
    }
  }
  for (const auto& [name, history] : b.providers()) {
    if (is_alive_in(b, name) && !is_alive_in(a, name)) add(name, "appeared");
  }
}

// Instances of sets that both have, which `from` had throughout and `other` was asked for and never
// had.
void find_rows(const Observation& from, const Observation& other, const char* what,
               std::vector<Finding>& findings) {
  for (const auto& [set, rows] : from.rows()) {
    const auto there = other.rows().find(set);
    if (there == other.rows().end()) continue;
    if (!from.kept_instances(set) || !other.kept_instances(set)) continue;
    for (const auto& [label, row] : rows) {
      if (row.is_asked_of_other && !there->second.contains(label)) {
        findings.push_back(event(FindingKind::kInstance, row.path, what));
        findings.back().provider = Observation::provider_of(set);
      }
    }
  }
}

}  // namespace

void find_events(const Observation& a, const Observation& b, std::vector<Finding>& findings) {
  find_providers(a, b, findings);
  find_rows(a, b, "went", findings);
  find_rows(b, a, "came", findings);
}

}  // namespace meterbank::compare
