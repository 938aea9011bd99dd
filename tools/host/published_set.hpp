// SPDX-License-Identifier: Apache-2.0
//
// A counterset made from readings: its manifest says what there is to know of each counter, a table
// of columns which value it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/probe/readings.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::host {

// When a sample was taken, on the two clocks that columns may need.
struct Moment {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t realtime_100ns = 0;  // since 1970

  static Moment now() noexcept;
};

// The fields that a row's values really have, a bit each, and what one of them is.
template <typename Field>
constexpr std::uint64_t present_fields(const FieldValues<Field>& values) noexcept {
  return values.present();
}
template <typename Field>
constexpr std::uint64_t value_of(const FieldValues<Field>& values, Field field) noexcept {
  return values.get(field);
}

// One counter, by its position in the manifest, and where its value comes from. `needs` are the
// fields without which there is no honest source: a column whose fields some row lacks is left out
// of the schema.
template <typename Values>
struct Column {
  using Value = std::uint64_t(const Values&, const Moment&);

  template <CounterName C>
  constexpr Column(C name, std::uint64_t needed, Value* source) noexcept
      : counter(static_cast<std::uint32_t>(name)), needs(needed), value(source) {}

  std::uint32_t counter;
  std::uint64_t needs;
  Value* value;
};

template <typename Values>
class PublishedSet {
 public:
  // Registers the set with the columns whose sources are `available`. A set without any is not
  // registered and publishes nothing.
  Result<void> start(Provider& provider, CountersetSpec spec,
                     std::span<const Column<Values>> columns, std::uint64_t available) {
    std::vector<CounterSpec> counters;
    for (const Column<Values>& column : columns) {
      const CounterSpec& counter = spec.counters[column.counter];
      if ((column.needs & ~available) != 0) {
        // Bases have no names, and are left out with their counters.
        if (!counter.name.empty()) left_out_.emplace_back(counter.symbol);
        continue;
      }
      columns_.push_back(&column);
      needs_ |= column.needs;
      counters.push_back(counter);
    }
    symbol_ = spec.symbol;
    if (counters.empty()) return {};
    spec.counters = counters;
    auto registration = provider.add(spec);
    if (!registration) return tl::make_unexpected(registration.error());
    registration_ = std::move(*registration);
    return {};
  }

  // The set and its counters that have no source on this machine, such as
  // "memory (oom_kills)", or the set alone if it is not registered. Empty: it has all of them.
  [[nodiscard]] std::string left_out() const {
    if (left_out_.empty()) return {};
    std::string text = symbol_;
    if (columns_.empty()) return text;
    const char* before = " (";
    for (const std::string& symbol : left_out_) {
      text += before + symbol;
      before = ", ";
    }
    return text += ')';
  }

  // One round: row() for everything that exists now, then end_round() closes the rest. Without an
  // id, names are unique. `life` tells a thing from its predecessor of the same name and id. A row
  // that lacks a value of the schema is as good as not there: a zero in its place would be a lie.
  void row(std::string_view name, std::uint64_t life, const Values& values, const Moment& moment,
           std::optional<std::uint32_t> id = {}) {
    if (columns_.empty() || (needs_ & ~present_fields(values)) != 0) return;
    key_.name.assign(name);
    key_.id = id;
    Row& row = rows_[key_];
    if (row.round != 0 && row.life != life) row = {};
    if (row.round == 0) {
      auto created = registration_.create_instance(name, {.id = id});
      if (created) row.instance = std::move(*created);  // refused: counts into nothing
      row.life = life;
    }
    row.round = round_;
    row.instance.update([&](Values_& target) noexcept {
      for (std::uint32_t word = 0; word < columns_.size(); ++word) {
        target.set(word, columns_[word]->value(values, moment));
      }
      target.stamp(moment.monotonic_ns);
    });
  }
  void end_round() {
    std::erase_if(rows_, [this](const auto& item) { return item.second.round != round_; });
    ++round_;
  }

 private:
  using Values_ = meterbank::Values;
  struct Key {
    std::string name;
    std::optional<std::uint32_t> id;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string>()(key.name) ^ std::hash<std::optional<std::uint32_t>>()(key.id);
    }
  };
  struct Row {
    Instance instance;
    std::uint64_t life = 0;
    std::uint64_t round = 0;
  };
  std::vector<const Column<Values>*> columns_;
  std::uint64_t needs_ = 0;  // of all columns
  std::string symbol_;
  std::vector<std::string> left_out_;
  Registration registration_;
  std::unordered_map<Key, Row, KeyHash> rows_;
  Key key_;  // reused from row to row
  std::uint64_t round_ = 1;
};

// Shorter tables.
template <auto kField, typename Values>
constexpr std::uint64_t field(const Values& values, const Moment&) {
  return value_of(values, kField);
}
template <typename Field>
constexpr std::uint64_t bit(Field field) {
  return std::uint64_t{1} << static_cast<unsigned>(field);
}
// A counter that is one field.
template <auto kField, typename Values, CounterName C>
constexpr Column<Values> plain(C name) noexcept {
  return {name, bit(kField), field<kField, Values>};
}

// Two tables as one.
template <typename Values, std::size_t kFirst, std::size_t kSecond>
constexpr auto joined(const std::array<Column<Values>, kFirst>& first,
                      const std::array<Column<Values>, kSecond>& second) noexcept {
  return std::apply([](const auto&... columns) { return std::array{columns...}; },
                    std::tuple_cat(first, second));
}

// Each counter of the manifest has its column, in the same order, and rows have room for a stamp.
template <typename Values, std::size_t kCount>
constexpr bool is_whole(const std::array<Column<Values>, kCount>& columns,
                        const CountersetSpec& set) noexcept {
  if (kCount != set.counters.size() || !set.stamped) return false;
  for (std::uint32_t position = 0; position < kCount; ++position) {
    if (columns[position].counter != position) return false;
  }
  return true;
}

}  // namespace meterbank::host
