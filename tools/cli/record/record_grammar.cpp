// SPDX-License-Identifier: Apache-2.0
#include "cli/record/record_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/arguments/verb_parser.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/record/record_words.hpp"
#include "exposition/page/page_options.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::cli {
namespace {

constexpr std::string_view kRecord = "record";
constexpr std::string_view kLog = "log";

// As typed.
struct RecordWords {
  CommonWords common;
  std::string format, interval, samples, duration, size, age, callback_timeout, every, buckets,
      last, before, after;
  std::vector<std::string> rates, where, when;
};

// What both verbs do alike.
class RecordingGrammar {
 public:
  explicit RecordingGrammar(VerbParser::Form form) : parser_(std::move(form)) {
    add_common_options(parser_.options_of_all(), words_.common, invocation_, {});
  }

 protected:
  void add_selection_options(OptionTable options) {
    auto& selection = invocation_.selection;
    options.operands(selection.paths);
    options.text("-c,--paths-from", selection.paths_from, "FILE",
                 "Read paths from FILE, one per line");
    options.texts("-X,--exclude", selection.excluded, "PATH", "Exclude PATH (repeatable)");
    options.text("--provider", selection.provider, "NAME", "Only this provider: NAME or NAME@PID");
  }

  static Result<void> read_last(const std::string& word, const char* option, Span& target) {
    std::optional<Span> last;
    if (auto read = read_span(word, option, last); !read) return read;
    if (last && *last <= Span::zero()) {
      return usage(fmt::format("{}: too short", option), fmt::format("{} 5m", option));
    }
    target = last.value_or(target);
    return {};
  }

  Result<void> read_where() {
    auto& selection = invocation_.selection;
    for (const std::string& text : words_.where) {
      auto pattern = LabelPattern::parse(text);
      if (!pattern) return usage("--where: " + pattern.error().what, pattern.error().remedy);
      selection.where.push_back(*std::move(pattern));
    }
    return {};
  }

  VerbParser parser_;
  Invocation invocation_;
  RecordWords words_;
};

class RecordGrammar : RecordingGrammar {
 public:
  RecordGrammar() : RecordingGrammar({}) {
    parser_.add(kRecordText, [this](OptionTable own) { add_options(own); });
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    const auto parsed =
        parser_.parse(arguments.first(static_cast<std::size_t>(end - arguments.begin())));
    if (!parsed) return tl::make_unexpected(parsed.error());
    if (parsed->wants_help) {
      invocation_.topic = kRecord;
      return invocation_;
    }
    if (end != arguments.end()) invocation_.record.command.assign(end + 1, arguments.end());
    if (end != arguments.end() && invocation_.record.command.empty()) {
      return usage("record: no command behind --", "-- COMMAND");
    }
    invocation_.verb = Verb::kRecord;
    if (auto read = understand(); !read) return tl::make_unexpected(read.error());
    return invocation_;
  }

  [[nodiscard]] std::string help() { return parser_.help_of(kRecordText); }

 private:
  void add_options(OptionTable options) {
    auto& v = invocation_;
    options.text("-o,--output", v.output, "FILE|DIR/", "Where to record; a file is not replaced");
    options.text("-i,--interval", words_.interval, "SPAN", "Time between samples, default 1s");
    options.texts("--rate", words_.rates, "PATH=SPAN",
                  "Time between samples of PATH alone (repeatable)");
    options.text("--size", words_.size, "BYTES", "Keep a directory below BYTES, as in 256M");
    options.text("--age", words_.age, "SPAN", "Keep a directory's files for SPAN");
    options.texts("--when", words_.when, "CONDITION",
                  "Save what is around it to DIR/saved (repeatable; see meterbank help check)");
    options.text("--before", words_.before, "SPAN", "How much before it holds, default 1m");
    options.text("--after", words_.after, "SPAN", "How much after it held last, default 1m");
    options.text("--last", words_.last, "SPAN", "What SIGUSR1 saves to DIR/saved, default 5m");
    options.text("-n,--samples", words_.samples, "N", "Stop after N samples");
    options.text("--for", words_.duration, "SPAN", "Stop after SPAN");
    add_selection_options(options);
    options.flag("--all-namespaces", v.selection.all_namespaces,
                 "Look into all processes for providers, as root");
    options.texts("--where", words_.where, "LABEL=GLOB",
                  "Only where pid, uid, cgroup, container, pod, unit or host match");
    options.text("--callback-timeout", words_.callback_timeout, "SPAN",
                 "Wait up to SPAN for callbacks, default 200ms");
  }

  Result<void> understand() {
    auto& v = invocation_;
    std::optional<Span> interval, callback_timeout;
    if (auto read = words_.common.understand(v); !read) return read;
    for (auto read : {read_span(words_.interval, "-i", interval),
                      read_span(words_.duration, "--for", v.duration),
                      read_span(words_.age, "--age", v.record.age_max),
                      read_span(words_.callback_timeout, "--callback-timeout", callback_timeout),
                      read_number(words_.samples, "-n", v.samples),
                      read_bytes(words_.size, "--size", v.record.bytes_max), read_where()}) {
      if (!read) return read;
    }
    if (interval) v.interval = *interval;
    if (auto read = read_last(words_.last, "--last", v.record.last); !read) return read;
    if (auto read = read_conditions(); !read) return read;
    v.selection.callback_timeout = callback_timeout.value_or(std::chrono::milliseconds(200));
    v.selection.outside_labels = true;
    if (auto checked = check_interval("-i", v.interval); !checked) return checked;
    for (const std::string& word : words_.rates) {
      if (auto read = read_rate(word); !read) return read;
    }
    if (v.record.bytes_max && *v.record.bytes_max < kBytesLeast) {
      return usage("--size: too small", "--size 1M or more");
    }
    if (v.output.empty()) return usage("record: where to?", "-o FILE, or -o DIR/");
    return {};
  }

  Result<void> read_conditions() {
    auto& record = invocation_.record;
    for (const std::string& word : words_.when) {
      auto condition = Condition::parse(word);
      if (!condition) return tl::make_unexpected(condition.error());
      record.when.push_back(*std::move(condition));
    }
    if (auto read = read_last(words_.before, "--before", record.before); !read) return read;
    if (auto read = read_last(words_.after, "--after", record.after); !read) return read;
    if (record.when.empty() && !(words_.before.empty() && words_.after.empty())) {
      return usage("--before and --after are about a condition", "--when CONDITION");
    }
    return {};
  }

  static Result<void> check_interval(std::string_view option, Span interval) {
    if (interval >= std::chrono::milliseconds(1)) return {};
    return usage(fmt::format("{}: too short an interval", option), "1ms or more");
  }

  // The last =, because an instance may be called anything.
  Result<void> read_rate(const std::string& word) {
    const auto sign = word.rfind('=');
    std::optional<Span> interval;
    if (sign == std::string::npos || sign == 0) {
      return usage(fmt::format("--rate: '{}' is not PATH=SPAN", word), "--rate 'orders/*=100ms'");
    }
    if (auto read = read_span(word.substr(sign + 1), "--rate", interval); !read) return read;
    if (!interval) return usage("--rate: no interval", "--rate 'orders/*=100ms'");
    if (auto checked = check_interval("--rate", *interval); !checked) return checked;
    invocation_.record.rates.push_back({word.substr(0, sign), *interval});
    // One more is that of all else.
    if (invocation_.record.rates.size() >= recording::kRatesMax) {
      return usage("--rate: too many", fmt::format("{} at most", recording::kRatesMax - 1));
    }
    return {};
  }

  static constexpr std::uint64_t kBytesLeast = std::uint64_t{1} << 20U;
};

class LogGrammar : RecordingGrammar {
 public:
  LogGrammar() : RecordingGrammar({.call = "meterbank log", .noun = "action"}) {
    for (const auto& words : kLogActions) {
      parser_.add(words.text, [this, &words](OptionTable own) { add_options(own, words.verb); });
    }
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    const auto parsed = parser_.parse(arguments);
    if (!parsed) return tl::make_unexpected(parsed.error());
    name_ = parsed->verb;
    if (parsed->wants_help) {
      invocation_.topic = name_.empty() ? std::string(kLog) : fmt::format("log {}", name_);
      return invocation_;
    }
    if (name_.empty()) return usage("no log action", "meterbank log --help");
    invocation_.verb = Verb::kLog;
    invocation_.log.action = find_verb(kLogActions, name_)->verb;
    if (auto read = understand(); !read) return tl::make_unexpected(read.error());
    return invocation_;
  }

  [[nodiscard]] std::string help_of(const VerbText& text) { return parser_.help_of(text); }

 private:
  [[nodiscard]] bool takes_part() const {
    return invocation_.log.action == LogAction::kCut ||
           invocation_.log.action == LogAction::kConvert;
  }

  void add_options(OptionTable options, LogAction action) {
    auto& v = invocation_;
    if (action == LogAction::kInfo) {
      options.text("-f,--format", words_.format, "FORMAT", "table plain tsv csv json jsonl");
    }
    if (action == LogAction::kInfo || action == LogAction::kCheck) {
      options.operands(v.selection.paths);
      return;
    }
    if (action == LogAction::kMerge) {
      options.operands(v.log.inputs);
      options.text("-o,--output", v.output, "FILE", "Write FILE; a file is not replaced");
      return;
    }
    if (action == LogAction::kSave) {
      options.operands(v.selection.paths);
      options.text("--last", words_.last, "SPAN", "Save the last SPAN, default 5m");
      options.text("-o,--output", v.output, "FILE", "Write FILE; it appears when it is complete");
      return;
    }
    add_selection_options(options);
    options.text("--from", v.selection.log.from, "TIME", "Samples from TIME on (03:12, -15m, ...)");
    options.text("--to", v.selection.log.to, "TIME", "Samples until TIME");
    options.text("-o,--output", v.output, "FILE", "Write FILE; it appears when it is complete");
    if (action != LogAction::kConvert) return;
    options.text("--every", words_.every, "SPAN", "Samples SPAN apart instead of all");
    options.text("-f,--format", words_.format, "FORMAT", "See meterbank help formats");
    options.flag("--raw", v.raw, "Print stored values instead of rates and shares");
    options.text("--buckets", words_.buckets, "LIST", "-f openmetrics: upper ends of buckets");
  }

  Result<void> understand() {
    auto& v = invocation_;
    if (auto read = words_.common.understand(v); !read) return read;
    if (auto read = read_span(words_.every, "--every", v.selection.log.every); !read) return read;
    if (v.log.action == LogAction::kMerge) return understand_merge();
    if (auto read = read_last(words_.last, "--last", v.log.last); !read) return read;
    auto& paths = v.selection.paths;
    if (paths.empty()) return usage(fmt::format("log {}: which recording?", name_), "FILE or DIR");
    v.selection.log.path = paths.front();
    paths.erase(paths.begin());
    if (!takes_part() && !paths.empty()) {
      return usage(fmt::format("log {} takes no '{}'", name_, paths.front()), parser_.help_call());
    }
    const bool copies = v.log.action == LogAction::kCut || v.log.action == LogAction::kSave;
    if (copies && v.output.empty()) {
      return usage(fmt::format("log {}: where to?", name_), "-o FILE");
    }
    const bool makes_recording = words_.format.empty() && v.output.ends_with(".mbr");
    if (v.log.action == LogAction::kConvert && makes_recording) {
      if (!paths.empty() || v.selection.log.has_range() || !words_.every.empty()) {
        return usage("log convert: a table becomes a recording as a whole", "leave out the others");
      }
      v.log.conversion = Conversion::kFromTable;
      return {};
    }
    if (v.log.action == LogAction::kConvert && words_.format.empty()) {
      return usage("log convert: which format?", "-f csv");
    }
    if (words_.format.empty()) return {};
    return v.log.action == LogAction::kConvert ? understand_conversion() : understand_listing();
  }

  Result<void> understand_listing() {
    const auto format = parse_format(words_.format);
    if (!format || is_for_values(*format)) return no_format();
    invocation_.format = *format;
    return {};
  }

  Result<void> understand_conversion() {
    auto& v = invocation_;
    const auto other = std::find_if(kConversions.begin(), kConversions.end(),
                                    [&](const auto& one) { return one.name == words_.format; });
    const auto format = parse_format(words_.format);
    if (other != kConversions.end()) {
      v.log.conversion = other->conversion;
      if (v.output.empty() && v.log.conversion != Conversion::kOpenMetrics) {
        return usage(fmt::format("-f {}: where to?", other->name), "-o FILE");
      }
    } else if (!format || is_page(*format)) {
      return no_format();
    } else {
      v.format = *format;
    }
    if (v.raw && other != kConversions.end()) {
      return usage(fmt::format("--raw: -f {} has stored values anyway", other->name),
                   "leave out --raw");
    }
    if (words_.buckets.empty()) return {};
    auto buckets = exposition::parse_buckets(words_.buckets);
    if (v.log.conversion != Conversion::kOpenMetrics) {
      return usage("--buckets without a page", "-f openmetrics");
    }
    if (!buckets) {
      return usage("--buckets: not ascending positive numbers", "--buckets 0.001,0.01,0.1");
    }
    v.buckets = *std::move(buckets);
    return {};
  }

  [[nodiscard]] Result<void> no_format() const {
    std::vector<std::string_view> names;
    for (const std::string& name : format_names()) {
      if (!is_page(*parse_format(name))) names.push_back(name);
    }
    for (const auto& one : kConversions) names.push_back(one.name);
    return usage(fmt::format("-f: no format '{}' here", words_.format),
                 fmt::format("{}", fmt::join(names, ", ")));
  }

  [[nodiscard]] Result<void> understand_merge() const {
    if (invocation_.log.inputs.empty()) return usage("log merge: which recordings?", "FILE or DIR");
    if (invocation_.output.empty()) return usage("log merge: where to?", "-o FILE");
    return {};
  }

  std::string name_;  // of the action
};

}  // namespace

std::vector<std::string> record_verbs() { return {std::string(kRecord), std::string(kLog)}; }

std::optional<Result<Invocation>> parse_record_arguments(std::span<const std::string> arguments) {
  if (arguments.empty()) return std::nullopt;
  if (arguments.front() == kRecord) return std::make_unique<RecordGrammar>()->parse(arguments);
  if (arguments.front() == kLog) return std::make_unique<LogGrammar>()->parse(arguments.subspan(1));
  return std::nullopt;
}

std::optional<std::string> record_help(std::string_view topic) {
  if (topic == kRecord) return std::make_unique<RecordGrammar>()->help();
  if (topic == kLog) return std::string(kLogOverview);
  constexpr std::string_view kPrefix = "log ";
  if (!topic.starts_with(kPrefix)) return std::nullopt;
  const auto* const words = find_verb(kLogActions, topic.substr(kPrefix.size()));
  if (words == nullptr) return std::nullopt;
  return std::make_unique<LogGrammar>()->help_of(words->text);
}

}  // namespace meterbank::cli
