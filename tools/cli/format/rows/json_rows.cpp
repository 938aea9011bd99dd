// SPDX-License-Identifier: Apache-2.0
#include "cli/format/rows/json_rows.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/distribution/distribution_json.hpp"
#include "cli/format/json.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/rows/shared_texts.hpp"
#include "cli/format/time_text.hpp"

namespace meterbank::cli {
namespace {

class JsonRowWriter final : public RowWriter {
 public:
  explicit JsonRowWriter(const RowStyle& style)
      : style_(style), json_(style.integers_as_text, style.charset) {}

  void write(const Moment& moment, const TextSink& out) override {
    const bool lines = style_.format == Format::kJsonLines;
    if (lines || !open_) open(moment);
    time_ = print_utc(moment.sample.time.realtime_ns);
    Texts texts;
    moment.rows([&](const Value& row) {
      if (!lines) json_.line_break();
      write_row(row, moment, texts);
      return json_.size() < kBytesAtOnce || out(json_.take());
    });
    note_errors(moment);
    left_out_ = moment.left_out.notes;
    out(lines ? close() : json_.take());
  }

  std::string end() override {
    if (style_.format == Format::kJsonLines) return {};
    if (!open_) {
      json_.begin_object().key("schema").text("meterbank.sample/2").key("samples").begin_array();
    }
    return close();
  }

 private:
  // Pieces of the object of a value, in this order: path and path, names, name, provider, kind.
  struct RowTexts {
    PathPart path;
    std::string names;     // from the end of the path to the counter
    std::string provider;  // from there to the kind
  };
  struct CounterTexts {
    PathPart path;
    std::string name;
    std::string kind;  // from the kind to the value
    BaseUnit unit;
  };
  using Texts = SharedTexts<RowTexts, CounterTexts>;

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
      json_.key("set").text(word_of(set));
      json_.key("outcome").text(name_of(answer.outcome));
      if (answer.outcome == AnswerOutcome::kReturnedCode) {
        json_.key("code").number(std::uint64_t{answer.code});
      }
      json_.key("reason").text(answer.reason()).end_object();
    }
    json_.end_array();
    errors_.clear();
  }

  [[nodiscard]] std::string quoted(std::string_view text) const {
    return json_text(text, style_.charset);
  }
  // A part of a text, without quotation marks.
  [[nodiscard]] std::string unquoted(std::string_view text) const {
    const std::string whole = quoted(text);
    return whole.substr(1, whole.size() - 2);
  }

  [[nodiscard]] RowTexts row_texts(const Value& row) const {
    const auto path = PathPart::of_row(row.short_path());
    RowTexts texts;
    texts.path = {unquoted(path.text), path.is_known};
    texts.names = fmt::format(R"(","time":"{}","set":{},"instance":{},"instance_id":{},"counter":)",
                              time_, quoted(word_of(row.set())), quoted(row.instance().name),
                              id_text(row.instance().id));
    const std::string_view host = host_of(row);
    texts.provider = fmt::format(R"(,"provider":{}{}{},"kind":)", quoted(provider_of(row)),
                                 host.empty() ? std::string() : R"(,"host":)" + quoted(host),
                                 row.provider().trusted ? "" : R"(,"trusted":false)");
    return texts;
  }

  [[nodiscard]] CounterTexts counter_texts(const Value& row) const {
    const auto path = PathPart::of_counter(row.short_path());
    const std::string_view kind = style_.raw ? "raw" : kind_of(*row.counter).kind;
    CounterTexts texts;
    texts.path = {unquoted(path.text), path.is_known};
    texts.name = quoted(word_of(*row.counter));
    texts.unit = unit_for_programs(*row.counter, style_.raw);
    texts.kind = fmt::format(R"({},"unit":{},"value":)", quoted(kind), quoted(texts.unit.unit));
    return texts;
  }

  [[nodiscard]] std::string id_text(std::uint32_t id) const {
    return style_.integers_as_text ? fmt::format("\"{}\"", id) : fmt::format("{}", id);
  }

  void write_row(const Value& row, const Moment& moment, Texts& texts) {
    const RowTexts& of_row = texts.of_row(row, [this](const Value& one) { return row_texts(one); });
    const CounterTexts& of_counter =
        texts.of_counter(row, [this](const Value& one) { return counter_texts(one); });
    const bool is_split = of_row.path.is_known && of_counter.path.is_known;
    const std::string whole = is_split ? std::string() : unquoted(row.short_path());
    const std::string_view path = is_split ? of_row.path.text : whole;
    const std::string_view path_end = is_split ? of_counter.path.text : std::string_view();
    json_.begin_object().up_to_value({R"("path":")", path, path_end, of_row.names, of_counter.name,
                                      of_row.provider, of_counter.kind});
    const bool has_number = !row.text && row_has_value(row, false);
    if (style_.raw || (has_number && is_hexadecimal(*row.counter))) {
      write_stored(row);
    } else if (has_number) {
      json_.number(of_counter.unit.of(row.cooked.value));
    } else {
      json_.null();
    }
    json_.up_to_value({R"(,"raw":)"});
    write_stored(row);
    if (row.text.has_value()) json_.key("text").text(*row.text);
    json_.members({R"(,"status":")", status_word(row, style_.raw), "\""});
    if (row.set().stamp_word != kNoCounter) write_age("age_s", row.raw.time_ns, moment);
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
  std::string time_;  // of the sample that is written
  bool open_ = false;
  std::vector<std::pair<std::string, CallbackAnswer>> errors_;
  std::vector<LeftOutNote> left_out_;
};

}  // namespace

std::unique_ptr<RowWriter> make_json_writer(const RowStyle& style) {
  return std::make_unique<JsonRowWriter>(style);
}

}  // namespace meterbank::cli
