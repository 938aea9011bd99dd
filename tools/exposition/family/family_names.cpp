// SPDX-License-Identifier: Apache-2.0
#include "exposition/family/family_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "exposition/family/about_names.hpp"
#include "exposition/family/metric_name.hpp"
#include "exposition/page/labels.hpp"

namespace meterbank::exposition {
namespace {

// Every name that samples of the family have.
std::vector<std::string> sample_names_of(const std::string& name, FamilyType type) {
  switch (type) {
    case FamilyType::kCounter:
      return {name, name + "_total", name + "_created"};
    case FamilyType::kGauge:
      return {name};
    case FamilyType::kSummary:
      return {name, name + "_sum", name + "_count", name + "_created"};
    case FamilyType::kHistogram:
      return {name, name + "_sum", name + "_count", name + "_bucket", name + "_created"};
    case FamilyType::kInfo:
      return {name, name + "_info"};
  }
  return {name};
}

}  // namespace

std::string instance_label_of(const Counterset& set, const MetricNames& names) {
  if (!has_instance_names(set.instances)) return {};
  const MetricRule* const rule = find_label_rule(names.rules, set);
  std::string label = snake_case(rule == nullptr ? set.label : rule->label);
  return is_free_label(label) ? label : "instance_name";
}

FamilyNames::FamilyNames(const MetricNames& names) : names_(names) {
  for (const std::string_view name : about_names::kAll) {
    taken_.insert(names_.prefix + std::string(name));
  }
  taken_.insert(names_.prefix + std::string(about_names::kProvider) + "_info");
}

NamedFamily FamilyNames::add(const Family& family, const Counterset& set) {
  NamedFamily made;
  made.name = free_name(family, set);
  made.type = family.type;
  made.unit = made.name.ends_with(family.unit) ? family.unit : std::string();
  made.ucum = clean_text(family.ucum);
  made.help = clean_text(family.help);
  if (made.type == FamilyType::kInfo) {
    const std::string label = snake_case(family.counter->symbol);
    const bool is_free = is_free_label(label) && label != instance_label_of(set, names_);
    made.text_label = is_free ? label : "value";
  }
  return made;
}

std::string FamilyNames::free_name(const Family& family, const Counterset& set) {
  if (take(family.name, family.type)) return family.name;
  ++renamed_;
  // First what tells sets apart, then what tells counters of one set apart, then a number.
  constexpr std::size_t kGuidDigits = 8;
  const std::string symbol = names_.prefix + snake_case(set.symbol);
  const std::string digits = snake_case(set.guid.text()).substr(0, kGuidDigits);
  const std::string rest =
      family.name.starts_with(symbol) ? family.name.substr(symbol.size()) : "_" + family.name;
  std::string base = fmt::format("{}_{}{}", symbol, digits, rest);
  if (take(base, family.type)) return base;
  std::string name = fmt::format("{}_{}", base, family.counter->id);
  for (std::size_t number = 2; !take(name, family.type); ++number) {
    name = fmt::format("{}_{}_{}", base, family.counter->id, number);
  }
  return name;
}

bool FamilyNames::take(const std::string& name, FamilyType type) {
  const std::vector<std::string> wanted = sample_names_of(name, type);
  const bool is_free = std::none_of(wanted.begin(), wanted.end(), [this](const std::string& taken) {
    return taken_.contains(taken);
  });
  if (is_free) taken_.insert(wanted.begin(), wanted.end());
  return is_free;
}

}  // namespace meterbank::exposition
