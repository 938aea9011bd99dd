// SPDX-License-Identifier: Apache-2.0
#include "pcp/metrics/set_metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "exposition/page/labels.hpp"
#include "pcp/metrics/pcp_unit.hpp"
#include "pcp/names/pcp_name.hpp"
#include "units/base_unit.hpp"

namespace meterbank::pcp {
namespace {

using exposition::Family;
using exposition::FamilyType;
using exposition::NumberSource;
using Part = MetricSource::Part;
using Rule = NumberSource::Rule;

struct Share {
  std::string_view name;
  double share;
};
constexpr std::array kShares{Share{"p50", 0.5}, Share{"p90", 0.9}, Share{"p99", 0.99},
                             Share{"p99_9", 0.999}};

bool is_idle_time(CounterType type) noexcept {
  switch (type) {
    case CounterType::kTimerInverse:
    case CounterType::kMultiTimerInverse:
    case CounterType::kTimer100NsInverse:
    case CounterType::kMultiTimer100NsInverse:
      return true;
    default:
      return false;
  }
}

bool is_whole(Rule rule) noexcept { return rule == Rule::kUnsigned || rule == Rule::kSigned; }

int type_of(Rule rule) noexcept {
  switch (rule) {
    case Rule::kUnsigned:
      return PM_TYPE_U64;
    case Rule::kSigned:
      return PM_TYPE_64;
    default:
      return PM_TYPE_DOUBLE;
  }
}

// How many words the distributions before this one have.
std::size_t words_before(const Counterset& set, const CounterView& counter) noexcept {
  std::size_t words = 0;
  for (const CounterView& other : set.counters) {
    if (&other == &counter) break;
    if (other.form == ValueForm::kDistribution) words += 1 + std::size_t{other.more_words};
  }
  return words;
}

class MetricList {
 public:
  explicit MetricList(const Counterset& set) noexcept : set_(set) {}

  void add(const Family& family);
  [[nodiscard]] std::vector<SetMetric> take() { return std::move(metrics_); }

 private:
  [[nodiscard]] std::string free_path(const Family& family);
  SetMetric& append(const Family& family, std::string path);
  void add_number(const Family& family, std::string path, const NumberSource& source,
                  std::string_view unit, bool is_counter);
  void add_distribution(const Family& family, const std::string& path);

  const Counterset& set_;
  std::vector<SetMetric> metrics_;
  std::unordered_set<std::string> paths_;
};

// Counters whose names become one have their ids behind it, but for the first of them.
std::string MetricList::free_path(const Family& family) {
  const CounterView& counter = *family.counter;
  std::string path = metric_part(counter.symbol, counter.name);
  if (path.empty()) path = fmt::format("counter_{}", counter.id);
  if (is_idle_time(counter.type)) path += "_idle";
  if (family.value.rule == Rule::kStartTime) path += "_start_time";
  if (paths_.insert(path).second) return path;
  path += fmt::format("_{}", counter.id);
  const std::string base = path;
  for (unsigned number = 2; !paths_.insert(path).second; ++number) {
    path = fmt::format("{}_{}", base, number);
  }
  return path;
}

SetMetric& MetricList::append(const Family& family, std::string path) {
  SetMetric metric;
  metric.path = std::move(path);
  metric.help = exposition::clean_text(family.help);
  metric.oneline = metric.help.substr(0, metric.help.find('\n'));
  metric.source.counter = family.counter;
  return metrics_.emplace_back(std::move(metric));
}

void MetricList::add_number(const Family& family, std::string path, const NumberSource& source,
                            std::string_view unit, bool is_counter) {
  SetMetric& metric = append(family, std::move(path));
  metric.source.number = source;
  metric.source.only_grows = is_counter;
  metric.semantics = is_counter ? PM_SEM_COUNTER : PM_SEM_INSTANT;
  if (source.rule == Rule::kStartTime) metric.semantics = PM_SEM_DISCRETE;
  metric.type = type_of(source.rule);
  const bool has_scale = is_whole(source.rule) || source.rule == Rule::kReal;
  const PcpUnit pcp =
      pcp_unit_of(unit, has_scale ? source.factor : 1, has_scale ? source.divisor : 1, is_counter);
  metric.units = pcp.units;
  if (!pcp.says_all) metric.ucum = exposition::clean_text(unit);
  if (has_scale && pcp.multiple == 0) metric.type = PM_TYPE_DOUBLE;
  if (has_scale && pcp.multiple != 0) {
    metric.source.multiple = pcp.multiple;
    metric.source.number.factor = metric.source.number.divisor = 1;
  }
}

void MetricList::add_distribution(const Family& family, const std::string& path) {
  const BaseUnit base = base_unit_of(family.counter->unit);
  const PcpUnit pcp = pcp_unit_of(base.unit, base.factor, base.divisor, false);
  const auto add = [&](std::string_view name, std::string_view what, Part part) -> SetMetric& {
    SetMetric& metric = append(family, fmt::format("{}.{}", path, name));
    metric.oneline = fmt::format("{}: {}", what, metric.oneline);
    metric.help = fmt::format("{}: {}", what, metric.help);
    metric.type = PM_TYPE_DOUBLE;
    metric.units = pcp.units;
    if (!pcp.says_all) metric.ucum = exposition::clean_text(base.unit);
    metric.source.part = part;
    const bool is_exact = pcp.multiple != 0;
    metric.source.factor = is_exact ? static_cast<double>(pcp.multiple) : base.factor;
    metric.source.divisor = is_exact ? 1 : base.divisor;
    return metric;
  };
  SetMetric& count = add("count", "Number of values", Part::kCount);
  count.type = PM_TYPE_U64;
  count.semantics = PM_SEM_COUNTER;
  count.units = {};
  count.units.dimCount = 1;
  count.ucum.clear();
  add("sum", "Sum of all values", Part::kSum).semantics = PM_SEM_COUNTER;
  for (const Share& share : kShares) {
    const std::string what =
        fmt::format("Not exceeded by {:g} % of the recent values", share.share * 100);
    MetricSource& source = add(share.name, what, Part::kQuantile).source;
    source.share = share.share;
    source.marked_at = words_before(set_, *family.counter);
  }
  add("max", "Greatest value so far", Part::kMost);
}

void MetricList::add(const Family& family) {
  std::string path = free_path(family);
  switch (family.type) {
    case FamilyType::kCounter:
    case FamilyType::kGauge:
      return add_number(family, std::move(path), family.value, family.ucum,
                        family.type == FamilyType::kCounter);
    case FamilyType::kSummary:
      add_number(family, path + ".sum", family.value, family.ucum, true);
      add_number(family, path + ".count", family.count, {}, true);
      return;
    case FamilyType::kInfo: {
      SetMetric& metric = append(family, std::move(path));
      metric.type = PM_TYPE_STRING;
      metric.semantics = PM_SEM_DISCRETE;
      metric.source.part = Part::kText;
      return;
    }
    case FamilyType::kHistogram:
      return add_distribution(family, path);
  }
}

}  // namespace

std::vector<SetMetric> metrics_of(const Counterset& set, std::span<const std::uint32_t> counters) {
  MetricList list(set);
  for (const Family& family : exposition::families_of(set, counters, {})) list.add(family);
  return list.take();
}

}  // namespace meterbank::pcp
