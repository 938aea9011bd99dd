// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "cli/format/collectors/collector_rows.hpp"
#include "cli/format/collectors/foreign_names.hpp"
#include "cli/format/collectors/row_facts.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/rows/shared_texts.hpp"

namespace meterbank::cli {
namespace {

class InfluxWriter final : public RowWriter {
 public:
  explicit InfluxWriter(const RowStyle& style) : style_(style) {}

  void write(const Moment& moment, const TextSink& out) override {
    const std::string end = fmt::format(" {}\n", moment.sample.time.realtime_ns);
    SharedTexts<std::string, CounterTexts> texts;
    std::string begin, lines;  // `begin`: measurement and tags of the open line, if there is one
    bool taken = true;
    moment.rows([&](const Value& value) {
      if (!is_for_collectors(value, style_.raw)) return true;
      const std::string& row =
          texts.of_row(value, [this](const Value& one) { return begin_of(one); });
      const CounterTexts& counter =
          texts.of_counter(value, [this](const Value& one) { return counter_of(one); });
      if (row == begin) {
        lines += ',';
      } else {
        if (!begin.empty()) lines += end;
        if (lines.size() >= kBytesAtOnce) taken = out(std::exchange(lines, {}));
        begin = row;
        lines += begin + ' ';
      }
      append_field(value, counter, lines);
      return taken;
    });
    if (!begin.empty()) lines += end;
    if (taken) out(lines);
  }

 private:
  struct CounterTexts {
    std::string key;  // with the equals sign
    BaseUnit unit;
  };

  // A backslash escapes nothing but these, and cannot be escaped itself.
  [[nodiscard]] std::string escaped(std::string_view text, std::string_view special) const {
    std::string name;
    for (const char byte : replace_hidden(text, style_.charset)) {
      if (byte == '\\') {
        append_utf8(kReplacementCharacter, name);
        continue;
      }
      if (special.find(byte) != std::string_view::npos) name += '\\';
      name += byte;
    }
    return name;
  }

  [[nodiscard]] std::string measurement(std::string_view text) const {
    // A line that begins so is a comment.
    if (!text.starts_with('#')) return escaped(text, ", ");
    std::string name;
    append_utf8(kReplacementCharacter, name);
    return name + escaped(text.substr(1), ", ");
  }

  void append_tag(std::string_view key, std::string_view value, std::string& line) const {
    if (!value.empty()) line += fmt::format(",{}={}", key, escaped(value, ",= "));
  }

  // Measurement and tags. Tags in the order of their keys spare the receiver work.
  [[nodiscard]] std::string begin_of(const Value& value) const {
    const Row& row = *value.row;
    std::string line = measurement(word_of(value.set()));
    append_tag("host", host_of(value), line);
    if (row.shares_name) append_tag("id", fmt::format("{}", row.id()), line);
    append_tag("instance", row.name(), line);
    append_tag("provider", provider_name(row), line);
    return line;
  }

  [[nodiscard]] CounterTexts counter_of(const Value& value) const {
    return {escaped(counter_name(*value.counter), ",= ") + '=',
            unit_for_programs(*value.counter, style_.raw)};
  }

  void append_field(const Value& value, const CounterTexts& counter, std::string& out) const {
    out += counter.key;
    if (value.text.has_value()) return append_text(*value.text, out);
    if (!style_.raw) return append_exact(counter.unit.of(value.cooked.value), out);
    const ValueForm form = value.counter->form;
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (form != ValueForm::kReal && form != ValueForm::kSigned && value.raw.value > kMost) {
      return append_exact(static_cast<double>(value.raw.value), out);
    }
    append_stored(value, out);
    if (form != ValueForm::kReal) out += 'i';
  }

  void append_text(std::string_view text, std::string& out) const {
    out += '"';
    for (const char byte : replace_hidden(text, style_.charset)) {
      if (byte == '"' || byte == '\\') out += '\\';
      out += byte;
    }
    out += '"';
  }

  RowStyle style_;
};

}  // namespace

std::unique_ptr<RowWriter> make_influx_writer(const RowStyle& style) {
  return std::make_unique<InfluxWriter>(style);
}

}  // namespace meterbank::cli
