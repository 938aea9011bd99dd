// SPDX-License-Identifier: Apache-2.0
#include "cli/pdh_log/pdh_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/rows/shared_texts.hpp"
#include "meterbank/base/machine_name.hpp"
#include "meterbank/pdh_log/log_format.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

std::string_view name_of(const CounterView& counter) {
  return counter.name.empty() ? counter.symbol : counter.name;
}

// "\Set(instance)\Counter"
void append_path(const Value& row, std::string& out) {
  const Counterset& set = row.set();
  out.append("\\").append(set.name);
  if (has_instance_names(set.instances)) {
    out.append("(").append(row.row->instance_label()).append(")");
  }
  out.append("\\").append(name_of(*row.counter));
}

// What a row is called, in the order of a path. Texts of a row live as long as the row.
struct RowName {
  std::string_view set;
  std::string_view instance;
  bool has_instance = false;

  static RowName of(const Value& row) {
    const Counterset& set = row.set();
    const bool has_instance = has_instance_names(set.instances);
    return {set.name, has_instance ? row.instance().name : std::string_view(), has_instance};
  }
};

// A provider that was started anew goes on in its old columns, so its process does not count, but
// its user does. So does a row that was created anew, which has its old id only where that is part
// of what it is.
struct ColumnsKey {
  RowName name;
  std::string_view provider;  // empty: of all
  std::string_view host;      // in a recording of several machines
  std::uint32_t uid = 0;
  std::uint32_t id = 0;  // 0 where the name is enough

  static ColumnsKey of(const Value& row) {
    if (is_of_all(row)) return {RowName::of(row), {}, {}, 0, 0};
    const bool is_unique = row.set().identity == InstanceIdentity::kUnique;
    return {RowName::of(row), row.provider().name, host_of(row), row.provider().uid,
            is_unique ? 0 : row.instance().id};
  }
};

// A counter of whatever row is called so.
struct CounterKey {
  RowName row;
  std::string_view counter;
  std::string_view host;

  static CounterKey of(const Value& row) {
    return {RowName::of(row), name_of(*row.counter), host_of(row)};
  }
};

struct KeyHash {
  static constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;

  std::size_t operator()(const RowName& name) const noexcept {
    const KeyedFoldedHash hash;
    return hash(name.set) * kOdd ^ hash(name.instance);
  }
  std::size_t operator()(const ColumnsKey& key) const noexcept {
    return (*this)(key.name) ^ key.id * kOdd;
  }
  std::size_t operator()(const CounterKey& key) const noexcept {
    return (*this)(key.row) * kOdd ^ KeyedFoldedHash()(key.counter);
  }
};

struct KeyEqual {
  bool operator()(const RowName& left, const RowName& right) const noexcept {
    return left.has_instance == right.has_instance && equal_folded(left.instance, right.instance) &&
           equal_folded(left.set, right.set);
  }
  bool operator()(const ColumnsKey& left, const ColumnsKey& right) const noexcept {
    return left.uid == right.uid && left.id == right.id &&
           equal_folded(left.provider, right.provider) && equal_folded(left.host, right.host) &&
           (*this)(left.name, right.name);
  }
  bool operator()(const CounterKey& left, const CounterKey& right) const noexcept {
    return equal_folded(left.counter, right.counter) && equal_folded(left.host, right.host) &&
           (*this)(left.row, right.row);
  }
};

// Keeps one of all texts that are equal_folded.
class TextPool {
 public:
  std::string_view kept(std::string_view text) {
    const auto known = texts_.find(text);
    return known != texts_.end() ? *known : *texts_.emplace(text).first;
  }
  RowName kept(const RowName& name) {
    return {kept(name.set), kept(name.instance), name.has_instance};
  }
  ColumnsKey kept(const ColumnsKey& key) {
    return {kept(key.name), kept(key.provider), kept(key.host), key.uid, key.id};
  }
  CounterKey kept(const CounterKey& key) {
    return {kept(key.row), kept(key.counter), kept(key.host)};
  }

 private:
  std::unordered_set<std::string, KeyedFoldedHash, FoldedEqual> texts_;
};

// The columns of the rows of one key, in the order of the first sample.
class RowColumns {
 public:
  void add(std::string_view counter, std::uint32_t column) {
    columns_.push_back({counter, column});
  }

  // The first column of the counter that record number `record` has no value of. Namesakes are told
  // apart by their order, as on Windows. Counters mostly come in the order of the columns; where a
  // provider has changed it, they are looked up.
  std::optional<std::uint32_t> next(std::string_view counter, std::uint64_t record) {
    if (std::exchange(record_, record) != record) {
      in_order_ = 0;
      is_in_order_ = true;
    }
    is_in_order_ = is_in_order_ && in_order_ != columns_.size() &&
                   equal_folded(columns_[in_order_].counter, counter);
    if (is_in_order_) return columns_[in_order_++].number;
    return next_looked_up(counter);
  }

 private:
  struct Column {
    std::string_view counter;
    std::uint32_t number;
  };
  struct OfCounter {
    std::vector<std::size_t> places;  // in columns_, rising
    std::size_t used = 0;             // of them, by `record`
    std::uint64_t record = 0;
  };

  std::optional<std::uint32_t> next_looked_up(std::string_view counter) {
    if (by_counter_.empty()) {
      for (std::size_t place = 0; place < columns_.size(); ++place) {
        by_counter_[columns_[place].counter].places.push_back(place);
      }
    }
    const auto found = by_counter_.find(counter);
    if (found == by_counter_.end()) return std::nullopt;
    auto& [places, used, record] = found->second;
    if (std::exchange(record, record_) != record_) {
      const auto behind = std::lower_bound(places.begin(), places.end(), in_order_);
      used = static_cast<std::size_t>(behind - places.begin());
    }
    if (used == places.size()) return std::nullopt;
    return columns_[places[used++]].number;
  }

  std::vector<Column> columns_;
  std::uint64_t record_ = 0;
  std::size_t in_order_ = 0;  // columns of it that were taken in their order
  bool is_in_order_ = true;
  // Made for the first record in another order.
  std::unordered_map<std::string_view, OfCounter, KeyedFoldedHash, FoldedEqual> by_counter_;
};

class PdhWriter final : public RowWriter {
 public:
  explicit PdhWriter(const RowStyle& style)
      : format_(style.format == Format::kPdhTsv ? LogFormat::kTsv : LogFormat::kCsv),
        raw_(style.raw),
        machine_(style.host.empty() ? machine_name() : style.host) {}

  // A record is one line, whose columns are all rows of the first sample.
  void write(const Moment& moment, const TextSink& out) override {
    if (!is_open_) open(moment, out);
    ++records_;
    digits_.clear();
    values_.assign(count_, {});
    std::size_t without_column = 0;
    Places places;
    moment.rows([&](const Value& row) {
      RowColumns* const columns = columns_of(row, places);
      const auto column =
          columns == nullptr ? std::nullopt : columns->next(name_of(*row.counter), records_);
      if (column) {
        values_[*column] = value_of(row);
      } else {
        ++without_column;
      }
      return true;
    });
    without_column_ = std::max(without_column_, without_column);
    std::string line;
    append_log_time(log_time_of(moment.sample.time.realtime_ns), line);
    for (const Digits& value : values_) {
      append_log_value(format_, std::string_view(digits_).substr(value.begin, value.size), line);
      if (line.size() >= kBytesAtOnce && !out(std::exchange(line, {}))) return;
    }
    out(line + kLogLineEnd);
  }

  [[nodiscard]] std::string left_out() const override {
    if (without_column_ == 0) return {};
    return fmt::format("{} came after the first sample, whose counters are the columns; try: {}",
                       counted(without_column_, "counter"), "-f csv, or a later beginning");
  }

 private:
  // The columns of a row are looked up once for its values.
  using Places = SharedTexts<RowColumns*, std::string_view>;
  // Of a value, in digits_.
  struct Digits {
    std::size_t begin = 0, size = 0;
  };

  // Null: the first sample had no such row.
  RowColumns* columns_of(const Value& row, Places& places) {
    return places.of_row(row, [this](const Value& one) -> RowColumns* {
      const auto found = columns_.find(ColumnsKey::of(one));
      return found == columns_.end() ? nullptr : &found->second;
    });
  }

  void open(const Moment& moment, const TextSink& out) {
    is_open_ = true;
    const auto needs_label = rows_that_need_a_label(moment);
    std::string line = print_log_title(format_, log_zone_at(moment.sample.time.realtime_ns));
    std::string path, shown;
    Places places;
    moment.rows([&](const Value& row) {
      RowColumns* const columns = places.of_row(
          row, [this](const Value& one) { return &columns_[texts_.kept(ColumnsKey::of(one))]; });
      const std::string_view counter = places.of_counter(
          row, [this](const Value& one) { return texts_.kept(name_of(*one.counter)); });
      columns->add(counter, count_);
      path.assign("\\\\").append(needs_label[count_] ? label_on_host(row.provider())
                                                     : machine_of(row));
      append_path(row, path);
      shown.clear();
      escape_for_terminal(path, shown);
      append_log_path(format_, shown, line);
      ++count_;
      return line.size() < kBytesAtOnce || out(std::exchange(line, {}));
    });
    out(line + kLogLineEnd);
  }

  [[nodiscard]] std::string_view machine_of(const Value& row) const {
    const std::string_view host = host_of(row);
    return host.empty() ? machine_ : host;
  }

  // Where providers of a machine offer the same, the machine's place says whose column it is.
  std::vector<bool> rows_that_need_a_label(const Moment& moment) {
    const bool has_others = spans_providers(moment);
    std::unordered_map<CounterKey, std::uint32_t, KeyHash, KeyEqual> offers;
    if (has_others) {
      moment.rows([&](const Value& row) {
        if (!row.row->needs_provider()) ++offers[texts_.kept(CounterKey::of(row))];
        return true;
      });
    }
    std::vector<bool> needs_label;
    moment.rows([&](const Value& row) {
      needs_label.push_back(row.row->needs_provider() ||
                            (has_others && offers.at(CounterKey::of(row)) > 1));
      return true;
    });
    return needs_label;
  }

  // A log has numbers only.
  Digits value_of(const Value& row) {
    if (row.text.has_value() || !row_has_value(row, raw_)) return {};
    const std::size_t begin = digits_.size();
    if (raw_) {
      append_stored(row, digits_);
    } else {
      append_exact(row.cooked.value, digits_);
    }
    return {begin, digits_.size() - begin};
  }

  LogFormat format_;
  bool raw_;
  std::string machine_;  // for rows that name no host
  std::unordered_map<ColumnsKey, RowColumns, KeyHash, KeyEqual> columns_;
  TextPool texts_;  // of the keys
  bool is_open_ = false;
  std::uint32_t count_ = 0;         // of columns
  std::uint64_t records_ = 0;       // written
  std::vector<Digits> values_;      // of the record, one a column
  std::string digits_;              // of all of them
  std::size_t without_column_ = 0;  // the most in one sample
};

}  // namespace

std::unique_ptr<RowWriter> make_pdh_writer(const RowStyle& style) {
  return std::make_unique<PdhWriter>(style);
}

}  // namespace meterbank::cli
