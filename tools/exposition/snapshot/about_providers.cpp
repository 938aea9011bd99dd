// SPDX-License-Identifier: Apache-2.0
#include "exposition/snapshot/about_providers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "exposition/page/number.hpp"

namespace meterbank::exposition {
namespace {

PlainFamily family(std::string_view prefix, std::string_view name, FamilyType type,
                   std::string_view unit, std::string_view help) {
  return {std::string(prefix).append(name), type, std::string(unit), std::string(help), {}};
}

std::vector<Label> labels_of(const ProviderView& provider) {
  std::vector<Label> labels = {{"provider", clean_text(provider.name)},
                               {"pid", std::to_string(provider.named_pid())}};
  if (!provider.trusted) labels.push_back({"uid", std::to_string(provider.uid)});
  if (!provider.outside.host.empty()) labels.push_back({"host", clean_text(provider.outside.host)});
  return labels;
}

std::vector<Label> facts_of(const ProviderView& provider) {
  std::vector<Label> labels = labels_of(provider);
  if (provider.trusted) labels.push_back({"uid", std::to_string(provider.uid)});
  labels.push_back({"state", std::string(name_of(provider.state))});
  const auto add = [&labels](std::string_view name, const std::string& value) {
    if (!value.empty()) labels.push_back({std::string(name), clean_text(value)});
  };
  add("container", provider.outside.container);
  add("pod", provider.outside.pod);
  add("unit", provider.outside.unit);
  add("reason", provider.error.what);
  return labels;
}

bool is_up(ProviderState state) noexcept {
  return state == ProviderState::kLive || state == ProviderState::kForeign;
}

}  // namespace

bool AboutProviders::is_shown(const ProviderView& provider, std::uint64_t now_ns) {
  constexpr std::uint64_t kShownNs = 300'000'000'000;
  if (!has_ended(provider.state)) return true;
  const std::uint64_t since = ended_.try_emplace(provider.record, now_ns).first->second;
  return now_ns - since < kShownNs;
}

std::vector<PlainFamily> AboutProviders::families(const Catalog& catalog, std::string_view prefix,
                                                  std::uint64_t now_ns) {
  PlainFamily up = family(prefix, about_names::kProviderUp, FamilyType::kGauge, "",
                          "1 if the provider runs and updates its counters, else 0.");
  PlainFamily facts = family(prefix, about_names::kProvider, FamilyType::kInfo, "",
                             "What is known of the process behind a provider.");
  PlainFamily start = family(prefix, about_names::kProviderStart, FamilyType::kGauge, "seconds",
                             "When the provider was created.");
  std::map<std::string, std::uint64_t> still_ended;
  std::set<std::vector<std::string>> seen;
  std::vector<std::shared_ptr<const ProviderView>> providers = catalog.providers();
  std::stable_sort(providers.begin(), providers.end(),
                   [](const auto& left, const auto& right) { return comes_before(*left, *right); });
  for (const auto& provider : providers) {
    const bool shown = is_shown(*provider, now_ns);
    if (const auto since = ended_.find(provider->record); since != ended_.end()) {
      if (has_ended(provider->state)) still_ended.insert(*since);
    }
    const std::vector<Label> labels = labels_of(*provider);
    std::vector<std::string> values;
    values.reserve(labels.size());
    for (const Label& label : labels) values.push_back(label.value);
    if (!shown || !seen.insert(std::move(values)).second) continue;
    up.series.push_back({labels, is_up(provider->state) ? 1.0 : 0.0});
    facts.series.push_back({facts_of(*provider), 1});
    if (provider->created_realtime_ns != 0) {
      start.series.push_back(
          {labels, static_cast<double>(provider->created_realtime_ns) / kNsPerSecond});
    }
  }
  ended_ = std::move(still_ended);
  std::vector<PlainFamily> families;
  families.push_back(std::move(up));
  families.push_back(std::move(facts));
  families.push_back(std::move(start));
  return families;
}

}  // namespace meterbank::exposition
