// SPDX-License-Identifier: Apache-2.0
#include "cli/pdh_log/pdh_rows.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/format/kinds.hpp"
#include "cli/pdh_log/log_format.hpp"
#include "cli/session/machine.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

using CountOfText = std::unordered_map<std::string, std::size_t, KeyedFoldedHash, FoldedEqual>;

std::string path_of(const CookedRow& row) {
  const Counterset& set = *row.selection->set->set;
  const auto& counter = row.counter->name.empty() ? row.counter->symbol : row.counter->name;
  if (!has_instance_names(set.instances)) return fmt::format("\\{}\\{}", set.name, counter);
  return fmt::format("\\{}({})\\{}", set.name, row.instance->name, counter);
}

class PdhWriter final : public RowWriter {
 public:
  explicit PdhWriter(const RowStyle& style)
      : format_(style.format == Format::kPdhTsv ? LogFormat::kTsv : LogFormat::kCsv),
        raw_(style.raw) {}

  // A record is one line, whose columns are all rows of the first sample.
  void write(const Moment& moment, const TextSink& out) override {
    if (!open_) out(print_log_header(open(moment)));
    LogRecord record;
    record.time = log_time_of(moment.sample.time.realtime_ns);
    record.values.resize(columns_.size());
    CountOfText seen;
    moment.rows([&](const CookedRow& row) {
      const auto column = columns_.find(key_of(row, seen));
      if (column != columns_.end()) record.values[column->second] = value_of(row);
      return true;
    });
    out(print_log_record(format_, record));
  }

 private:
  // A publisher that was started anew goes on in its old columns, so its process does not count,
  // but its user does. Namesakes are told apart by their order, as on Windows.
  static std::string key_of(const CookedRow& row, CountOfText& seen) {
    const ProviderView& provider = *row.selection->provider;
    const bool is_of_all = publisher_of(row).empty();
    auto key = path_of(row);
    if (!is_of_all) key = fmt::format("{}\n{}\n{}", provider.uid, provider.name, key);
    const auto before = seen[key]++;
    return fmt::format("{}\n{}", key, before);
  }

  LogHeader open(const Moment& moment) {
    open_ = true;
    // Where publishers offer the same, the machine's place says whose column it is.
    CountOfText offers;
    moment.rows([&offers](const CookedRow& row) {
      if (!row.needs_publisher()) ++offers[path_of(row)];
      return true;
    });
    CountOfText seen;
    LogHeader header{format_, log_zone_at(moment.sample.time.realtime_ns), {}};
    const auto machine = machine_name();
    moment.rows([&](const CookedRow& row) {
      columns_.emplace(key_of(row, seen), columns_.size());
      const bool shared = offers[path_of(row)] > 1 && several_publishers(moment);
      const auto place =
          shared || row.needs_publisher() ? row.selection->provider->label() : machine;
      header.paths.push_back(escape_for_terminal(fmt::format("\\\\{}{}", place, path_of(row))));
      return true;
    });
    return header;
  }

  static bool several_publishers(const Moment& moment) {
    const auto& selections = moment.sample.plan->selections;
    for (const auto& selection : selections) {
      if (selection.provider->record != selections.front().provider->record) return true;
    }
    return false;
  }

  [[nodiscard]] std::string value_of(const CookedRow& row) const {
    // A log has numbers only.
    if (row.text != nullptr || !row_has_value(row, raw_)) return {};
    return raw_ ? stored_text(row) : print_exact(row.cooked.value);
  }

  LogFormat format_;
  bool raw_;
  bool open_ = false;
  std::unordered_map<std::string, std::size_t> columns_;  // by key_of
};

}  // namespace

std::unique_ptr<RowWriter> make_pdh_writer(const RowStyle& style) {
  return std::make_unique<PdhWriter>(style);
}

}  // namespace meterbank::cli
