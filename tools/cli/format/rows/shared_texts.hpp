// SPDX-License-Identifier: Apache-2.0
//
// Texts that many values of a sample have in common: those of a row are made when it begins, those
// of a counter once. What is left to do for each value is its number.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// A short path is the row's part up to the last slash, then the counter's part. A path without a
// slash (the counter has no name) has no known parts. A counter's part that begins beyond ASCII is
// not known either: what a combining mark looks like depends on the character before it.
struct PathPart {
  std::string text;
  bool is_known = false;

  static PathPart of_row(std::string_view path) {
    const std::size_t end = end_of_row(path);
    return {std::string(path.substr(0, end)), end != 0};
  }
  static PathPart of_counter(std::string_view path) {
    const std::size_t end = end_of_row(path);
    return {std::string(path.substr(end)), end != 0 && plain_bytes(path.substr(end)) != 0};
  }

 private:
  static std::size_t end_of_row(std::string_view path) noexcept {
    std::size_t end = 0;
    for (std::size_t at = 0; at < path.size(); ++at) {
      if (path[at] == '\\') {
        ++at;
      } else if (path[at] == '/') {
        end = at + 1;
      }
    }
    return end;
  }
};

// Valid for one sample, whose values come row by row.
template <typename OfRow, typename OfCounter>
class SharedTexts {
 public:
  // `make(value)` is called if the value is of another row than the one before.
  template <typename Make>
  const OfRow& of_row(const Value& value, Make&& make) {
    const RowKey key(*value.row);
    if (key == row_key_) return row_;
    row_key_ = key;
    next_ = first_;
    row_begins_ = true;
    row_ = make(value);
    return row_;
  }

  // `make(value)` is called once a counter, or more often where there are very many. What it makes
  // may depend on whether the instance has a name, and on nothing else of the row.
  template <typename Make>
  const OfCounter& of_counter(const Value& value, Make&& make) {
    const CounterKey key{value.counter, value.instance().name.empty()};
    // Rows of a set have the same counters in the same order.
    const bool is_next = next_ < counters_.size() && counters_[next_].first == key;
    const std::size_t place = is_next ? next_ : place_of(key, value, make);
    if (std::exchange(row_begins_, false)) first_ = place;
    next_ = place + 1;
    return counters_[place].second;
  }

 private:
  // Rows that agree in these have the same names.
  struct RowKey {
    const ProviderView* provider = nullptr;
    const RegisteredSet* registered = nullptr;
    const InstanceView* instance = nullptr;
    bool has_namesake = false, shares_name = false, is_total = false, is_apart = false;

    RowKey() = default;
    explicit RowKey(const Row& row) noexcept
        : provider(row.provider),
          registered(row.registered),
          instance(row.instance),
          has_namesake(row.has_namesake),
          shares_name(row.shares_name),
          is_total(row.is_total),
          is_apart(row.is_apart) {}
    friend bool operator==(const RowKey&, const RowKey&) = default;
  };
  using CounterKey = std::pair<const CounterView*, bool>;

  template <typename Make>
  std::size_t place_of(const CounterKey& key, const Value& value, Make&& make) {
    constexpr std::size_t kCountersMax = 4096;
    const auto known = places_.find(key);
    if (known != places_.end()) return known->second;
    if (counters_.size() == kCountersMax) {
      counters_.clear();
      places_.clear();
    }
    places_.emplace(key, counters_.size());
    counters_.emplace_back(key, make(value));
    return counters_.size() - 1;
  }

  RowKey row_key_;
  OfRow row_;
  std::vector<std::pair<CounterKey, OfCounter>> counters_;
  std::map<CounterKey, std::size_t> places_;  // in counters_
  std::size_t first_ = 0, next_ = 0;  // in counters_: the first of the row, the one expected next
  bool row_begins_ = false;
};

}  // namespace meterbank::cli
