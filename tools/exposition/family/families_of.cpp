// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "exposition/family/family.hpp"
#include "exposition/family/metric_name.hpp"

namespace meterbank::exposition {
namespace {

using Rule = NumberSource::Rule;

// Ticks a second of the clocks that Windows' counter types name.
constexpr double kPerformanceTicks = 1e9;  // CLOCK_MONOTONIC in nanoseconds
constexpr double k100NsTicks = 1e7;

std::uint64_t mask_of(const CounterView& counter) noexcept {
  return width_of(counter.type) == 4 ? 0xffffffff : ~std::uint64_t{0};
}

Rule rule_of(ValueForm form) noexcept {
  switch (form) {
    case ValueForm::kSigned:
      return Rule::kSigned;
    case ValueForm::kReal:
      return Rule::kReal;
    default:
      return Rule::kUnsigned;
  }
}

UnitWord seconds(double ticks = 1) { return {"seconds", 1, ticks, "s"}; }

class FamilyList {
 public:
  FamilyList(const Counterset& set, const MetricNames& names) : set_(set), names_(names) {
    const std::string symbol = snake_case(set.symbol);
    set_prefix_ = names.prefix + (symbol.empty() ? snake_case(set.name) : symbol) + "_";
  }

  void add(const CounterView& counter);
  [[nodiscard]] std::vector<Family> take() { return std::move(families_); }

 private:
  void add_number(const CounterView& counter, FamilyType type);
  void add_time(const CounterView& counter, double ticks, std::string_view suffix = {});
  void add_object_time(const CounterView& counter);
  void add_average(const CounterView& counter, bool is_time);
  void add_share(const CounterView& counter);
  void add_start(const CounterView& counter);

  [[nodiscard]] bool is_dropped(const CounterView& counter) const {
    const MetricRule* const rule = find_rule(names_.rules, set_, counter);
    return rule != nullptr && rule->drop;
  }

  // A family named after the counter, with `suffix` and `unit` behind it.
  Family& append(const CounterView& counter, FamilyType type, std::string_view suffix,
                 UnitWord unit) {
    const MetricRule* const rule = find_rule(names_.rules, set_, counter);
    const bool is_named = rule != nullptr && !rule->name.empty();
    std::string symbol = snake_case(is_named ? rule->name : counter.symbol);
    if (symbol.empty()) symbol = snake_case(counter.name);
    if (symbol.empty()) symbol = fmt::format("counter_{}", counter.id);
    // The type says it.
    constexpr std::string_view kTotal = "_total";
    if (type == FamilyType::kCounter && symbol.ends_with(kTotal)) {
      symbol.resize(symbol.size() - kTotal.size());
    }
    Family family;
    family.name =
        free_name(is_named ? names_.prefix : set_prefix_, symbol + std::string(suffix), unit.word);
    family.type = type;
    family.unit = std::move(unit.word);
    family.ucum = std::move(unit.ucum);
    family.help = counter.help.empty() ? counter.name : counter.help;
    if (rule != nullptr && !rule->help.empty()) family.help = rule->help;
    family.counter = &counter;
    return families_.emplace_back(std::move(family));
  }

  // "free_megabytes" in bytes is "free_bytes", unless the set has one.
  [[nodiscard]] std::string free_name(const std::string& prefix, const std::string& symbol,
                                      const std::string& unit) const {
    std::string name = prefix + with_unit_instead(symbol, unit);
    const bool is_taken =
        std::any_of(families_.begin(), families_.end(),
                    [&name](const Family& family) { return family.name == name; });
    return is_taken ? prefix + with_unit_last(symbol, unit) : name;
  }

  [[nodiscard]] static NumberSource source_of(const CounterView& counter) noexcept {
    NumberSource source;
    source.rule = rule_of(counter.form);
    source.word = counter.word;
    // A running count that its provider keeps in more than the 32 bits of its type does not wrap.
    if (!is_count(counter.type)) source.mask = mask_of(counter);
    return source;
  }
  void use_other(NumberSource& source, std::uint32_t word) const noexcept {
    if (word == kNoCounter) return;
    source.other = word;
    source.other_mask = mask_of(set_.counters[word]);
  }

  const Counterset& set_;
  const MetricNames& names_;
  std::string set_prefix_;
  std::vector<Family> families_;
};

void FamilyList::add_number(const CounterView& counter, FamilyType type) {
  const UnitWord unit = unit_word_of(counter.unit);
  Family& family = append(counter, type, {}, unit);
  family.value = source_of(counter);
  family.value.factor = unit.factor;
  family.value.divisor = unit.divisor;
}

void FamilyList::add_time(const CounterView& counter, double ticks, std::string_view suffix) {
  Family& family = append(counter, FamilyType::kCounter, suffix, seconds());
  family.value = source_of(counter);
  family.value.divisor = ticks;
  if (!suffix.empty()) family.help += " Counts the idle time: the share is 1 - rate.";
}

// Without a clock of its own the set lives by the performance clock, as when it is cooked.
void FamilyList::add_object_time(const CounterView& counter) {
  if (counter.frequency == kNoCounter) return add_time(counter, kPerformanceTicks);
  Family& family = append(counter, FamilyType::kCounter, {}, seconds());
  family.value = source_of(counter);
  family.value.rule = Rule::kOfClock;
  family.value.frequency = counter.frequency;
}

void FamilyList::add_average(const CounterView& counter, bool is_time) {
  if (counter.base == kNoCounter) return add_number(counter, FamilyType::kCounter);
  const UnitWord unit = is_time ? seconds(kPerformanceTicks) : unit_word_of(counter.unit);
  Family& family = append(counter, FamilyType::kSummary, {}, unit);
  family.value = source_of(counter);
  family.value.factor = unit.factor;
  family.value.divisor = unit.divisor;
  family.count = source_of(set_.counters[counter.base]);
}

void FamilyList::add_share(const CounterView& counter) {
  if (counter.base == kNoCounter) return;
  Family& family = append(counter, FamilyType::kGauge, {}, UnitWord{"ratio", 1, 1, "1"});
  family.value = source_of(counter);
  family.value.rule = Rule::kShare;
  use_other(family.value, counter.base);
}

void FamilyList::add_start(const CounterView& counter) {
  Family& family = append(counter, FamilyType::kGauge, "_start_time", seconds());
  family.value = source_of(counter);
  family.value.rule = Rule::kStartTime;
  family.value.frequency = counter.frequency;
  use_other(family.value, counter.time);
}

void FamilyList::add(const CounterView& counter) {
  if (is_dropped(counter)) return;
  if (counter.form == ValueForm::kText) {
    append(counter, FamilyType::kInfo, {}, {});
    return;
  }
  if (counter.form == ValueForm::kDistribution) {
    // Buckets are powers of two of the stored unit, and of no other.
    append(counter, FamilyType::kHistogram, {}, stored_unit_word_of(counter.unit));
    return;
  }
  switch (counter.type) {
    case CounterType::kRawCount:
    case CounterType::kLargeRawCount:
    case CounterType::kRawCountHex:
    case CounterType::kLargeRawCountHex:
      return add_number(counter, FamilyType::kGauge);
    // What Windows shows as the difference of two samples is stored as a running count.
    case CounterType::kDelta:
    case CounterType::kLargeDelta:
    case CounterType::kCounter:
    case CounterType::kBulkCount:
    case CounterType::kSampleCounter:
      return add_number(counter, FamilyType::kCounter);
    case CounterType::kTimer:
    case CounterType::kPrecisionSystemTimer:
    case CounterType::kMultiTimer:
    case CounterType::kQueueLength:
    case CounterType::kLargeQueueLength:
      return add_time(counter, kPerformanceTicks);
    case CounterType::kTimer100Ns:
    case CounterType::kPrecision100NsTimer:
    case CounterType::kMultiTimer100Ns:
    case CounterType::kQueueLength100Ns:
      return add_time(counter, k100NsTicks);
    case CounterType::kTimerInverse:
    case CounterType::kMultiTimerInverse:
      return add_time(counter, kPerformanceTicks, "_idle");
    case CounterType::kTimer100NsInverse:
    case CounterType::kMultiTimer100NsInverse:
      return add_time(counter, k100NsTicks, "_idle");
    case CounterType::kTimerObject:
    case CounterType::kPrecisionObjectTimer:
    case CounterType::kQueueLengthObject:
      return add_object_time(counter);
    case CounterType::kAverageBulk:
      return add_average(counter, false);
    case CounterType::kAverageTimer:
      return add_average(counter, true);
    case CounterType::kSampleFraction:
      add_number(counter, FamilyType::kCounter);
      if (counter.base != kNoCounter && !is_dropped(set_.counters[counter.base])) {
        add_number(set_.counters[counter.base], FamilyType::kCounter);
      }
      return;
    case CounterType::kRawFraction:
    case CounterType::kLargeRawFraction:
      return add_share(counter);
    case CounterType::kElapsedTime:
      return add_start(counter);
    default:  // bases, which their neighbours bring in, and types without a number
      return;
  }
}

}  // namespace

std::string_view name_of(FamilyType type) noexcept {
  switch (type) {
    case FamilyType::kCounter:
      return "counter";
    case FamilyType::kGauge:
      return "gauge";
    case FamilyType::kSummary:
      return "summary";
    case FamilyType::kHistogram:
      return "histogram";
    case FamilyType::kInfo:
      break;
  }
  return "info";
}

std::vector<Family> families_of(const Counterset& set, std::span<const std::uint32_t> counters,
                                const MetricNames& names) {
  FamilyList list(set, names);
  for (const std::uint32_t index : counters) list.add(set.counters[index]);
  return list.take();
}

}  // namespace meterbank::exposition
