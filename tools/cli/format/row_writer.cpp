// SPDX-License-Identifier: Apache-2.0
#include "cli/format/row_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/distribution/distribution_json.hpp"
#include "cli/distribution/histogram.hpp"
#include "cli/distribution/percentiles.hpp"
#include "cli/format/json.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/separated_values.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pdh_log/pdh_rows.hpp"
#include "cli/session/console.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// What is handed on at once. A table needs some rows to know how wide its columns are.
constexpr std::size_t kRowsAtOnce = 4096;

const Counterset& set_of(const Value& row) { return row.set(); }

const std::string& symbol_or_name(const std::string& symbol, const std::string& name) {
  return symbol.empty() ? name : symbol;
}

double base_value(const Value& row) {
  return in_base_unit(row.cooked.value, cooked_unit(*row.counter)).value;
}

// What is an identifier or a mask, of which every digit counts.
bool is_hexadecimal(const Value& row) {
  const CounterType type = row.counter->type;
  return type == CounterType::kRawCountHex || type == CounterType::kLargeRawCountHex;
}

// For machines: the number in the base unit, or the text; nothing if there is neither.
std::optional<std::string> exact_text(const Value& row, bool raw) {
  if (!row_has_value(row, raw)) return std::nullopt;
  if (row.text.has_value()) return std::string(*row.text);
  if (is_hexadecimal(row)) return fmt::format("{:#x}", row.raw.value);
  return raw ? stored_text(row) : print_exact(base_value(row));
}

std::string unit_text(const Value& row, bool raw) {
  if (raw) return stored_unit(*row.counter);
  return in_base_unit(0, cooked_unit(*row.counter)).unit;
}

std::string path_with_provider(const Value& row) {
  CounterPath path = row.counter_path(PathSpelling::kShort);
  path.provider = escape_glob(row.provider().name);
  path.provider_pid = row.provider().named_pid();
  return print_short(path);
}

class TableWriter final : public RowWriter {
 public:
  explicit TableWriter(const RowStyle& style) : style_(style), table_({}, style.charset) {}

  void write(const Moment& moment, const TextSink& out) override {
    choose_columns(moment);
    std::string time = print_local(moment.sample.time.realtime_ns, style_.milliseconds);
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
    const bool instances =
        instances_ || std::any_of(selected.begin(), selected.end(), [](const SelectedSet& one) {
          return has_instance_names(one.set().instances);
        });
    if (begun_ && providers == providers_ && instances == instances_) return;
    begun_ = false;
    providers_ = providers;
    instances_ = instances;
    const std::size_t time_cells = style_.milliseconds ? 12 : 8;
    std::vector<Column> columns{{"TIME", Align::kLeft, time_cells}};
    if (providers_) columns.push_back({"PROVIDER"});
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
  static std::string note_of(const Value& row) {
    const auto word = status_word(row);
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
  bool instances_ = false;
};

// The texts that many rows of one sample share, made once. Rows of one provider follow each other.
class SampleTexts {
 public:
  explicit SampleTexts(const Moment& moment) : time_(print_utc(moment.sample.time.realtime_ns)) {}

  [[nodiscard]] const std::string& time() const noexcept { return time_; }
  // provider_of()
  const std::string& provider_of_row(const Value& row) {
    const ProviderView* const provider = is_of_all(row) ? nullptr : &row.provider();
    if (!provider_ || *provider_ != provider) label_ = provider_of(row);
    provider_ = provider;
    return label_;
  }

 private:
  std::string time_;
  std::optional<const ProviderView*> provider_;  // label_ is that of this one
  std::string label_;
};

// Lines of fields: plain, tsv and csv differ in columns, separator and quoting only.
class LineWriter final : public RowWriter {
 public:
  explicit LineWriter(const RowStyle& style) : style_(style) {}

  std::string begin() override {
    if (style_.format == Format::kPlain) return {};
    std::string text;
    FieldLine line(style_, text);
    for (const char* const heading :
         {"time", "provider", "set", "instance", "counter", "value", "unit", "status"}) {
      line.add(heading);
    }
    line.end();
    return text;
  }

  void write(const Moment& moment, const TextSink& out) override {
    SampleTexts texts(moment);
    std::string lines;
    const bool providers = spans_providers(moment);
    moment.rows([&](const Value& row) {
      FieldLine line(style_, lines);
      line.add(texts.time());
      if (style_.format == Format::kPlain) {
        line.add(providers && !is_of_all(row) ? path_with_provider(row) : row.short_path());
        line.add(exact_text(row, style_.raw).value_or("-"));
        line.add(unit_text(row, style_.raw));
      } else {
        line.add(texts.provider_of_row(row));
        line.add(symbol_or_name(set_of(row).symbol, set_of(row).name));
        line.add(row.row->instance_label());
        line.add(symbol_or_name(row.counter->symbol, row.counter->name));
        line.add(exact_text(row, style_.raw).value_or(""));
        line.add(unit_text(row, style_.raw));
        line.add(status_word(row));
      }
      line.end();
      return lines.size() < kBytesAtOnce || out(std::exchange(lines, {}));
    });
    out(lines);
  }

 private:
  RowStyle style_;
};

// One object a sample (jsonl), or one document whose rows carry their time (json). Both have the
// same members, so what reads one reads the other.
class JsonRowWriter final : public RowWriter {
 public:
  explicit JsonRowWriter(const RowStyle& style)
      : style_(style), json_(style.integers_as_text, style.charset) {}

  void write(const Moment& moment, const TextSink& out) override {
    const bool lines = style_.format == Format::kJsonLines;
    if (lines || !open_) open(moment);
    SampleTexts texts(moment);
    std::string text;
    moment.rows([&](const Value& row) {
      if (!lines) json_.line_break();
      write_row(row, moment, texts);
      text += json_.take();
      return text.size() < kBytesAtOnce || out(std::exchange(text, {}));
    });
    note_errors(moment);
    left_out_ = moment.left_out.notes;
    out(text + (lines ? close() : json_.take()));
  }

  std::string end() override {
    if (style_.format == Format::kJsonLines) return {};
    if (!open_) {
      json_.begin_object().key("schema").text("meterbank.sample/2").key("samples").begin_array();
    }
    return close();
  }

 private:
  void open(const Moment& moment) {
    open_ = true;
    json_.begin_object().key("schema").text("meterbank.sample/2");
    json_.key("time").text(print_utc(moment.sample.time.realtime_ns));
    json_.key("interval_s").number(moment.interval_s);
    json_.key("samples").begin_array();
  }

  std::string close() {
    json_.end_array();
    write_errors();
    write_left_out();
    json_.end_object();
    auto text = json_.take() + "\n";
    json_ = JsonWriter(style_.integers_as_text, style_.charset);
    return text;
  }

  // Providers that were asked and did not answer as they should, behind the rows.
  void note_errors(const Moment& moment) {
    if (moment.sample.callbacks == nullptr) return;
    for (const CallbackAnswer& answer : *moment.sample.callbacks) {
      if (answer.outcome == AnswerOutcome::kAnswered) continue;
      errors_.push_back({print_utc(moment.sample.time.realtime_ns), answer});
    }
  }

  // As of the last sample.
  void write_left_out() {
    if (left_out_.empty()) return;
    json_.key("left_out").begin_array();
    for (const LeftOutNote& note : left_out_) {
      json_.begin_object().key("reason").text(note.reason);
      json_.key("providers").number(note.providers);
      json_.key("parts").number(note.parts);
      json_.key("text").text(note.text);
      json_.key("try").text(note.remedy).end_object();
    }
    json_.end_array();
    left_out_.clear();
  }

  void write_errors() {
    if (errors_.empty()) return;
    json_.key("errors").begin_array();
    for (const auto& [time, answer] : errors_) {
      const Counterset& set = *answer.set->set;
      json_.begin_object().key("time").text(time);
      json_.key("provider").text(answer.provider->label());
      json_.key("set").text(symbol_or_name(set.symbol, set.name));
      json_.key("outcome").text(name_of(answer.outcome));
      if (answer.outcome == AnswerOutcome::kReturnedCode) {
        json_.key("code").number(std::uint64_t{answer.code});
      }
      json_.key("reason").text(answer.reason()).end_object();
    }
    json_.end_array();
    errors_.clear();
  }

  void write_row(const Value& row, const Moment& moment, SampleTexts& texts) {
    const auto& set = set_of(row);
    json_.begin_object().key("path").text(row.short_path());
    json_.key("time").text(texts.time());
    json_.key("set").text(symbol_or_name(set.symbol, set.name));
    json_.key("instance").text(row.instance().name);
    json_.key("instance_id").number(std::uint64_t{row.instance().id});
    json_.key("counter").text(symbol_or_name(row.counter->symbol, row.counter->name));
    json_.key("provider").text(texts.provider_of_row(row));
    if (!row.provider().trusted) json_.key("trusted").boolean(false);
    json_.key("kind").text(style_.raw ? "raw" : kind_of(*row.counter).kind);
    json_.key("unit").text(unit_text(row, style_.raw));
    json_.key("value");
    const bool has_number = !row.text && row_has_value(row, false);
    if (style_.raw || (has_number && is_hexadecimal(row))) {
      write_stored(row);
    } else if (has_number) {
      json_.number(base_value(row));
    } else {
      json_.null();
    }
    json_.key("raw");
    write_stored(row);
    if (row.text.has_value()) json_.key("text").text(*row.text);
    json_.key("status").text(status_word(row));
    if (set.stamp_word != kNoCounter) write_age("age_s", row.raw.time_ns, moment);
    if (row.counter->timed) write_age("set_age_s", row.set_ns, moment);
    if (row.distribution != nullptr) write_distribution(row, style_, json_);
    json_.end_object();
  }

  void write_stored(const Value& row) {
    if (row.text.has_value() || !row_has_value(row, true)) {
      json_.null();
    } else if (row.counter->form == ValueForm::kReal) {
      json_.number(row.cooked.value);
    } else if (row.counter->form == ValueForm::kSigned) {
      json_.number(static_cast<std::int64_t>(row.raw.value));
    } else {
      json_.number(row.raw.value);
    }
  }

  // Only values that carry their own time have an age; a stamp from the future has none.
  void write_age(std::string_view key, std::uint64_t time_ns, const Moment& moment) {
    const auto now = moment.sample.time.monotonic_ns;
    if (time_ns == 0 || time_ns > now) return;
    json_.key(key).number(static_cast<double>(now - time_ns) / 1e9);
  }

  RowStyle style_;
  JsonWriter json_;
  bool open_ = false;
  std::vector<std::pair<std::string, CallbackAnswer>> errors_;
  std::vector<LeftOutNote> left_out_;
};

}  // namespace

std::optional<Format> parse_format(std::string_view text) {
  if (text == "table") return Format::kTable;
  if (text == "plain") return Format::kPlain;
  if (text == "tsv") return Format::kTsv;
  if (text == "csv") return Format::kCsv;
  if (text == "json") return Format::kJson;
  if (text == "jsonl") return Format::kJsonLines;
  if (text == "pdh-csv") return Format::kPdhCsv;
  if (text == "pdh-tsv") return Format::kPdhTsv;
  return std::nullopt;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names{"table", "plain", "tsv",     "csv",
                                              "json",  "jsonl", "pdh-csv", "pdh-tsv"};
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
      return std::make_unique<LineWriter>(style);
    case Format::kPdhCsv:
    case Format::kPdhTsv:
      return make_pdh_writer(style);
    case Format::kJson:
    case Format::kJsonLines:
      break;
  }
  return std::make_unique<JsonRowWriter>(style);
}

std::string value_text(const Value& row, const RowStyle& style) {
  if (!row_has_value(row, style.raw)) return "-";
  if (row.text.has_value()) return std::string(*row.text);
  if (is_hexadecimal(row)) return fmt::format("{:#x}", row.raw.value);
  if (!style.raw) {
    return std::string(sign_of(side_of(row.cooked.status), style.ascii)) +
           print_quantity(row.cooked.value, cooked_unit(*row.counter), style.units);
  }
  return stored_text(row);
}

std::string counter_text(const Value& row) {
  const auto& set = set_of(row);
  const auto provider = row.row->needs_provider() ? row.provider().label() + ":" : "";
  return provider + symbol_or_name(set.symbol, set.name) + "/" +
         symbol_or_name(row.counter->symbol, row.counter->name);
}

void FieldLine::add(std::string_view text) {
  if (!std::exchange(is_empty_, false)) text_ += format_ == Format::kCsv ? ',' : '\t';
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
    return one.provider().record != selected.front().provider().record;
  });
}

}  // namespace meterbank::cli
