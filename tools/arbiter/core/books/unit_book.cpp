// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/unit_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace meterbank::arbiter {
namespace {

// One place for each set of CPUs that share what the rule is about.
template <typename Rule, typename Use>
[[nodiscard]] std::map<std::uint32_t, std::size_t> add_places(const Topology& topology,
                                                              const Rule& rule,
                                                              std::vector<Use>& uses) {
  std::map<std::uint32_t, std::size_t> place_at;
  for (const std::uint32_t cpu : topology.pmus[rule.pmu].cpus.numbers()) {
    if (place_at.contains(cpu)) continue;
    Use& use = uses.emplace_back();
    use.name = rule.name;
    use.pmu = rule.pmu;
    use.cpus = topology.sharing(rule.pmu, rule.scope, cpu);
    for (const std::uint32_t sharer : use.cpus.numbers()) place_at[sharer] = uses.size() - 1;
  }
  return place_at;
}

[[nodiscard]] Decision taken(std::uint32_t cpu, const std::set<LeaseId>& leases,
                             std::string sentence) {
  Decision decision;
  decision.answer = Answer::kInsufficientResources;
  decision.reason = Reason::kTaken;
  decision.cpu = cpu;
  decision.leases.assign(leases.begin(), leases.end());
  decision.sentence = std::move(sentence);
  return decision;
}

void find_lowest(UnitUse& use) {
  use.threshold = 0;
  for (const auto& [lease, demand] : use.holders) {
    if (demand.threshold == 0) continue;
    use.threshold =
        use.threshold == 0 ? demand.threshold : std::min(use.threshold, demand.threshold);
  }
}

}  // namespace

UnitBook::UnitBook(const Topology& topology)
    : unit_rules_(topology.units), extra_rules_(topology.extras) {
  for (const UnitRule& rule : unit_rules_) unit_at_.push_back(add_places(topology, rule, units_));
  for (const ExtraRule& rule : extra_rules_) {
    extra_at_.push_back(add_places(topology, rule, extras_));
  }
}

std::optional<Decision> UnitBook::refusal(const PmuDemand& part) const {
  if (part.units.empty() && part.extras.empty()) return std::nullopt;
  std::set<std::uint32_t> extra_rules;
  for (const ExtraDemand& demand : part.extras) extra_rules.insert(demand.rule);
  for (const std::uint32_t cpu : part.cpus.numbers()) {
    for (const UnitDemand& demand : part.units) {
      if (auto refused = refusal_of_unit(demand, cpu)) return refused;
    }
    for (const std::uint32_t rule : extra_rules) {
      if (auto refused = refusal_of_extras(part, rule, cpu)) return refused;
    }
  }
  return std::nullopt;
}

std::optional<Decision> UnitBook::refusal_of_unit(const UnitDemand& demand,
                                                  std::uint32_t cpu) const {
  const UnitRule& rule = unit_rules_[demand.rule];
  const UnitUse& use = units_[unit_at_[demand.rule].at(cpu)];
  std::set<LeaseId> excluding;
  for (std::size_t other = 0; other < unit_rules_.size(); ++other) {
    if (!conflict(rule, unit_rules_[other])) continue;
    // The other unit may have a wider or a narrower scope: every place counts that shares a CPU.
    for (const std::uint32_t sharer : use.cpus.numbers()) {
      for (const auto& [lease, held] : units_[unit_at_[other].at(sharer)].holders) {
        excluding.insert(lease);
      }
    }
  }
  if (!excluding.empty()) {
    return taken(cpu, excluding,
                 fmt::format("CPU {}: {} is excluded by what another lease has", cpu, rule.name));
  }
  if (rule.is_shareable) return std::nullopt;
  std::uint32_t held_count = 0;
  std::set<LeaseId> holding;
  for (const auto& [lease, held] : use.holders) {
    held_count += held.count;
    holding.insert(lease);
  }
  if (held_count + demand.count <= rule.count) return std::nullopt;
  return taken(
      cpu, holding,
      fmt::format("CPU {}: {} of {} {} are taken", cpu, held_count, rule.count, rule.name));
}

std::optional<Decision> UnitBook::refusal_of_extras(const PmuDemand& part, std::uint32_t rule,
                                                    std::uint32_t cpu) const {
  const ExtraUse& use = extras_[extra_at_[rule].at(cpu)];
  const auto added =
      std::count_if(part.extras.begin(), part.extras.end(), [&](const ExtraDemand& demand) {
        return demand.rule == rule && !use.holders.contains(demand.configuration);
      });
  if (use.holders.size() + static_cast<std::size_t>(added) <= extra_rules_[rule].count) {
    return std::nullopt;
  }
  std::set<LeaseId> holding;
  for (const auto& [configuration, leases] : use.holders) {
    holding.insert(leases.begin(), leases.end());
  }
  return taken(cpu, holding,
               fmt::format("CPU {}: registers {} have other configurations in them", cpu,
                           extra_rules_[rule].name));
}

void UnitBook::take(LeaseId lease, const PmuDemand& part) {
  if (part.units.empty() && part.extras.empty()) return;
  for (const std::uint32_t cpu : part.cpus.numbers()) {
    for (const UnitDemand& demand : part.units) {
      UnitUse& use = units_[unit_at_[demand.rule].at(cpu)];
      use.holders.insert_or_assign(lease, demand);
      find_lowest(use);
    }
    for (const ExtraDemand& demand : part.extras) {
      std::vector<LeaseId>& leases =
          extras_[extra_at_[demand.rule].at(cpu)].holders[demand.configuration];
      const auto place = std::lower_bound(leases.begin(), leases.end(), lease);
      if (place == leases.end() || *place != lease) leases.insert(place, lease);
    }
  }
}

void UnitBook::release(LeaseId lease) {
  for (UnitUse& use : units_) {
    if (use.holders.erase(lease) != 0) find_lowest(use);
  }
  for (ExtraUse& use : extras_) {
    for (auto entry = use.holders.begin(); entry != use.holders.end();) {
      std::erase(entry->second, lease);
      entry = entry->second.empty() ? use.holders.erase(entry) : std::next(entry);
    }
  }
}

std::optional<std::uint32_t> UnitBook::threshold(LeaseId lease) const {
  std::optional<std::uint32_t> lowest;
  for (std::size_t rule = 0; rule < unit_rules_.size(); ++rule) {
    if (!unit_rules_[rule].is_shareable) continue;
    for (const auto& [cpu, place] : unit_at_[rule]) {
      const UnitUse& use = units_[place];
      if (!use.holders.contains(lease)) continue;
      // 0 is no threshold at all, and so the highest.
      if (!lowest || *lowest == 0 || (use.threshold != 0 && use.threshold < *lowest)) {
        lowest = use.threshold;
      }
    }
  }
  return lowest;
}

}  // namespace meterbank::arbiter
