// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "cli/format/collectors/collector_rows.hpp"
#include "cli/format/collectors/foreign_names.hpp"
#include "cli/format/collectors/row_facts.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/rows/shared_texts.hpp"

namespace meterbank::cli {
namespace {

// DATA_MAX_NAME_LEN of collectd without the zero at the end: it cuts what is longer.
constexpr std::size_t kPartBytesMax = 127;

// An identifier is HOST/PLUGIN-INSTANCE/TYPE-INSTANCE.
bool is_instance_byte(char byte) { return byte != '/'; }
bool is_plugin_byte(char byte) { return is_instance_byte(byte) && byte != '-'; }
bool is_provider_byte(char byte) { return is_instance_byte(byte) && byte != '.'; }

class CollectdWriter final : public RowWriter {
 public:
  explicit CollectdWriter(const RowStyle& style) : style_(style) {}

  void write(const Moment& moment, const TextSink& out) override {
    const std::uint64_t milliseconds = moment.sample.time.realtime_ns / 1'000'000;
    const double interval_s = style_.interval == std::chrono::nanoseconds::zero()
                                  ? moment.interval_s
                                  : std::chrono::duration<double>(style_.interval).count();
    std::string before_value = "\"";
    if (interval_s > 0) before_value += fmt::format(" interval={:.3f}", interval_s);
    before_value += fmt::format(" {}.{:03}:", milliseconds / 1000, milliseconds % 1000);
    SharedTexts<std::string, CounterTexts> texts;
    std::string lines;
    moment.rows([&](const Value& value) {
      if (value.text.has_value() || !is_for_collectors(value, style_.raw)) return true;
      lines += texts.of_row(value, [this](const Value& one) { return row_begin(one); });
      const CounterTexts& counter =
          texts.of_counter(value, [this](const Value& one) { return counter_of(one); });
      lines.append(counter.type_and_name).append(before_value);
      if (!style_.raw) {
        append_exact(counter.unit.of(value.cooked.value), lines);
      } else if (is_stored_count(*value.counter)) {
        // A derive has a sign; differences are right all the same.
        lines += fmt::format_int(static_cast<std::int64_t>(value.raw.value)).c_str();
      } else {
        append_stored(value, lines);
      }
      lines += '\n';
      return lines.size() < kBytesAtOnce || out(std::exchange(lines, {}));
    });
    out(lines);
  }

 private:
  struct CounterTexts {
    std::string type_and_name;
    BaseUnit unit;
  };

  [[nodiscard]] std::string part(std::string_view text, bool (*is_allowed)(char)) const {
    return restricted_name(replace_hidden(text, style_.charset), is_allowed, kPartBytesMax);
  }

  static void append_in_quotes(std::string_view text, std::string& out) {
    for (const char byte : text) {
      if (byte == '"' || byte == '\\') out += '\\';
      out += byte;
    }
  }

  // Up to the type.
  [[nodiscard]] std::string row_begin(const Value& value) const {
    std::string instance = part(provider_name(*value.row), is_provider_byte);
    if (const auto label = value.row->instance_label(); !label.empty()) {
      if (!instance.empty()) instance += '.';
      instance += replace_hidden(label, style_.charset);
    }
    std::string begin = "PUTVAL \"";
    const std::string_view host = host_of(value);
    append_in_quotes(part(host.empty() ? style_.host : host, is_instance_byte), begin);
    begin += '/';
    append_in_quotes(part(word_of(value.set()), is_plugin_byte), begin);
    begin += '-';
    append_in_quotes(part(instance, is_instance_byte), begin);
    return begin + '/';
  }

  [[nodiscard]] CounterTexts counter_of(const Value& value) const {
    const CounterView& counter = *value.counter;
    CounterTexts texts;
    texts.type_and_name = style_.raw && is_stored_count(counter) ? "derive-" : "gauge-";
    append_in_quotes(part(counter_name(counter), is_instance_byte), texts.type_and_name);
    texts.unit = unit_for_programs(counter, style_.raw);
    return texts;
  }

  RowStyle style_;
};

}  // namespace

std::unique_ptr<RowWriter> make_collectd_writer(const RowStyle& style) {
  return std::make_unique<CollectdWriter>(style);
}

}  // namespace meterbank::cli
