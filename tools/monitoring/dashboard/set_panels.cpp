// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/set_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exposition/family/about_names.hpp"
#include "monitoring/promql.hpp"

namespace meterbank::monitoring {
namespace {

namespace about_names = exposition::about_names;

// Grafana's own: at least four scrapes long.
constexpr std::string_view kPanelWindow = "$__rate_interval";
constexpr std::string_view kChosenProviders = R"({instance=~"$instance",provider=~"$provider"})";
constexpr std::string_view kProviderLegend = "{{instance}} {{provider}}";

enum class Group : std::uint8_t { kRates, kLevels, kSpreads, kTexts };
struct GroupTitle {
  Group group;
  std::string_view title;
};
constexpr std::array kGroups{
    GroupTitle{Group::kRates, "rates"}, GroupTitle{Group::kLevels, "levels"},
    GroupTitle{Group::kSpreads, "distributions"}, GroupTitle{Group::kTexts, "texts"}};

Group group_of(Meaning meaning) noexcept {
  switch (meaning) {
    case Meaning::kLevel:
    case Meaning::kShare:
    case Meaning::kStartTime:
      return Group::kLevels;
    case Meaning::kSpread:
      return Group::kSpreads;
    case Meaning::kText:
      return Group::kTexts;
    default:
      return Group::kRates;
  }
}

class SetPanels {
 public:
  SetPanels(const MonitoredSet& set, PanelGrid& grid) : set_(set), grid_(grid) {
    legend_ = kProviderLegend;
    if (!set.instance_label.empty()) legend_ += fmt::format(" {{{{{}}}}}", set.instance_label);
    by_row_ = {chosen_series(set), kPanelWindow, "instance, provider"};
    if (!set.instance_label.empty()) by_row_.by += ", " + set.instance_label;
  }

  void add(const MonitoredFamily& family) {
    switch (family.meaning) {
      case Meaning::kSpread:
        return add_spread(family);
      case Meaning::kText:
        return add_text(family);
      default:
        grid_.add(time_series(text_of(family), {{query_of(family), legend_}}, unit_of(family)),
                  PanelWidth::kThird);
    }
  }

 private:
  [[nodiscard]] static PanelText text_of(const MonitoredFamily& family) {
    return {family.title, family.metric.help};
  }

  [[nodiscard]] const MonitoredFamily* base_of(const MonitoredFamily& family) const {
    return family.meaning == Meaning::kHits ? set_.find(family.base_id) : nullptr;
  }
  // Hits without what they are a part of are a count like others.
  [[nodiscard]] PanelUnit unit_of(MonitoredFamily family) const {
    if (family.meaning == Meaning::kHits && base_of(family) == nullptr) {
      family.meaning = Meaning::kRate;
    }
    return panel_unit_of(family);
  }

  [[nodiscard]] std::string query_of(const MonitoredFamily& family) const {
    switch (family.meaning) {
      case Meaning::kIdleShare:
        return busy_share_of(family, by_row_);
      case Meaning::kHits: {
        const MonitoredFamily* const base = base_of(family);
        return base == nullptr ? rate_of(family, by_row_) : ratio_of(family, *base, by_row_);
      }
      case Meaning::kMean:
        return mean_of(family, by_row_);
      case Meaning::kLevel:
      case Meaning::kShare:
        return family.metric.full_name() + by_row_.selector;
      case Meaning::kStartTime:  // Grafana's dates are milliseconds
        return family.metric.full_name() + by_row_.selector + " * 1000";
      default:
        return rate_of(family, by_row_);
    }
  }

  void add_spread(const MonitoredFamily& family) {
    const Scope by_provider{by_row_.selector, kPanelWindow, "instance, provider"};
    std::vector<PanelQuery> queries;
    queries.reserve(kPercentiles.size());
    for (const unsigned percent : kPercentiles) {
      queries.push_back({percentile_of(family, percent, by_provider),
                         fmt::format("p{} {}", percent, kProviderLegend)});
    }
    PanelText text = text_of(family);
    text.title += ", percentiles";
    grid_.add(time_series(text, queries, panel_unit_of(family)), PanelWidth::kHalf);
    text.title = family.title + ", observations a second";
    grid_.add(heat_map(text, buckets_of(family, {by_row_.selector, kPanelWindow, {}}),
                       panel_unit_of(family)),
              PanelWidth::kHalf);
  }

  void add_text(const MonitoredFamily& family) {
    grid_.add(
        label_table(text_of(family),
                    fmt::format("max by ({}, {}) ({}{})", by_row_.by, family.metric.text_label,
                                family.metric.full_name(), by_row_.selector)),
        PanelWidth::kHalf);
  }

  const MonitoredSet& set_;
  PanelGrid& grid_;
  std::string legend_;
  Scope by_row_;
};

}  // namespace

std::string chosen_series(const MonitoredSet& set) {
  std::string series(kChosenProviders);
  if (set.instance_label.empty()) return series;
  series.pop_back();
  return series + fmt::format(",{0}=~\"${0}\"}}", set.instance_label);
}

void add_provider_panels(std::string_view prefix, PanelGrid& grid) {
  grid.begin_row("Providers");
  grid.add(up_timeline({"State of providers", "Whether a provider runs and updates its counters."},
                       {fmt::format("max by (instance, provider) ({}{}{})", prefix,
                                    about_names::kProviderUp, kChosenProviders),
                        std::string(kProviderLegend)}),
           PanelWidth::kHalf);
  grid.add(label_table({"Processes", "What is known of the process behind a provider."},
                       fmt::format("max by (instance, provider, pid, uid, state, unit, container, "
                                   "pod, reason) ({}{}_info{})",
                                   prefix, about_names::kProvider, kChosenProviders)),
           PanelWidth::kHalf);
}

void add_set_panels(const MonitoredSet& set, PanelGrid& grid) {
  SetPanels panels(set, grid);
  for (const auto& [group, title] : kGroups) {
    bool has_row = false;
    for (const MonitoredFamily& family : set.families) {
      // The panel of the hits has it.
      if (family.meaning == Meaning::kBase || group_of(family.meaning) != group) continue;
      if (!std::exchange(has_row, true)) grid.begin_row(fmt::format("{}: {}", set.name, title));
      panels.add(family);
    }
  }
}

}  // namespace meterbank::monitoring
