// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cli/format/collectors/collector_rows.hpp"
#include "cli/format/collectors/foreign_names.hpp"
#include "cli/format/collectors/row_facts.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/rows/shared_texts.hpp"

namespace meterbank::cli {
namespace {

// What fits into an Ethernet frame behind the headers of IPv6 and UDP.
constexpr std::size_t kDatagramBytes = 1452;

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}
// Levels of a name that its author has chosen stay levels.
bool is_path_byte(char byte) { return is_name_byte(byte) || byte == '.'; }

class StatsdWriter final : public RowWriter {
 public:
  explicit StatsdWriter(const RowStyle& style) : style_(style) {}

  void write(const Moment& moment, const TextSink& out) override {
    SharedTexts<std::string, CounterTexts> texts;
    std::string datagram, line;
    bool taken = true;
    moment.rows([&](const Value& value) {
      if (value.text.has_value() || !is_for_collectors(value, style_.raw)) return true;
      const std::string& row = texts.of_row(value, [](const Value& one) { return row_name(one); });
      const CounterTexts& counter =
          texts.of_counter(value, [this](const Value& one) { return counter_of(one); });
      line.clear();
      append_line(value, row, counter, moment.interval_s, line);
      if (!datagram.empty() && datagram.size() + line.size() > kDatagramBytes) {
        taken = out(std::exchange(datagram, {}));
      }
      datagram += line;
      return taken;
    });
    if (taken) out(datagram);
  }

 private:
  struct CounterTexts {
    std::string name;  // with the colon
    BaseUnit unit;
    bool is_rate = false;
  };

  // With the dot.
  static std::string row_name(const Value& value) {
    std::string name = restricted_name(word_of(value.set()), is_path_byte) + '.';
    for (const std::string& part :
         {std::string(host_of(value)), provider_name(*value.row), value.row->instance_label()}) {
      if (!part.empty()) name += restricted_name(part, is_name_byte) + '.';
    }
    return name;
  }

  [[nodiscard]] CounterTexts counter_of(const Value& value) const {
    const CounterView& counter = *value.counter;
    const bool counts_values = counter.form == ValueForm::kDistribution;
    CounterTexts texts;
    texts.name = restricted_name(counter_name(counter), is_path_byte) + ':';
    texts.unit = unit_for_programs(counter, style_.raw);
    texts.is_rate =
        !style_.raw && (counter.word != kNoCounter || !counts_values) &&
        (counter.type == CounterType::kCounter || counter.type == CounterType::kBulkCount);
    return texts;
  }

  void append_line(const Value& value, const std::string& row, const CounterTexts& counter,
                   double interval_s, std::string& line) const {
    // Sets that stamp their values have intervals of their own.
    if (counter.is_rate && !value.raw.stamped) {
      const double events = value.cooked.value * interval_s;
      line.append(row).append(counter.name);
      append_exact(counter.unit.of(std::round(events)), line);
      line += "|c\n";
      return;
    }
    const double gauge = style_.raw ? stored_number(value) : counter.unit.of(value.cooked.value);
    // A sign means a change of the gauge: one that becomes negative is set to zero first.
    if (std::signbit(gauge)) line.append(row).append(counter.name).append("0|g\n");
    line.append(row).append(counter.name);
    if (style_.raw) {
      append_stored(value, line);
    } else {
      append_exact(gauge, line);
    }
    line += "|g\n";
  }

  RowStyle style_;
};

}  // namespace

std::unique_ptr<RowWriter> make_statsd_writer(const RowStyle& style) {
  return std::make_unique<StatsdWriter>(style);
}

}  // namespace meterbank::cli
