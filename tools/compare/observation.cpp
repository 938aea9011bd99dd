// SPDX-License-Identifier: Apache-2.0
#include "compare/observation.hpp"

#include <algorithm>

#include "meterbank/reader/cook.hpp"

namespace meterbank::compare {
namespace {

const std::string& word_of(const std::string& symbol, const std::string& name) {
  return symbol.empty() ? name : symbol;
}

Weight weight_of(const CounterView& counter) {
  if (!needs_two_samples(counter.type)) return Weight::kOne;
  switch (second_input_of(counter.type)) {
    case SecondInput::kNone:
      return Weight::kPerSecond;
    case SecondInput::kBase:
      return Weight::kBase;
    case SecondInput::kObjectClock:
      return Weight::kObjectTime;
    default:
      return Weight::kTime;
  }
}

// No name has a line end in it.
std::string joined(const std::string& one, const std::string& other) { return one + '\n' + other; }

std::string set_key_of(const Row& row) {
  // A total is of no single provider.
  const std::string provider = row.is_total ? std::string() : row.provider->name;
  return joined(provider, word_of(row.set().symbol, row.set().name));
}

}  // namespace

void Presence::see(std::uint64_t tick) noexcept {
  first = std::min(first, tick);
  last = std::max(last, tick);
}

bool ProviderHistory::was_restarted() const {
  std::uint64_t first_end = kNever, last_begin = 0;
  for (const auto& [id, there] : lives) {
    first_end = std::min(first_end, there.last);
    last_begin = std::max(last_begin, there.first);
  }
  return lives.size() > 1 && last_begin > first_end;
}

double Observation::slack() const noexcept {
  if (samples_ < 2 || seconds() <= 0) return 0;
  return static_cast<double>(first_window_ns_ + last_window_ns_) / 1e9 / seconds();
}

bool Observation::was_there_throughout(const Presence& there) const noexcept {
  return samples_ > 0 && there.first == 0 && there.last + 1 == samples_;
}

std::string Observation::provider_of(const std::string& set_key) {
  return set_key.substr(0, set_key.find('\n'));
}

bool Observation::kept_instances(const std::string& set_key) const {
  const auto found = rows_.find(set_key);
  if (found == rows_.end()) return true;
  return std::all_of(found->second.begin(), found->second.end(),
                     [this](const auto& row) { return was_there_throughout(row.second.there); });
}

Observation::Place Observation::find(const Value& value) {
  const Row& row = *value.row;
  const std::string set_key = set_key_of(row);
  const std::string label = row.instance_label();
  auto& rows = rows_[set_key];
  const auto [row_place, is_new_row] = rows.try_emplace(label);
  if (is_new_row) {
    const std::string path = value.short_path();
    row_place->second.path = path.substr(0, path.rfind('/'));
  }
  const auto key =
      joined(joined(set_key, label), word_of(value.counter->symbol, value.counter->name));
  auto& series = by_key_[key];
  if (series == nullptr) {
    series = &series_.emplace_back();
    series->path = value.short_path();
    series->counter = *value.counter;
    series->counter.help.clear();
    series->set_key = set_key;
    series->row_label = label;
    series->weight = weight_of(*value.counter);
  }
  return {row.instance, value.counter, series, &row_place->second};
}

void Observation::begin_asked_of_other() {
  for (auto& [set_key, rows] : rows_) {
    for (auto& [label, history] : rows) history.is_asked_of_other = false;
  }
}

void Observation::take_asked_of_other(const Row& row) {
  const auto rows = rows_.find(set_key_of(row));
  if (rows == rows_.end()) return;
  const auto history = rows->second.find(row.instance_label());
  if (history != rows->second.end()) history->second.is_asked_of_other = true;
}

void Observation::see_providers(const Catalog& catalog) {
  for (const auto& provider : catalog.providers()) {
    auto& history = providers_[provider->name];
    history.last_state = provider->state;
    if (has_ended(provider->state)) continue;
    history.lives[{provider->pid, provider->start_time}].see(samples_);
    history.alive.see(samples_);
  }
}

void Observation::take(const Sample& newer, const Sample& older, std::uint64_t version,
                       const Catalog& catalog, Reading reading) {
  if (version != version_) places_.clear();
  version_ = version;
  see_providers(catalog);
  std::size_t number = 0;
  for (const Row& row : newer.since(older, {.cap_percent = false})) {
    for (const Value& value : row) {
      if (number == places_.size()) places_.push_back(find(value));
      Place& place = places_[number++];
      const bool is_same = place.instance == row.instance && place.counter == value.counter;
      if (!is_same) place = find(value);
      if (holds_values(row.status) && row.status != RowStatus::kDead) {
        place.row->there.see(samples_);
      }
      place.series->take(value, samples_);
    }
  }
  if (samples_ == 0) {
    first_window_ns_ = reading.window_ns;
  } else if (newer.time.monotonic_ns > last_.monotonic_ns) {
    nanoseconds_ += newer.time.monotonic_ns - last_.monotonic_ns;
  }
  last_ = newer.time;
  last_window_ns_ = reading.window_ns;
  ++samples_;
}

}  // namespace meterbank::compare
