// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/layout_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "exposition/family/metric_name.hpp"
#include "exposition/page/labels.hpp"
#include "exposition/page/page_layout.hpp"
#include "pcp/names/pcp_name.hpp"

namespace meterbank::pcp {
namespace {

constexpr std::uint32_t kSerialBits = 22;  // of a metric: 12 bits of cluster, 10 of item
constexpr std::uint32_t kSerials = 1U << kSerialBits;
constexpr std::uint32_t kInstances = 0x7fffffff;

bool is_shown(const SelectedSet& selected) noexcept {
  const bool is_repeated = selected.is_total() && !is_shared(selected.set().instances);
  return !is_repeated && !has_ended(selected.provider().state);
}

bool has_distributions(const Counterset& set) noexcept {
  return std::any_of(set.counters.begin(), set.counters.end(), [](const CounterView& counter) {
    return counter.form == ValueForm::kDistribution;
  });
}

// As pmID_build() and pmInDom_build() make it, without libpcp: 9 bits of domain, 22 of serial.
std::uint32_t identifier_of(int domain, std::uint32_t serial) noexcept {
  return static_cast<std::uint32_t>(domain) << kSerialBits | serial;
}

std::string text_of(pmUnits units) {
  return fmt::format("{},{},{},{},{},{}", int{units.dimSpace}, int{units.dimTime},
                     int{units.dimCount}, unsigned{units.scaleSpace}, unsigned{units.scaleTime},
                     int{units.scaleCount});
}

}  // namespace

class LayoutMaker::Builder {
 public:
  Builder(LayoutMaker& maker, const std::vector<SelectedSet>& selected)
      : maker_(maker), selected_(selected) {}

  Layout build();

 private:
  void add(const SelectedSet& selected, std::size_t first_row);
  [[nodiscard]] std::size_t provider_of(const ProviderView& provider);
  [[nodiscard]] std::string set_name_of(const SelectedSet& selected);
  [[nodiscard]] std::size_t domain_of(const std::string& set_name, const Counterset& set);
  void add_rows(const SelectedSet& selected, std::size_t block);
  [[nodiscard]] std::string free_name(std::size_t domain, std::string name, std::uint32_t id);
  [[nodiscard]] bool is_full() const noexcept;
  void add_metrics(const SelectedSet& selected, std::size_t block);
  [[nodiscard]] std::size_t new_metric(const SetMetric& from, const std::string& name,
                                       const std::string& key, std::size_t domain);
  void put_in_order();

  LayoutMaker& maker_;
  const std::vector<SelectedSet>& selected_;
  Layout layout_;
  const ProviderView* last_provider_ = nullptr;
  std::size_t metrics_of_provider_ = 0;
  std::map<std::string, Guid> sets_of_provider_;          // of the provider that was added last
  std::unordered_map<std::string, std::size_t> domains_;  // by set name
  std::vector<std::unordered_set<std::string>> names_;    // of instances, by domain
  std::unordered_map<std::string, std::size_t> metrics_;  // by key
};

Layout LayoutMaker::Builder::build() {
  std::vector<std::pair<const SelectedSet*, std::size_t>> order;
  std::size_t row = 0;
  std::set<std::array<std::uint64_t, 2>> segments;
  for (const SelectedSet& selected : selected_) {
    if (is_shown(selected)) {
      order.emplace_back(&selected, row);
      segments.insert(selected.provider().segment_id);
    }
    row += selected.instances();
  }
  maker_.provider_names_.keep(segments);
  std::stable_sort(order.begin(), order.end(), [](const auto& left, const auto& right) {
    return comes_before(left.first->provider(), right.first->provider());
  });
  for (const auto& [selected, first_row] : order) add(*selected, first_row);
  put_in_order();
  return std::move(layout_);
}

void LayoutMaker::Builder::add(const SelectedSet& selected, std::size_t first_row) {
  RowBlock block;
  block.provider = provider_of(selected.provider());
  block.set = selected.registered().set;
  block.domain = domain_of(set_name_of(selected), selected.set());
  block.first_row = first_row;
  const RegisteredSet& registered = selected.registered();
  const std::array<std::uint64_t, 2>& segment = selected.provider().segment_id;
  block.registration = {segment[0], segment[1], registered.registration, registered.generation};
  if (has_distributions(selected.set())) {
    for (std::size_t row = 0; row < selected.instances(); ++row) {
      block.lives.push_back({selected.instance(row).slot, selected.instance(row).generation});
    }
  }
  layout_.blocks.push_back(std::move(block));
  add_rows(selected, layout_.blocks.size() - 1);
  add_metrics(selected, layout_.blocks.size() - 1);
}

// The sets come provider by provider.
std::size_t LayoutMaker::Builder::provider_of(const ProviderView& provider) {
  if (last_provider_ != &provider) {
    last_provider_ = &provider;
    metrics_of_provider_ = 0;
    sets_of_provider_.clear();
    using exposition::clean_text;
    layout_.providers.push_back({clean_text(provider.name), clean_text(provider.outside.container),
                                 clean_text(provider.outside.pod),
                                 clean_text(provider.outside.unit), provider.named_pid(),
                                 provider.uid});
  }
  return layout_.providers.size() - 1;
}

std::string LayoutMaker::Builder::set_name_of(const SelectedSet& selected) {
  const Counterset& set = selected.set();
  std::string name = metric_part(set.symbol, set.name);
  constexpr std::size_t kGuidDigits = 8;
  const std::string guid = exposition::snake_case(set.guid.text()).substr(0, kGuidDigits);
  if (name.empty()) name = "set_" + guid;
  const auto [known, is_new] = sets_of_provider_.emplace(name, set.guid);
  if (!is_new && known->second != set.guid) name += "_" + guid;
  return name;
}

std::size_t LayoutMaker::Builder::domain_of(const std::string& set_name, const Counterset& set) {
  const auto [known, is_new] = domains_.emplace(set_name, layout_.domains.size());
  if (!is_new) return known->second;
  Domain domain;
  domain.id = maker_.id_of_domain(set_name);
  domain.set = set_name;
  const std::string label = exposition::snake_case(set.label);
  domain.label = exposition::is_free_label(label) ? label : "instance_name";
  domain.help = exposition::clean_text(set.help.empty() ? set.name : set.help);
  domain.oneline = domain.help.substr(0, domain.help.find('\n'));
  layout_.by_domain.emplace(domain.id, layout_.domains.size());
  layout_.domains.push_back(std::move(domain));
  names_.emplace_back();
  return known->second;
}

void LayoutMaker::Builder::add_rows(const SelectedSet& selected, std::size_t index) {
  RowBlock& block = layout_.blocks[index];
  const std::string& provider = maker_.provider_names_.of(selected.provider());
  const bool has_names = has_instance_names(selected.set().instances);
  // A set without names has one row.
  const std::size_t rows = selected.instances();
  block.ids.assign(rows, -1);
  Domain& domain = layout_.domains[block.domain];
  StableNumbers& numbers =
      maker_.instance_numbers_.try_emplace(domain.set, kInstances).first->second;
  for (std::size_t row = 0; row < (has_names ? rows : std::min<std::size_t>(rows, 1)); ++row) {
    const InstanceView& instance = selected.instance(row);
    if (has_names && exposition::is_published_total(instance.name)) continue;
    ShownInstance shown;
    shown.block = index;
    std::string name = provider;
    if (has_names) {
      name += "/" + instance_part(instance.name);
      shown.plain = exposition::clean_text(instance.name);
      if (selected.set().identity == InstanceIdentity::kNameAndId) {
        name += fmt::format("#{}", instance.id);
      }
    }
    shown.name = free_name(block.domain, std::move(name), instance.id);
    shown.id = static_cast<int>(numbers.of(shown.name));
    block.ids[row] = shown.id;
    domain.instances.push_back(std::move(shown));
  }
}

std::string LayoutMaker::Builder::free_name(std::size_t domain, std::string name,
                                            std::uint32_t id) {
  std::unordered_set<std::string>& names = names_[domain];
  if (names.insert(name).second) return name;
  name += fmt::format("#{}", id);
  const std::string base = name;
  for (unsigned number = 2; !names.insert(name).second; ++number) {
    name = fmt::format("{}.{}", base, number);
  }
  return name;
}

bool LayoutMaker::Builder::is_full() const noexcept {
  return layout_.metrics.size() >= maker_.limits_.metrics ||
         metrics_of_provider_ >= maker_.limits_.metrics_of_provider;
}

void LayoutMaker::Builder::add_metrics(const SelectedSet& selected, std::size_t index) {
  // Before anything is computed: a hostile provider has a million counters.
  if (is_full()) {
    layout_.metrics_left_out += selected.counters().size();
    return;
  }
  const std::size_t domain = layout_.blocks[index].domain;
  const std::string set_path = fmt::format("{}.{}", kRoot, layout_.domains[domain].set);
  for (const SetMetric& metric :
       maker_.metrics_of_set(layout_.blocks[index].set, selected.counters())) {
    const std::string key = fmt::format("{}.{} {} {} {}", set_path, metric.path, metric.type,
                                        metric.semantics, text_of(metric.units));
    auto known = metrics_.find(key);
    if (known == metrics_.end()) {
      if (is_full()) {
        ++layout_.metrics_left_out;
        continue;
      }
      ++metrics_of_provider_;
      const std::string& name = maker_.name_of_metric(set_path, metric.path, key);
      known = metrics_.emplace(key, new_metric(metric, name, key, domain)).first;
    }
    layout_.metrics[known->second].parts.push_back({index, metric.source});
  }
}

std::size_t LayoutMaker::Builder::new_metric(const SetMetric& from, const std::string& name,
                                             const std::string& key, std::size_t domain) {
  Metric metric;
  metric.name = name;
  metric.desc = {maker_.id_of_metric(key), from.type, layout_.domains[domain].id, from.semantics,
                 from.units};
  metric.oneline = from.oneline;
  metric.help = from.help;
  metric.ucum = from.ucum;
  metric.domain = domain;
  layout_.metrics.push_back(std::move(metric));
  return layout_.metrics.size() - 1;
}

void LayoutMaker::Builder::put_in_order() {
  for (Domain& domain : layout_.domains) {
    std::sort(
        domain.instances.begin(), domain.instances.end(),
        [](const ShownInstance& left, const ShownInstance& right) { return left.id < right.id; });
  }
  std::sort(layout_.metrics.begin(), layout_.metrics.end(),
            [](const Metric& left, const Metric& right) { return left.name < right.name; });
  layout_.by_id.reserve(layout_.metrics.size());
  for (std::size_t index = 0; index < layout_.metrics.size(); ++index) {
    layout_.by_id.emplace(layout_.metrics[index].desc.pmid, index);
  }
}

LayoutMaker::LayoutMaker(int domain, LayoutLimits limits) noexcept
    : domain_(domain), limits_(limits), metric_numbers_(kSerials), domain_numbers_(kSerials) {}

Layout LayoutMaker::make(const std::vector<SelectedSet>& selected) {
  Layout layout = Builder(*this, selected).build();
  forget_unused(layout);
  return layout;
}

// Names of sets and counters rarely change; a program that makes them up must not fill the memory.
void LayoutMaker::forget_unused(const Layout& layout) {
  metric_numbers_.forget_unused();
  domain_numbers_.forget_unused();
  std::erase_if(sets_, [](const auto& entry) { return !entry.second.is_used; });
  for (auto& [set, known] : sets_) known.is_used = false;
  for (auto& [set, numbers] : instance_numbers_) numbers.forget_unused();
  constexpr std::size_t kDomainsKept = 10'000;
  if (instance_numbers_.size() > kDomainsKept + 2 * layout.domains.size()) {
    instance_numbers_.clear();
  }
  if (metric_names_.size() > 2 * limits_.metrics) {
    metric_names_.clear();
    name_owners_.clear();
  }
}

const std::vector<SetMetric>& LayoutMaker::metrics_of_set(
    const std::shared_ptr<const Counterset>& set, const std::vector<std::uint32_t>& counters) {
  KnownSet& known = sets_[set.get()];
  known.is_used = true;
  if (known.set == nullptr || known.counters != counters) {
    known.set = set;
    known.counters = counters;
    known.metrics = metrics_of(*set, counters);
  }
  return known.metrics;
}

const std::string& LayoutMaker::name_of_metric(const std::string& set, const std::string& path,
                                               const std::string& key) {
  const auto [entry, is_new] = metric_names_.try_emplace(key);
  std::string& name = entry->second;
  if (!is_new) return name;
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) {
    name = free_name(fmt::format("{}.{}", set, path), key);
    return name;
  }
  // A name is that of a metric or of a node with metrics below it, never both.
  const std::string node = free_name(fmt::format("{}.{}", set, path.substr(0, dot)), ".");
  name = free_name(node + path.substr(dot), key);
  return name;
}

std::string LayoutMaker::free_name(std::string name, const std::string& owner) {
  const auto is_ours = [&] { return name_owners_.emplace(name, owner).first->second == owner; };
  if (is_ours()) return name;
  name += "_" + digits_of(name + owner);
  const std::string base = name;
  for (unsigned number = 2; !is_ours(); ++number) name = fmt::format("{}_{}", base, number);
  return name;
}

pmID LayoutMaker::id_of_metric(const std::string& key) {
  return identifier_of(domain_, metric_numbers_.of(key));
}

pmInDom LayoutMaker::id_of_domain(const std::string& set) {
  return identifier_of(domain_, domain_numbers_.of(set));
}

}  // namespace meterbank::pcp
