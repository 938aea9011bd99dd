// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/cook.hpp"

#include <algorithm>
#include <unordered_map>

#include "meterbank/reader/path.hpp"
#include "pattern_match.hpp"
#include "total.hpp"

namespace meterbank {
namespace {

using Plan = QueryPlan;

bool holds_values(RowStatus status) noexcept {
  return status != RowStatus::kBusy && status != RowStatus::kGone;
}

// Where a row was read: the same slot of the same registration of the same segment.
struct RowKey {
  std::array<std::uint64_t, 2> segment{};
  Ref registration = 0;
  std::uint64_t generation = 0;  // of the registration
  std::uint32_t slot = 0;

  friend bool operator==(const RowKey&, const RowKey&) = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t part :
         {key.segment[0], key.segment[1], std::uint64_t{key.registration}, key.generation,
          std::uint64_t{key.slot}}) {
      sum = (sum ^ part) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;
    }
    return sum;
  }
};

const Plan::Selection& selection_of(const Plan& plan, std::size_t row) noexcept {
  return plan.selections[plan.rows[row].selection];
}

const InstanceView& instance_of(const Plan& plan, std::size_t row) noexcept {
  return selection_of(plan, row).set->instances[plan.rows[row].instance];
}

RowKey key_of(const Plan& plan, std::size_t row) noexcept {
  const Plan::Selection& selection = selection_of(plan, row);
  return {selection.provider->segment_id, selection.set->registration, selection.set->generation,
          instance_of(plan, row).slot};
}

// Finds the rows of an older sample that belong to rows of a newer one. The same slot can be in a
// plan more than once, with other counters; its values are the same then.
class OlderRows {
 public:
  OlderRows(const Sample* older, const Sample& newer) : older_(older) {
    if (older == nullptr || older->plan == nullptr) {
      older_ = nullptr;
      return;
    }
    same_plan_ = older->plan == newer.plan;
    if (same_plan_) return;
    rows_.reserve(older->plan->rows.size());
    for (std::size_t row = 0; row < older->plan->rows.size(); ++row) {
      rows_.emplace(key_of(*older->plan, row), row);
    }
  }

  // The row of the same slot, of whatever life; false: there is none with values.
  [[nodiscard]] bool find(const Plan& newer, std::size_t row, std::size_t& found) const {
    if (older_ == nullptr) return false;
    if (same_plan_) {
      found = row;
    } else {
      const auto known = rows_.find(key_of(newer, row));
      if (known == rows_.end()) return false;
      found = known->second;
    }
    return holds_values(older_->status[found]);
  }

 private:
  const Sample* older_;
  bool same_plan_ = false;
  std::unordered_map<RowKey, std::size_t, RowKeyHash> rows_;
};

std::uint64_t linked(const std::uint64_t* values, std::uint32_t word, std::uint64_t otherwise) {
  return word == kNoCounter ? otherwise : values[word];
}

RawValue raw_of(const Sample& sample, std::size_t row, const Counterset& set,
                const CounterView& counter) noexcept {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  const std::uint64_t* values = sample.row(row);
  RawValue raw;
  raw.stamped = set.stamp_word != kNoCounter;
  raw.time_ns = raw.stamped ? values[set.stamp_word] : sample.time.monotonic_ns;
  raw.value = values[counter.word];
  raw.base = linked(values, counter.base, 0);
  if (counter.base != kNoCounter) raw.base_bytes = width_of(set.counters[counter.base].type);
  raw.multi = linked(values, counter.multi, 1);
  // An object without a clock of its own lives by the performance clock.
  raw.object_time = linked(values, counter.time, raw.time_ns);
  raw.object_frequency = linked(values, counter.frequency, kNanosecondsPerSecond);
  return raw;
}

// Cooks the rows of the newer sample one after the other.
class RowCook {
 public:
  RowCook(const Sample* older, const Sample& newer, CookOptions options)
      : older_(older), newer_(newer), options_(options), older_rows_(older, newer) {}

  // Hands the row's counters over one by one.
  template <typename F>
  void cook_row(std::size_t row, F&& take) const {
    const Plan& plan = *newer_.plan;
    const Plan::Selection& selection = selection_of(plan, row);
    std::size_t before = 0;
    const bool has_older = holds_values(newer_.status[row]) && older_rows_.find(plan, row, before);
    for (const std::uint32_t index : selection.counters) {
      CookedRow out;
      out.selection = &selection;
      out.instance = &instance_of(plan, row);
      out.counter = &selection.set->set->counters[index];
      out.row_status = newer_.status[row];
      if (holds_values(out.row_status)) {
        out.raw = raw_of(newer_, row, *selection.set->set, *out.counter);
        out.cooked = has_older ? cook_pair(out, row, before, index)
                               : cook(out.counter->type, nullptr, out.raw, options_);
      }
      take(out);
    }
  }

 private:
  [[nodiscard]] CookedValue cook_pair(const CookedRow& out, std::size_t row, std::size_t before,
                                      std::uint32_t counter) const {
    const Plan& old_plan = *older_->plan;
    if (old_plan.rows[before].generation != newer_.plan->rows[row].generation) {
      const bool is_anew = instance_of(old_plan, before).name == out.instance->name;
      if (is_anew && needs_two_samples(out.counter->type)) return {0, CookStatus::kReset};
      return cook(out.counter->type, nullptr, out.raw, options_);
    }
    const Counterset& old_set = *selection_of(old_plan, before).set->set;
    if (counter >= old_set.counters.size() || old_set.counters[counter].type != out.counter->type) {
      return {0, CookStatus::kTypeChanged};
    }
    const RawValue raw = raw_of(*older_, before, old_set, old_set.counters[counter]);
    return cook(out.counter->type, &raw, out.raw, options_);
  }

  const Sample* older_;
  const Sample& newer_;
  CookOptions options_;
  OlderRows older_rows_;
};

}  // namespace

std::vector<CookedRow> cook(const Sample* older, const Sample& newer, CookOptions options) {
  std::vector<CookedRow> cooked;
  if (newer.plan == nullptr) return cooked;
  std::size_t count = 0;
  for (const Plan::Selection& selection : newer.plan->selections) {
    count += selection.rows * selection.counters.size();
  }
  cooked.reserve(count);
  const RowCook rows(older, newer, options);
  std::vector<const Plan::Selection*> totals;
  for (const Plan::Selection& selection : newer.plan->selections) {
    const auto cook_all = [&](const Plan::Selection& each, auto&& take) {
      for (std::size_t row = each.first_row; row < each.first_row + each.rows; ++row) {
        rows.cook_row(row, take);
      }
    };
    if (!selection.total) {
      cook_all(selection, [&cooked](const CookedRow& row) { cooked.push_back(row); });
      continue;
    }
    const auto same_set = [&selection](const Plan::Selection* known) {
      return known->set->set->guid == selection.set->set->guid;
    };
    if (std::any_of(totals.begin(), totals.end(), same_set)) continue;  // is in its total
    totals.push_back(&selection);
    Total total;
    for (const Plan::Selection& other : newer.plan->selections) {
      if (!other.total || !same_set(&other)) continue;
      cook_all(other, [&total](const CookedRow& row) { total.add(row); });
    }
    total.give(cooked);
  }
  return cooked;
}

std::string CookedRow::path() const {
  const Counterset& set = *selection->set->set;
  const std::string& name = counter->name.empty() ? counter->symbol : counter->name;
  return print_path(path_of({{}, set.name, instance->name, name}, PathSpelling::kWindows));
}

std::string CookedRow::short_path() const {
  const Counterset& set = *selection->set->set;
  return print_short(
      path_of({{}, word_of(set), instance->name, word_of(*counter)}, PathSpelling::kShort));
}

}  // namespace meterbank
