// SPDX-License-Identifier: Apache-2.0
#include "cli/format/row_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/distribution/histogram.hpp"
#include "cli/distribution/percentiles.hpp"
#include "cli/format/collectors/collector_rows.hpp"
#include "cli/format/collectors/page_rows.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/rows/json_rows.hpp"
#include "cli/format/rows/line_rows.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/separated_values.hpp"
#include "cli/format/table.hpp"
#include "cli/pdh_log/pdh_rows.hpp"
#include "cli/session/console.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

constexpr std::array<std::pair<std::string_view, Format>, 13> kNamed = {{
    {"table", Format::kTable},
    {"plain", Format::kPlain},
    {"tsv", Format::kTsv},
    {"csv", Format::kCsv},
    {"json", Format::kJson},
    {"jsonl", Format::kJsonLines},
    {"pdh-csv", Format::kPdhCsv},
    {"pdh-tsv", Format::kPdhTsv},
    {"prometheus", Format::kPrometheus},
    {"openmetrics", Format::kOpenMetrics},
    {"influx", Format::kInflux},
    {"statsd", Format::kStatsd},
    {"collectd", Format::kCollectd},
}};

// What is handed on at once. A table needs some rows to know how wide its columns are.
constexpr std::size_t kRowsAtOnce = 4096;

class TableWriter final : public RowWriter {
 public:
  explicit TableWriter(const RowStyle& style) : style_(style), table_({}, style.charset) {}

  void write(const Moment& moment, const TextSink& out) override {
    choose_columns(moment);
    std::string time = print_local(moment.sample.time.realtime_ns, style_.time);
    bool any = false;
    moment.rows([&](const Value& row) {
      any = true;
      add(row, std::exchange(time, {}));
      return table_.rows() < kRowsAtOnce || flush(out);
    });
    if (!any) table_.add({std::move(time), "(no instances)"});
    if (flush(out) && style_.histograms) write_histograms(moment, out);
  }

 private:
  void add(const Value& row, std::string time) {
    std::vector<std::string> cells{std::move(time)};
    if (providers_) cells.push_back(provider_of(row));
    if (hosts_) cells.emplace_back(host_of(row));
    cells.push_back(counter_text(row));
    if (instances_) cells.push_back(row.row->instance_label());
    cells.push_back(value_text(row, style_));
    cells.push_back(note_of(row));
    table_.add(std::move(cells));
  }

  // The rows so far decide about the width of the columns, which may grow further below.
  bool flush(const TextSink& out) {
    std::string headings;
    if (!begun_) {
      headings = Paint(style_.color).heading(without_line_end(table_.headings())) + '\n';
    }
    begun_ = true;
    return out(headings + table_.take_rows());
  }

  // Columns that would be empty or say the same in every row are left out, until a row needs them:
  // then the headings are printed anew.
  void choose_columns(const Moment& moment) {
    const auto selected = moment.sample.selected();
    const bool providers = providers_ || spans_providers(moment);
    const bool hosts = hosts_ || names_hosts(moment);
    const bool instances =
        instances_ || std::any_of(selected.begin(), selected.end(), [](const SelectedSet& one) {
          return has_instance_names(one.set().instances);
        });
    if (begun_ && providers == providers_ && hosts == hosts_ && instances == instances_) return;
    begun_ = false;
    providers_ = providers;
    hosts_ = hosts;
    instances_ = instances;
    const std::size_t time_cells = print_local(0, style_.time).size();
    std::vector<Column> columns{{"TIME", Align::kLeft, time_cells}};
    if (providers_) columns.push_back({"PROVIDER"});
    if (hosts_) columns.push_back({"HOST"});
    columns.push_back({"COUNTER"});
    if (instances_) columns.push_back({"INSTANCE"});
    constexpr std::size_t kScaledValue = 10;  // "1.23 MiB/s"
    // A long text would push the numbers out of sight; other formats have all of it.
    constexpr std::size_t kTextCells = 48;
    columns.push_back({"VALUE", Align::kRight, kScaledValue, kTextCells});
    columns.push_back({""});
    table_ = Table(std::move(columns), style_.charset);
    table_.limit(style_.columns, Table::Overflow::kCut);
  }

  void write_histograms(const Moment& moment, const TextSink& out) const {
    bool any = false;
    moment.rows([&](const Value& row) {
      const auto histogram = histogram_text(row, moment.interval_s, style_);
      if (histogram.empty()) return true;
      any = true;
      return out('\n' + histogram);
    });
    if (any) out("\n");
  }

  // Why there is no number, or why it is not today's. The first sample needs no words.
  [[nodiscard]] std::string note_of(const Value& row) const {
    const auto word = status_word(row, style_.raw);
    if (word == "ok" || word == "no-rate-yet") return {};
    return "(" + std::string(word) + ")";
  }

  static std::string without_line_end(std::string text) {
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  RowStyle style_;
  Table table_;
  bool begun_ = false;
  bool providers_ = false;
  bool hosts_ = false;
  bool instances_ = false;
};

}  // namespace

std::optional<Format> parse_format(std::string_view text) {
  const auto named = std::find_if(kNamed.begin(), kNamed.end(),
                                  [&](const auto& entry) { return entry.first == text; });
  if (named == kNamed.end()) return std::nullopt;
  return named->second;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kNamed.size());
    for (const auto& [name, format] : kNamed) all.emplace_back(name);
    return all;
  }();
  return names;
}

std::unique_ptr<RowWriter> make_row_writer(const RowStyle& style) {
  switch (style.format) {
    case Format::kAuto:
    case Format::kTable:
      return std::make_unique<TableWriter>(style);
    case Format::kPlain:
    case Format::kTsv:
    case Format::kCsv:
      return make_line_writer(style);
    case Format::kPdhCsv:
    case Format::kPdhTsv:
      return make_pdh_writer(style);
    case Format::kPrometheus:
    case Format::kOpenMetrics:
      return make_page_rows(style);
    case Format::kInflux:
      return make_influx_writer(style);
    case Format::kStatsd:
      return make_statsd_writer(style);
    case Format::kCollectd:
      return make_collectd_writer(style);
    case Format::kJson:
    case Format::kJsonLines:
      break;
  }
  return make_json_writer(style);
}

std::string value_text(const Value& row, const RowStyle& style) {
  if (!row_has_value(row, style.raw)) return "-";
  if (row.text.has_value()) return std::string(*row.text);
  if (is_hexadecimal(*row.counter)) return fmt::format("{:#x}", row.raw.value);
  if (!style.raw) {
    if (auto exact = exact_text(row, style.units)) return std::move(*exact);
    const auto unit = cooked_unit(*row.counter);
    const auto number = std::string(sign_of(side_of(row.cooked.status), style.ascii)) +
                        print_quantity(row.cooked.value, unit, style.units);
    // What is not ASCII in a unit of the provider is escaped.
    return plain_bytes(unit) == unit.size() ? shown_in(style.charset, number) : number;
  }
  return stored_text(row);
}

std::string counter_text(const Value& row) {
  const auto& set = row.set();
  const auto provider = row.row->needs_provider() ? row.provider().label() + ":" : "";
  return provider + word_of(set) + "/" + word_of(*row.counter);
}

void FieldLine::add(std::string_view text) {
  if (!std::exchange(is_empty_, false)) text_ += field_separator(format_);
  if (format_ == Format::kPlain) {
    escape_for_terminal(text, text_, charset_);
  } else if (format_ == Format::kCsv) {
    append_csv_field(text, charset_, text_);
  } else {
    append_tsv_field(text, charset_, text_);
  }
}

void FieldLine::end() { text_ += format_ == Format::kCsv ? "\r\n" : "\n"; }

bool is_of_all(const Value& row) { return row.row->is_total && !row.row->needs_provider(); }

std::string provider_of(const Value& row) {
  return is_of_all(row) ? std::string() : row.provider().label();
}

bool spans_providers(const Moment& moment) {
  const auto selected = moment.sample.selected();
  return std::any_of(selected.begin(), selected.end(), [&](const SelectedSet& one) {
    const ProviderView& first = selected.front().provider();
    return one.provider().record != first.record ||
           one.provider().outside.host != first.outside.host;
  });
}

std::string_view host_of(const Value& row) {
  return is_of_all(row) ? std::string_view() : row.provider().outside.host;
}

bool names_hosts(const Moment& moment) {
  const auto selected = moment.sample.selected();
  return std::any_of(selected.begin(), selected.end(),
                     [](const SelectedSet& one) { return !one.provider().outside.host.empty(); });
}

std::string label_on_host(const ProviderView& provider) {
  return on_host(provider.label(), provider.outside.host);
}

std::string on_host(std::string text, std::string_view host) {
  if (!host.empty()) text.append(" on ").append(host);
  return text;
}

}  // namespace meterbank::cli
