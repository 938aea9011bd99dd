// SPDX-License-Identifier: Apache-2.0
#include "cli/pdh_log/pdh_rows.hpp"

#include <fmt/format.h>

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
#include "meterbank/base/machine_name.hpp"
#include "meterbank/pdh_log/log_format.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

std::string_view name_of(const CounterView& counter) {
  return counter.name.empty() ? counter.symbol : counter.name;
}

std::string path_of(const Value& row) {
  const Counterset& set = row.set();
  const auto counter = name_of(*row.counter);
  if (!has_instance_names(set.instances)) return fmt::format("\\{}\\{}", set.name, counter);
  return fmt::format("\\{}({})\\{}", set.name, row.row->instance_label(), counter);
}

// What path_of() is made of. Texts of a row live as long as the row.
struct Path {
  std::string_view set;
  std::string_view instance;
  std::string_view counter;
  bool has_instance = false;

  static Path of(const Value& row) {
    const Counterset& set = row.set();
    const bool has_instance = has_instance_names(set.instances);
    return {set.name, has_instance ? row.instance().name : std::string_view(),
            name_of(*row.counter), has_instance};
  }
};

// A provider that was started anew goes on in its old columns, so its process does not count, but
// its user does. So does a row that was created anew, which has its old id only where that is part
// of what it is.
struct ColumnKey {
  Path path;
  std::string_view provider;  // empty: of all
  std::uint32_t uid = 0;
  std::uint32_t id = 0;  // 0 where the name is enough

  static ColumnKey of(const Value& row) {
    if (is_of_all(row)) return {Path::of(row), {}, 0, 0};
    const bool is_unique = row.set().identity == InstanceIdentity::kUnique;
    return {Path::of(row), row.provider().name, row.provider().uid,
            is_unique ? 0 : row.instance().id};
  }
};

struct KeyHash {
  std::size_t operator()(const Path& path) const noexcept {
    constexpr std::size_t kSpread = 0x9e3779b97f4a7c15;
    const KeyedFoldedHash hash;
    return (hash(path.set) * kSpread ^ hash(path.instance)) * kSpread ^ hash(path.counter);
  }
  std::size_t operator()(const ColumnKey& key) const noexcept {
    constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;
    return (*this)(key.path) ^ key.id * kOdd;
  }
};

struct KeyEqual {
  bool operator()(const Path& left, const Path& right) const noexcept {
    return left.has_instance == right.has_instance && equal_folded(left.instance, right.instance) &&
           equal_folded(left.counter, right.counter) && equal_folded(left.set, right.set);
  }
  bool operator()(const ColumnKey& left, const ColumnKey& right) const noexcept {
    return left.uid == right.uid && left.id == right.id &&
           equal_folded(left.provider, right.provider) && (*this)(left.path, right.path);
  }
};

// Keeps one of all texts that are equal_folded.
class TextPool {
 public:
  std::string_view kept(std::string_view text) {
    const auto known = texts_.find(text);
    return known != texts_.end() ? *known : *texts_.emplace(text).first;
  }
  Path kept(const Path& path) {
    return {kept(path.set), kept(path.instance), kept(path.counter), path.has_instance};
  }
  ColumnKey kept(const ColumnKey& key) {
    return {kept(key.path), kept(key.provider), key.uid, key.id};
  }

 private:
  std::unordered_set<std::string, KeyedFoldedHash, FoldedEqual> texts_;
};

class PdhWriter final : public RowWriter {
 public:
  explicit PdhWriter(const RowStyle& style)
      : format_(style.format == Format::kPdhTsv ? LogFormat::kTsv : LogFormat::kCsv),
        raw_(style.raw) {}

  // A record is one line, whose columns are all rows of the first sample.
  void write(const Moment& moment, const TextSink& out) override {
    if (!is_open_) open(moment, out);
    ++moments_;
    LogRecord record;
    record.time = log_time_of(moment.sample.time.realtime_ns);
    record.values.resize(count_);
    moment.rows([&](const Value& row) {
      const auto found = columns_.find(ColumnKey::of(row));
      if (found == columns_.end()) return true;
      const auto column = found->second.next(moments_);
      if (column) record.values[*column] = value_of(row);
      return true;
    });
    out(print_log_record(format_, record));
  }

 private:
  // The columns of one key. Namesakes are told apart by their order, as on Windows.
  struct Columns {
    std::vector<std::uint32_t> in_order;
    std::uint32_t used = 0;  // in the record of `moment`
    std::uint64_t moment = 0;

    std::optional<std::uint32_t> next(std::uint64_t now) {
      if (moment != now) used = 0;
      moment = now;
      if (used == in_order.size()) return std::nullopt;
      return in_order[used++];
    }
  };

  void open(const Moment& moment, const TextSink& out) {
    is_open_ = true;
    const auto needs_label = rows_that_need_a_label(moment);
    const auto machine = machine_name();
    std::string line = print_log_title(format_, log_zone_at(moment.sample.time.realtime_ns));
    moment.rows([&](const Value& row) {
      columns_[texts_.kept(ColumnKey::of(row))].in_order.push_back(count_);
      const auto place = needs_label[count_] ? row.provider().label() : machine;
      append_log_path(format_, escape_for_terminal(fmt::format("\\\\{}{}", place, path_of(row))),
                      line);
      ++count_;
      return line.size() < kBytesAtOnce || out(std::exchange(line, {}));
    });
    out(line + kLogLineEnd);
  }

  // Where providers offer the same, the machine's place says whose column it is.
  std::vector<bool> rows_that_need_a_label(const Moment& moment) {
    const bool has_others = spans_providers(moment);
    std::unordered_map<Path, std::uint32_t, KeyHash, KeyEqual> offers;
    if (has_others) {
      moment.rows([&](const Value& row) {
        if (!row.row->needs_provider()) ++offers[texts_.kept(Path::of(row))];
        return true;
      });
    }
    std::vector<bool> needs_label;
    moment.rows([&](const Value& row) {
      needs_label.push_back(row.row->needs_provider() ||
                            (has_others && offers.at(Path::of(row)) > 1));
      return true;
    });
    return needs_label;
  }

  [[nodiscard]] std::string value_of(const Value& row) const {
    // A log has numbers only.
    if (row.text.has_value() || !row_has_value(row, raw_)) return {};
    return raw_ ? stored_text(row) : print_exact(row.cooked.value);
  }

  LogFormat format_;
  bool raw_;
  std::unordered_map<ColumnKey, Columns, KeyHash, KeyEqual> columns_;
  TextPool texts_;  // of the keys
  bool is_open_ = false;
  std::uint32_t count_ = 0;    // of columns
  std::uint64_t moments_ = 0;  // written
};

}  // namespace

std::unique_ptr<RowWriter> make_pdh_writer(const RowStyle& style) {
  return std::make_unique<PdhWriter>(style);
}

}  // namespace meterbank::cli
