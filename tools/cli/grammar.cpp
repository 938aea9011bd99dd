// SPDX-License-Identifier: Apache-2.0
#include "cli/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/arguments/verb_parser.hpp"
#include "cli/beside/program_verbs.hpp"
#include "cli/check/check_grammar.hpp"
#include "cli/compat/windows_grammar.hpp"
#include "cli/diff/diff_grammar.hpp"
#include "cli/pmu/grammar/pmu_grammar.hpp"
#include "cli/record/record_grammar.hpp"
#include "cli/verb_words.hpp"
#include "exposition/page/page_options.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

// Option values as typed; understand() makes an Invocation of them.
struct Words {
  CommonWords common;
  std::vector<std::string> topic;
  std::string wait, callback_timeout, format, place, units, json_int, interval, samples, duration,
      period, seed, percentiles, buckets, providers_max, segment_bytes_max, user_bytes_max;
  std::string every;
  std::vector<std::string> expressions, where;
  bool cooked = false;
  bool version = false;
};

class Grammar {
 public:
  Grammar() {
    auto options = parser_.options_of_all();
    add_common_options(options, words_.common, invocation_, {});
    options.flag("--version", words_.version, "Same as meterbank version");
    for (const auto& words : kVerbs) {
      parser_.add(words.text,
                  [this, verb = words.verb](OptionTable own) { add_options(own, verb); });
    }
    for (const auto& verb : program_verbs()) parser_.add_elsewhere(verb);
    parser_.add_elsewhere(kPmu);
    parser_.add_elsewhere(kDiff);
    parser_.add_elsewhere(kCheck);
    for (const auto& verb : record_verbs()) parser_.add_elsewhere(verb);
    for (const auto& verb : windows_verbs()) parser_.add_elsewhere(verb);
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    const auto parsed = parser_.parse(arguments);
    if (!parsed) return tl::make_unexpected(parsed.error());
    if (!parsed->wants_help) return understand(parsed->verb);
    invocation_.verb = Verb::kHelp;
    invocation_.topic = parsed->verb;
    return invocation_;
  }

  [[nodiscard]] std::string help_of(const VerbText& text) { return parser_.help_of(text); }

 private:
  void add_options(OptionTable options, Verb verb) {
    switch (verb) {
      case Verb::kList:
        add_list_options(options);
        break;
      case Verb::kGet:
      case Verb::kWatch:
        add_sampling_options(options, verb);
        break;
      case Verb::kHost:
        add_host_options(options);
        break;
      case Verb::kDemo:
        add_moment_options(options, "Number of samples, default 3; live: until stopped");
        add_format(options, "Print rows in this format instead of screens and lists");
        options.text("--seed", words_.seed, "N", "Seed of the load's random numbers, default 1");
        break;
      case Verb::kDoctor:
        options.flag("--clean", invocation_.clean, "Remove the records of your dead providers");
        add_search_options(options);
        add_limit_options(options);
        break;
      case Verb::kVersion:
        add_format(options, "text or json");
        break;
      case Verb::kHelp:
        options.operands(words_.topic);
        break;
      // Not of this grammar: others took them before.
      case Verb::kGen:
      case Verb::kServe:
      case Verb::kPush:
      case Verb::kView:
      case Verb::kPmu:
      case Verb::kCheck:
      case Verb::kRecord:
      case Verb::kLog:
      case Verb::kDiff:
      case Verb::kTypeperf:
      case Verb::kRelog:
        break;
    }
  }

  void add_selection_options(OptionTable options) {
    auto& selection = invocation_.selection;
    options.operands(selection.paths);
    options.text("-c,--paths-from", selection.paths_from, "FILE",
                 "Read paths from FILE, one per line");
    options.texts("-X,--exclude", selection.excluded, "PATH", "Exclude PATH (repeatable)");
    options.text("--provider", selection.provider, "NAME", "Only this provider: NAME or NAME@PID");
    options.flag("--across-users", selection.across_users,
                 "Include other users' providers in totals and expressions");
    add_search_options(options);
    add_limit_options(options);
    options.text("--wait", words_.wait, "SPAN", "Wait up to SPAN for missing counters");
    options.text("--callback-timeout", words_.callback_timeout, "SPAN",
                 "Wait up to SPAN for callbacks, default 1s");
  }

  void add_log_options(OptionTable options, bool has_range) {
    auto& log = invocation_.selection.log;
    options.text("--log", log.path, "FILE|DIR", "Read a recording instead of this machine");
    options.text("--at", log.at, "TIME", "--log: the moment, default its end (03:12, -15m, ...)");
    if (!has_range) return;
    options.text("--from", log.from, "TIME", "--log: all samples from TIME on");
    options.text("--to", log.to, "TIME", "--log: all samples until TIME");
    options.text("--every", words_.every, "SPAN", "--log: samples SPAN apart instead of all");
  }

  void add_search_options(OptionTable options) {
    options.flag("--all-namespaces", invocation_.selection.all_namespaces,
                 "Look into all processes for providers, as root");
    options.texts("--where", words_.where, "LABEL=GLOB",
                  "Only where pid, uid, cgroup, container, pod, unit or host match");
  }

  void add_limit_options(OptionTable options) {
    options.text("--providers-max", words_.providers_max, "N",
                 "Providers read of one user, default 16384");
    options.text("--segment-bytes-max", words_.segment_bytes_max, "BYTES",
                 "Memory mapped of one provider, default 1G");
    options.text("--user-bytes-max", words_.user_bytes_max, "BYTES",
                 "Memory mapped of one user's providers, default 4G");
  }

  void add_format(OptionTable options, const char* description) {
    options.text("-f,--format", words_.format, "FORMAT", description);
  }

  void add_list_options(OptionTable options) {
    auto& v = invocation_;
    options.flag("-l,--long", v.details, "Show kind, unit, help, ids and instances");
    options.flag("--instances", v.instances, "List instances instead of counters");
    options.flag("--providers", v.providers, "List providers instead of countersets");
    options.flag("--registrations", v.registrations,
                 "List all registrations, closed ones too, and their readers");
    add_selection_options(options);
    add_format(options, "table plain tsv csv json jsonl");
    options.text("-o,--output", v.output, "FILE", "Write FILE; it appears when it is complete");
    options.flag("--strict", v.strict, "Fail if providers are left out");
    add_log_options(options, false);
  }

  void add_moment_options(OptionTable options, const char* samples) {
    options.text("-i,--interval", words_.interval, "SPAN", "Time between samples, default 1s");
    options.text("-n,--samples", words_.samples, "N", samples);
    options.text("--for", words_.duration, "SPAN", "Stop after SPAN instead of -n samples");
  }

  void add_sampling_options(OptionTable options, Verb which) {
    auto& v = invocation_;
    const bool get = which == Verb::kGet;
    add_selection_options(options);
    add_moment_options(options, get ? "Number of samples, default 1; 0: until stopped"
                                    : "Number of samples, default 0: until stopped");
    add_format(options, get ? "See meterbank help formats; default table, in a pipe plain"
                            : "Print rows in this format instead of screens and lists");
    if (get) {
      options.texts("-e,--expr", words_.expressions, "'N = ...'", "Derived value (repeatable)");
    }
    options.text("-p,--percentiles", words_.percentiles, "LIST",
                 "Percentiles of distributions, default 50,99,99.9, or none");
    if (get)
      options.flag("--hist", v.histograms, "Show distributions as bars, or as buckets in JSON");
    if (get)
      options.text("--buckets", words_.buckets, "LIST",
                   "-f prometheus, openmetrics: upper ends of buckets");
    options.flag("--raw", v.raw, "Show stored values instead of rates and shares");
    options.flag("--cooked", words_.cooked, "Show rates and shares (default)");
    options.text("--units", words_.units, "STYLE",
                 "auto: scaled units (default); base: base units");
    options.text("--json-int", words_.json_int, "FORM",
                 "64-bit integers as number (default) or string");
    options.text("-o,--output", v.output, "FILE", "Write FILE; it appears when it is complete");
    options.flag("--strict", v.strict, "Fail if a path, a value or a provider is missing or hung");
    add_log_options(options, true);
    if (!get) add_screen_options(options);
  }

  void add_screen_options(OptionTable options) {
    auto& v = invocation_.watch;
    options.flag("-b,--batch", v.is_batch, "Print screens as text, or with -f json as objects");
    options.text("--place", words_.place, "LINK", "Begin at a place, as bookmarks have them");
    options.text("--ring", v.ring, "DIR",
                 "Begin with the last 15 minutes of this recording (default: the agent's)");
  }

  void add_host_options(OptionTable options) {
    auto& v = invocation_;
    options.text("--name", v.name, "NAME", "Name of the provider, default host");
    options.text("--period", words_.period, "SPAN", "Time between updates, default 250ms");
    options.text("--for", words_.duration, "SPAN", "Stop after SPAN, default: run until stopped");
    options.flag_that_clears("--no-processes", v.processes, "Do not publish single processes");
  }

  Result<void> read_choices() {
    auto& v = invocation_;
    auto result = words_.common.understand(v);
    if (!result) return result;
    result = choose(words_.units, "--units",
                    {{"auto", UnitStyle::kAuto}, {"base", UnitStyle::kBase}}, v.units);
    if (!result) return result;
    result = choose(words_.json_int, "--json-int", {{"number", false}, {"string", true}},
                    v.integers_as_text);
    if (!result) return result;
    if (words_.format.empty()) return {};
    // "text" is what `version` prints on its own.
    if (v.verb == Verb::kVersion && words_.format == "text") return {};
    const auto format = parse_format(words_.format);
    if (!format) {
      const auto near = best_match(words_.format, format_names());
      return usage(fmt::format("-f: no format '{}'", words_.format),
                   near.value_or(fmt::format("{}", fmt::join(format_names(), ", "))));
    }
    if (is_for_values(*format) && (v.verb == Verb::kList || v.verb == Verb::kVersion)) {
      return usage(fmt::format("-f {} is for values", words_.format), "-f csv or -f json");
    }
    v.format = *format;
    return {};
  }

  Result<void> read_spans_and_numbers() {
    auto& v = invocation_;
    std::optional<Span> interval, callback_timeout;
    std::optional<std::uint64_t> seed;
    struct SpanWord {
      const std::string& word;
      const char* option;
      std::optional<Span>& target;
    };
    for (const auto& span :
         {SpanWord{words_.wait, "--wait", v.selection.wait},
          SpanWord{words_.callback_timeout, "--callback-timeout", callback_timeout},
          SpanWord{words_.interval, "-i", interval}, SpanWord{words_.duration, "--for", v.duration},
          SpanWord{words_.period, "--period", v.period},
          SpanWord{words_.every, "--every", v.selection.log.every}}) {
      if (auto read = read_span(span.word, span.option, span.target); !read) return read;
    }
    if (interval) v.interval = *interval;
    v.has_interval = interval.has_value();
    if (auto read = check_log(); !read) return read;
    if (callback_timeout) v.selection.callback_timeout = *callback_timeout;
    // A shorter distance than this would be a busy loop under another name.
    if (v.interval < std::chrono::microseconds(100)) {
      return usage("-i: too short an interval", "100us or more");
    }
    if (v.period && *v.period < std::chrono::milliseconds(1)) {
      return usage("--period: too short", "1ms or more");
    }
    if (auto read = read_number(words_.samples, "-n", v.samples); !read) return read;
    if (auto checked = check_moments(); !checked) return checked;
    if (auto read = read_number(words_.seed, "--seed", seed); !read) return read;
    auto& selection = v.selection;
    auto limits = read_number(words_.providers_max, "--providers-max", selection.providers_max);
    if (!limits) return limits;
    limits =
        read_bytes(words_.segment_bytes_max, "--segment-bytes-max", selection.segment_bytes_max);
    if (!limits) return limits;
    limits = read_bytes(words_.user_bytes_max, "--user-bytes-max", selection.user_bytes_max);
    if (!limits) return limits;
    v.seed = seed.value_or(v.seed);
    for (const std::string& text : words_.where) {
      auto pattern = LabelPattern::parse(text);
      if (!pattern) return usage("--where: " + pattern.error().what, pattern.error().remedy);
      selection.where.push_back(*std::move(pattern));
    }
    selection.outside_labels = v.providers || !selection.where.empty();
    return {};
  }

  [[nodiscard]] Result<void> check_log() const {
    const LogOptions& log = invocation_.selection.log;
    const bool has_moment = !log.at.empty() || log.has_range() || log.every;
    if (log.path.empty() && has_moment) {
      return usage("--at, --from, --to and --every are about a recording", "--log FILE");
    }
    if (!log.at.empty() && (log.has_range() || log.every)) {
      return usage("--at and a range of moments", "one of them");
    }
    if (!log.path.empty() && invocation_.registrations) {
      return usage("--registrations is about this machine, --log is not", "one of them");
    }
    if (log.every && *log.every <= Span::zero()) return usage("--every: too short", "--every 1s");
    return {};
  }

  // Without a time, `get` shows the last moment of a recording only.
  [[nodiscard]] Result<void> check_moments() const {
    const auto& v = invocation_;
    const LogOptions& log = v.selection.log;
    if (v.verb != Verb::kGet || log.path.empty() || !log.at.empty() || log.has_range()) return {};
    const char* const option = v.samples.value_or(1) != 1 ? "-n"
                               : v.duration               ? "--for"
                               : log.every                ? "--every"
                                                          : nullptr;
    if (option == nullptr) return {};
    return usage(fmt::format("{} of a recording is about a range of moments", option),
                 "--from TIME");
  }

  Result<void> read_screens() {
    auto& v = invocation_;
    if (!words_.place.empty()) {
      auto place = view::parse_link(words_.place);
      if (!place) {
        return usage("--place: " + place.error().what, place.error().remedy);
      }
      v.watch.place = *std::move(place);
    }
    if (!v.watch.ring.empty() && !v.selection.log.path.empty()) {
      return usage("--ring and --log", "one of them");
    }
    v.watch.wants_rows = !words_.percentiles.empty();
    const char* const option = v.watch.is_batch ? "--batch" : v.watch.place ? "--place" : nullptr;
    if (option == nullptr) return {};
    // Screens have percentiles of their own, and are printed only where --batch says so.
    if (v.watch.wants_rows)
      return usage(fmt::format("{} and --percentiles", option), "one of them");
    if (!v.output.empty()) return usage(fmt::format("{} and --output", option), "--batch > FILE");
    const bool is_text = v.format == Format::kAuto || v.format == Format::kTable;
    if (!is_text && (v.format != Format::kJson || !v.watch.is_batch)) {
      return usage(fmt::format("{}: not in this format", option), "--batch -f json");
    }
    return {};
  }

  Result<void> read_expressions() {
    auto& expressions = invocation_.expressions;
    for (const auto& formula : words_.expressions) {
      auto expression = Expression::parse(formula);
      if (!expression) return tl::make_unexpected(expression.error());
      const auto namesake = std::find_if(
          expressions.begin(), expressions.end(),
          [&](const Expression& other) { return equal_folded(other.name(), expression->name()); });
      if (namesake != expressions.end()) {
        return usage(fmt::format("-e: two expressions are named '{}'", namesake->name()),
                     "another name");
      }
      expressions.push_back(std::move(*expression));
    }
    if (invocation_.raw && !expressions.empty()) return usage("--raw and --expr", "one of them");
    return {};
  }

  Result<void> read_distributions() {
    auto& v = invocation_;
    const auto& typed = words_.percentiles;
    auto percentiles = parse_percentiles(typed.empty() ? kUsualPercentiles : typed);
    if (!percentiles) return tl::make_unexpected(percentiles.error());
    v.percentiles = std::move(*percentiles);
    if (v.raw && !typed.empty()) return usage("--raw and --percentiles", "one of them");
    const bool draws = v.format == Format::kAuto || v.format == Format::kTable;
    if (v.histograms && !draws && v.format != Format::kJson && v.format != Format::kJsonLines) {
      return usage(fmt::format("--hist: -f {} has no room for histograms", words_.format),
                   "-f table for bars, -f json for buckets");
    }
    return {};
  }

  // A page has the values as they are stored, of one moment.
  Result<void> read_page() {
    auto& v = invocation_;
    if (!words_.buckets.empty()) {
      if (!is_page(v.format)) return usage("--buckets without a page", "-f prometheus");
      auto buckets = exposition::parse_buckets(words_.buckets);
      if (!buckets) {
        return usage("--buckets: not ascending positive numbers", "--buckets 0.001,0.01,0.1");
      }
      v.buckets = *std::move(buckets);
    }
    if (!is_page(v.format)) return {};
    const auto clash = [&](std::string_view option, std::string_view remedy) {
      return usage(fmt::format("-f {} and {}", words_.format, option), std::string(remedy));
    };
    if (v.verb != Verb::kGet) return clash("a verb other than get", "meterbank get");
    if (v.samples.value_or(1) != 1) return clash("-n", "-n 1, because a page is one sample");
    if (v.duration) return clash("--for", "leave it out, because a page is one sample");
    if (!v.expressions.empty()) return clash("--expr", "-f influx, which has derived values");
    if (words_.cooked) return clash("--cooked", "-f influx, or rates made by the receiver");
    if (!words_.percentiles.empty()) {
      return clash("--percentiles", "--buckets LIST, or -f influx");
    }
    v.raw = true;
    return {};
  }

  Result<Invocation> understand(const std::string& verb) {
    if (verb.empty() && !words_.version) return usage("no verb", "meterbank help");
    invocation_.verb = verb.empty() ? Verb::kVersion : find_verb(kVerbs, verb)->verb;
    invocation_.topic = fmt::format("{}", fmt::join(words_.topic, " "));
    if (auto read = read_choices(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_spans_and_numbers(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_screens(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_expressions(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_distributions(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_page(); !read) return tl::make_unexpected(read.error());
    if (words_.cooked && invocation_.raw) return usage("--raw and --cooked", "one of them");
    const int kinds = static_cast<int>(invocation_.instances) +
                      static_cast<int>(invocation_.providers) +
                      static_cast<int>(invocation_.registrations);
    if (kinds > 1) {
      return usage("more than one of --instances, --providers and --registrations", "one of them");
    }
    return invocation_;
  }

  VerbParser parser_{{}};
  Invocation invocation_;
  Words words_;
};

}  // namespace

Result<Invocation> parse_arguments(std::span<const std::string> arguments) {
  if (auto parsed = parse_program_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_pmu_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_record_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_diff_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_check_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_windows_arguments(arguments)) return *std::move(parsed);
  return std::make_unique<Grammar>()->parse(arguments);
}

std::optional<std::string> verb_help(std::string_view verb) {
  if (const auto text = program_help(verb); !text.empty()) return std::string(text);
  if (auto text = pmu_help(verb)) return text;
  if (auto text = record_help(verb)) return text;
  if (verb == kDiff) return diff_help();
  if (auto text = check_help(verb)) return text;
  if (const auto text = windows_verb_help(verb); !text.empty()) return std::string(text);
  const auto* const words = find_verb(kVerbs, verb);
  if (words == nullptr) return std::nullopt;
  return std::make_unique<Grammar>()->help_of(words->text);
}

std::vector<std::string> verb_names() {
  auto names = windows_verbs();
  for (auto& verb : program_verbs()) names.push_back(std::move(verb));
  names.emplace_back(kPmu);
  names.emplace_back(kDiff);
  names.emplace_back(kCheck);
  for (auto& verb : record_verbs()) names.push_back(std::move(verb));
  for (const auto& words : kVerbs) names.emplace_back(words.text.name);
  return names;
}

}  // namespace meterbank::cli
