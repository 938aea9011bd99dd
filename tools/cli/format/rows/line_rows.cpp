// SPDX-License-Identifier: Apache-2.0
#include "cli/format/rows/line_rows.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/rows/shared_texts.hpp"
#include "cli/format/time_text.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank::cli {
namespace {

std::string path_with_provider(const Value& row) {
  CounterPath path = row.counter_path(PathSpelling::kShort);
  path.provider = escape_glob(row.provider().name);
  path.provider_pid = row.provider().named_pid();
  return print_short(path);
}

class LineWriter final : public RowWriter {
 public:
  explicit LineWriter(const RowStyle& style)
      : style_(style), separator_(field_separator(style.format)) {}

  void write(const Moment& moment, const TextSink& out) override {
    time_ = print_utc(moment.sample.time.realtime_ns);
    names_providers_ = spans_providers(moment);
    names_hosts_ = names_hosts_ || names_hosts(moment);
    SharedTexts<RowTexts, CounterTexts> texts;
    std::string lines;
    moment.rows([&](const Value& row) {
      if (!std::exchange(begun_, true)) append_headings(lines);
      const RowTexts& of_row =
          texts.of_row(row, [this](const Value& one) { return begin_of(one); });
      const CounterTexts& of_counter =
          texts.of_counter(row, [this](const Value& one) { return counter_of(one); });
      lines += of_row.begin;
      if (is_plain()) {
        append_path(row, of_row.path, of_counter.path, lines);
      } else {
        lines += of_counter.name;
      }
      lines += separator_;
      append_value(row, of_counter.unit, lines);
      lines += of_counter.end;
      if (!is_plain()) lines += status_word(row, style_.raw);
      lines += of_row.end;
      FieldLine(style_, lines).end();
      return lines.size() < kBytesAtOnce || out(std::exchange(lines, {}));
    });
    out(lines);
  }

  // A recording says with its first row whether it is of several machines.
  std::string end() override {
    std::string text;
    if (!begun_) append_headings(text);
    return text;
  }

 private:
  // A line has `begin` of its row, the name or path of the counter, the value, `end` of the
  // counter, the status, and `end` of its row.
  struct RowTexts {
    std::string begin;
    PathPart path;  // plain
    std::string end;
  };
  struct CounterTexts {
    std::string name;  // tsv, csv
    PathPart path;     // plain
    BaseUnit unit;
    std::string end;
  };

  [[nodiscard]] bool is_plain() const noexcept { return style_.format == Format::kPlain; }

  void append_headings(std::string& text) const {
    if (is_plain()) return;
    FieldLine line(style_, text);
    for (const char* const heading :
         {"time", "provider", "set", "instance", "counter", "value", "unit", "status"}) {
      line.add(heading);
    }
    if (names_hosts_) line.add("host");
    line.end();
  }

  [[nodiscard]] RowTexts begin_of(const Value& row) const {
    RowTexts texts;
    FieldLine line(style_, texts.begin);
    line.add(time_);
    if (is_plain()) {
      texts.path = shown(PathPart::of_row(path_of(row)));
    } else {
      line.add(provider_of(row));
      line.add(word_of(row.set()));
      line.add(row.row->instance_label());
    }
    texts.begin += separator_;
    if (names_hosts_) {
      texts.end = separator_;
      FieldLine(style_, texts.end).add(host_of(row));
    }
    return texts;
  }

  [[nodiscard]] CounterTexts counter_of(const Value& row) const {
    CounterTexts texts;
    texts.unit = unit_for_programs(*row.counter, style_.raw);
    if (is_plain()) {
      texts.path = shown(PathPart::of_counter(path_of(row)));
    } else {
      FieldLine(style_, texts.name).add(word_of(*row.counter));
    }
    texts.end = separator_;
    FieldLine(style_, texts.end).add(texts.unit.unit);
    if (!is_plain()) texts.end += separator_;
    return texts;
  }

  [[nodiscard]] std::string path_of(const Value& row) const {
    return names_providers_ && !is_of_all(row) ? path_with_provider(row) : row.short_path();
  }

  [[nodiscard]] PathPart shown(PathPart part) const {
    part.text = escape_for_terminal(part.text, style_.charset);
    return part;
  }

  void append_path(const Value& row, const PathPart& of_row, const PathPart& of_counter,
                   std::string& out) const {
    if (of_row.is_known && of_counter.is_known) {
      out.append(of_row.text).append(of_counter.text);
    } else {
      escape_for_terminal(path_of(row), out, style_.charset);
    }
  }

  // For machines: the number in the base unit, or the text. If there is neither, plain has a dash.
  void append_value(const Value& row, const BaseUnit& unit, std::string& out) const {
    if (!row_has_value(row, style_.raw)) {
      if (is_plain()) out += '-';
    } else if (row.text.has_value()) {
      FieldLine(style_, out).add(*row.text);
    } else if (is_hexadecimal(*row.counter)) {
      fmt::format_to(std::back_inserter(out), "{:#x}", row.raw.value);
    } else if (style_.raw) {
      append_stored(row, out);
    } else {
      append_exact(unit.of(row.cooked.value), out);
    }
  }

  RowStyle style_;
  char separator_;
  bool begun_ = false;
  bool names_hosts_ = false;
  // Of the sample that is written.
  std::string time_;
  bool names_providers_ = false;
};

}  // namespace

std::unique_ptr<RowWriter> make_line_writer(const RowStyle& style) {
  return std::make_unique<LineWriter>(style);
}

}  // namespace meterbank::cli
