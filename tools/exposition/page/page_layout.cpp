// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/page_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "exposition/family/metric_name.hpp"

namespace meterbank::exposition {
namespace {

// Sets of one symbol that may have families of their own. A provider can describe one set in as
// many ways as it likes; looking for the group of each must not cost more and more.
constexpr std::size_t kGroupsOfSymbolMax = 64;

// Countersets of one symbol whose counters share families. A set that was declared without a GUID
// has one of its own in each provider, so GUIDs do not decide; a provider's second set of the
// symbol does not belong to the group of the first.
struct Group {
  std::shared_ptr<const Counterset> set;        // the first one
  std::map<std::string, std::size_t> families;  // by name, type and unit
  // How many blocks have these values of the common labels.
  std::map<std::vector<std::string>, std::size_t> labels;
};

std::vector<std::string> values_of(const std::vector<Label>& labels) {
  std::vector<std::string> values;
  values.reserve(labels.size());
  for (const Label& label : labels) values.push_back(label.value);
  return values;
}

class LayoutBuilder {
 public:
  LayoutBuilder(const std::vector<SelectedSet>& selected, const MetricNames& names,
                StartTimes& starts, std::uint64_t last_look_ns)
      : selected_(selected),
        metric_names_(names),
        starts_(starts),
        last_look_ns_(last_look_ns),
        family_names_(names) {}

  PageLayout build();

 private:
  void count_names();
  void add(const SelectedSet& selected, std::size_t first_row);
  // Null: there are too many.
  [[nodiscard]] Group* group_of(const RowBlock& block);
  [[nodiscard]] RowBlock block_of(const SelectedSet& selected, std::size_t first_row);
  [[nodiscard]] std::size_t provider_of(const ProviderView& provider);
  void add_common_labels(const SelectedSet& selected, RowBlock& block);
  static void tell_apart(Group& group, RowBlock& block);
  void add_rows(const SelectedSet& selected, RowBlock& block);
  void add_families(const SelectedSet& selected, Group& group, std::size_t block);

  const std::vector<SelectedSet>& selected_;
  const MetricNames& metric_names_;
  StartTimes& starts_;
  std::uint64_t last_look_ns_;
  PageLayout layout_;
  std::map<std::string, std::set<const ProviderView*>> providers_;  // by name
  const ProviderView* last_provider_ = nullptr;                     // the one that was added last
  std::multimap<std::string, Group> groups_;                        // by symbol
  FamilyNames family_names_;
};

PageLayout LayoutBuilder::build() {
  layout_.prefix = metric_names_.prefix;
  count_names();
  std::vector<std::size_t> first_rows(selected_.size());
  std::vector<std::size_t> order;
  std::size_t row = 0;
  for (std::size_t index = 0; index < selected_.size(); ++index) {
    first_rows[index] = row;
    row += selected_[index].instances();
    // The shares of a shared set are its rows; what else is added up has rows of its own.
    const bool is_repeated =
        selected_[index].is_total() && !is_shared(selected_[index].set().instances);
    if (!is_repeated) order.push_back(index);
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t left, std::size_t right) {
    return comes_before(selected_[left].provider(), selected_[right].provider());
  });
  for (const std::size_t index : order) add(selected_[index], first_rows[index]);
  starts_.forget_others();
  layout_.renamed = family_names_.renamed();
  return std::move(layout_);
}

void LayoutBuilder::count_names() {
  for (const SelectedSet& selected : selected_) {
    const ProviderView& provider = selected.provider();
    providers_[clean_text(provider.name)].insert(&provider);
  }
}

void LayoutBuilder::add(const SelectedSet& selected, std::size_t first_row) {
  RowBlock block = block_of(selected, first_row);
  add_common_labels(selected, block);
  Group* const group = group_of(block);
  if (group == nullptr) {
    layout_.rows_left_out += selected.instances();
    return;
  }
  tell_apart(*group, block);
  add_rows(selected, block);
  block.are_all_shown = std::all_of(block.places.begin(), block.places.end(),
                                    [](RowPlace place) { return place == RowPlace::kShown; });
  layout_.blocks.push_back(std::move(block));
  add_families(selected, *group, layout_.blocks.size() - 1);
}

Group* LayoutBuilder::group_of(const RowBlock& block) {
  const std::string symbol = snake_case(block.set->symbol);
  const auto [begin, end] = groups_.equal_range(symbol);
  std::size_t groups = 0;
  for (auto known = begin; known != end; ++known, ++groups) {
    Group& group = known->second;
    const bool is_same = group.set->guid == block.set->guid;
    if (is_same ? agree(*group.set, *block.set) : !group.labels.contains(values_of(block.common))) {
      return &group;
    }
  }
  if (groups == kGroupsOfSymbolMax) return nullptr;
  return &groups_.emplace(symbol, Group{block.set, {}, {}})->second;
}

RowBlock LayoutBuilder::block_of(const SelectedSet& selected, std::size_t first_row) {
  RowBlock block;
  block.first_row = first_row;
  block.provider = provider_of(selected.provider());
  block.set = selected.registered().set;
  block.set_symbol = clean_text(selected.set().symbol);
  block.provider_name = layout_.providers[block.provider].name;
  block.starts_ns = starts_.of(selected, last_look_ns_);
  block.instance_label = instance_label_of(selected.set(), metric_names_);
  return block;
}

// The sets come provider by provider.
std::size_t LayoutBuilder::provider_of(const ProviderView& provider) {
  if (last_provider_ != &provider) {
    last_provider_ = &provider;
    layout_.providers.push_back(
        {clean_text(provider.name), provider.segment_id, provider.named_pid(), provider.uid,
         provider.created_realtime_ns, clean_text(provider.outside.container),
         clean_text(provider.outside.pod), clean_text(provider.outside.unit), provider.pid_here,
         provider.start_time, clean_text(provider.outside.host)});
  }
  return layout_.providers.size() - 1;
}

void LayoutBuilder::add_common_labels(const SelectedSet& selected, RowBlock& block) {
  const ProviderView& provider = selected.provider();
  block.common.push_back({"provider", block.provider_name});
  if (providers_[block.provider_name].size() > 1) {
    block.common.push_back({"pid", std::to_string(provider.named_pid())});
  }
  if (!provider.trusted) block.common.push_back({"uid", std::to_string(provider.uid)});
  if (!provider.outside.host.empty()) {
    block.common.push_back({"host", clean_text(provider.outside.host)});
  }
}

void LayoutBuilder::tell_apart(Group& group, RowBlock& block) {
  const std::size_t number = ++group.labels[values_of(block.common)];
  if (number > 1) block.common.push_back({"registration", std::to_string(number)});
}

void LayoutBuilder::add_rows(const SelectedSet& selected, RowBlock& block) {
  std::string common;
  for (const Label& label : block.common) append_label(common, label.name, label.value);
  const std::size_t rows = selected.instances();
  block.places.resize(rows, RowPlace::kShown);
  if (block.instance_label.empty()) {
    // One row; what a hostile provider adds to it would have its labels.
    block.texts.assign(rows, common);
    for (std::size_t row = 1; row < rows; ++row) block.places[row] = RowPlace::kRepeated;
    layout_.rows_left_out += rows > 1 ? rows - 1 : 0;
    return;
  }
  block.instances.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    block.instances.push_back(clean_text(selected.instance(row).name));
  }
  const auto has_names_twice = [&block] {
    std::unordered_set<std::string_view> names;
    names.reserve(block.instances.size());
    return std::any_of(block.instances.begin(), block.instances.end(),
                       [&names](const std::string& name) { return !names.insert(name).second; });
  };
  const bool has_ids = selected.set().identity == InstanceIdentity::kNameAndId || has_names_twice();
  block.texts.reserve(rows);
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string text = common;
    append_label(text, block.instance_label, block.instances[row]);
    if (has_ids) {
      block.ids.push_back(std::to_string(selected.instance(row).id));
      append_label(text, "id", block.ids[row]);
    }
    block.texts.push_back(std::move(text));
    // The texts were reserved, so views of them stay valid.
    const bool is_repeated = has_ids && !seen.insert(block.texts.back()).second;
    if (is_repeated) {
      ++layout_.rows_left_out;
      block.places[row] = RowPlace::kRepeated;
    } else if (is_published_total(block.instances[row])) {
      block.places[row] = RowPlace::kTotal;
    }
  }
}

void LayoutBuilder::add_families(const SelectedSet& selected, Group& group, std::size_t block) {
  std::map<std::string, std::size_t> uses;
  for (const Family& family : families_of(selected.set(), selected.counters(), metric_names_)) {
    std::string key =
        fmt::format("{} {} {}", family.name, static_cast<unsigned>(family.type), family.unit);
    // Counters of one set may have one name.
    if (const std::size_t number = ++uses[key]; number > 1) key += fmt::format(" {}", number);
    const auto known = group.families.find(key);
    const bool is_known = known != group.families.end();
    const std::size_t index = is_known ? known->second : layout_.families.size();
    if (!is_known) {
      layout_.families.push_back({family_names_.add(family, selected.set()), {}});
      group.families.emplace(key, index);
    }
    layout_.families[index].parts.push_back({block, family.value, family.count, family.counter});
  }
}

}  // namespace

bool is_published_total(std::string_view instance) noexcept {
  return instance == kTotalName || instance.ends_with(",_Total");
}

PageLayout make_page_layout(const std::vector<SelectedSet>& selected, const MetricNames& names,
                            StartTimes& starts, std::uint64_t last_look_ns) {
  return LayoutBuilder(selected, names, starts, last_look_ns).build();
}

}  // namespace meterbank::exposition
