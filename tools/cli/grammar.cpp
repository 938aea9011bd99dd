// SPDX-License-Identifier: Apache-2.0
#include "cli/grammar.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "cli/compat/windows_grammar.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/gen/gen.hpp"
#include "cli/pmu/pmu_grammar.hpp"
#include "cli/verb_words.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

// Option values as typed; CLI11 fills them, understand() makes an Invocation of them.
struct Words {
  std::string color, timeout, wait, patience, format, units, json_int, interval, samples, duration,
      period, seed, percentiles;
  std::vector<std::string> expressions;
  bool cooked = false;
  bool version = false;
};

tl::unexpected<Error> usage(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
}

class Grammar {
 public:
  // Knows the verbs among `words` only: options that nobody can mean take time to set up.
  explicit Grammar(std::span<const std::string> words)
      : app_("Reads and publishes performance counters in shared memory", "meterbank") {
    app_.fallthrough();
    app_.set_help_flag("-h,--help", "This text");
    app_.allow_extras();
    // The first verb is the verb; behind it, "host" or "list" may be the name of a counterset.
    app_.require_subcommand(0, 1);
    add_global_options();
    for (const auto& verb : kVerbs) {
      if (std::find(words.begin(), words.end(), verb.name) != words.end()) add_verb(verb);
    }
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    // CLI11 takes the arguments last first.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
      invocation_.verb = Verb::kHelp;
      invocation_.topic = chosen() == nullptr ? std::string() : chosen()->get_name();
      return invocation_;
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string what = error.what();
      return usage(fmt::format("{} needs a value", what.substr(0, what.find(':'))), help_call());
    } catch (const CLI::ParseError& error) {
      return usage(error.what(), help_call());
    }
    if (auto known = refuse_unknown(); !known) return tl::make_unexpected(known.error());
    return understand();
  }

  [[nodiscard]] std::string help_of(const VerbWords& words) const {
    const CLI::App& verb = *app_.get_subcommand(words.name);
    return fmt::format(
        "usage: meterbank {} [OPTION...]{}\n\n{}\n\nOptions:\n{}\n"
        "With every verb:\n{}\nExamples:\n{}",
        words.name, words.operands, words.summary, options_text(verb), options_text(app_),
        words.examples);
  }

 private:
  void add_global_options() {
    auto& v = invocation_;
    text(app_, "--dir", v.selection.directory, "DIR", "Where publishers are found (METERBANK_DIR)");
    text(app_, "--color", words_.color, "WHEN", "auto, always or never");
    text(app_, "--timeout", words_.timeout, "SPAN", "Give up after this long, with exit code 124");
    app_.add_flag("-q,--quiet", v.quiet, "No remarks, only results and errors");
    app_.add_flag("-v,--verbose", v.verbose, "More words: whole paths, errno, layout version");
    app_.add_flag("--version", words_.version, "Same as meterbank version");
  }

  void add_verb(const VerbWords& words) {
    CLI::App& verb = *app_.add_subcommand(words.name, words.summary);
    verb.fallthrough();
    verb.allow_extras();
    switch (words.verb) {
      case Verb::kList:
        add_list_options(verb);
        break;
      case Verb::kGet:
      case Verb::kWatch:
        add_sampling_options(verb, words.verb);
        break;
      case Verb::kHost:
        add_host_options(verb);
        break;
      case Verb::kDemo:
        add_moment_options(verb, "Number of samples; default 3 rows, live until stopped");
        add_format(verb, "Rows in this format instead of the live table");
        text(verb, "--seed", words_.seed, "N", "Start of the load's random numbers, default 1");
        break;
      case Verb::kDoctor:
        verb.add_flag("--clean", invocation_.clean, "Remove the records of your dead publishers");
        break;
      case Verb::kVersion:
        add_format(verb, "text, or json for a machine");
        break;
      case Verb::kHelp:
        verb.add_option("TOPIC", invocation_.topic, "")->type_name("");
        break;
      // Not of this grammar: others took them before.
      case Verb::kGen:
      case Verb::kPmu:
      case Verb::kTypeperf:
      case Verb::kRelog:
        break;
    }
  }

  void add_selection_options(CLI::App& verb) {
    auto& selection = invocation_.selection;
    verb.add_option("PATH", selection.paths, "")->type_name("");
    text(verb, "-c,--paths-from", selection.paths_from, "FILE", "Paths from a file, one a line");
    verb.add_option("-X,--exclude", selection.excluded, "Leave these paths out, again and again")
        ->type_name("PATH")
        ->allow_extra_args(false);
    text(verb, "--publisher", selection.publisher, "NAME", "Only this publisher: NAME or NAME@PID");
    text(verb, "--wait", words_.wait, "SPAN", "Wait so long for what is not there yet");
    text(verb, "--patience", words_.patience, "SPAN",
         "Wait so long for values that are computed on demand, default 1s");
  }

  void add_format(CLI::App& verb, const char* description) {
    text(verb, "-f,--format", words_.format, "FORMAT", description);
  }

  void add_list_options(CLI::App& verb) {
    auto& v = invocation_;
    verb.add_flag("-l,--long", v.details, "All that is known: kind, unit, help, ids, instances");
    verb.add_flag("--instances", v.instances, "Instances instead of counters");
    verb.add_flag("--publishers", v.publishers, "Publishers instead of countersets");
    verb.add_flag("--registrations", v.registrations,
                  "Every registration, also closed ones, and how many readers are interested");
    add_selection_options(verb);
    add_format(verb, "table plain tsv csv json jsonl");
    text(verb, "-o,--output", v.output, "FILE", "Write a file, complete or not at all");
  }

  void add_moment_options(CLI::App& verb, const char* samples) {
    text(verb, "-i,--interval", words_.interval, "SPAN", "Time between samples, default 1s");
    text(verb, "-n,--samples", words_.samples, "N", samples);
    text(verb, "--for", words_.duration, "SPAN", "For so long instead of a number of samples");
  }

  void add_sampling_options(CLI::App& verb, Verb which) {
    auto& v = invocation_;
    const bool get = which == Verb::kGet;
    add_selection_options(verb);
    add_moment_options(verb, get ? "Number of samples, default 1; 0: until stopped"
                                 : "Number of samples, default 0: until stopped");
    add_format(verb, get ? "table plain tsv csv json jsonl pdh-csv pdh-tsv"
                         : "Rows in this format instead of the live table");
    if (get) {
      verb.add_option("-e,--expr", words_.expressions, "Derived value, again and again")
          ->type_name("'N = ...'")
          ->allow_extra_args(false);
    }
    text(verb, "-p,--percentiles", words_.percentiles, "LIST",
         "Of distributions: default 50,99,99.9; or none");
    if (get) verb.add_flag("--hist", v.histograms, "Distributions as bars; as buckets in JSON");
    verb.add_flag("--raw", v.raw, "Stored values instead of rates and shares");
    verb.add_flag("--cooked", words_.cooked, "Rates and shares (the default)");
    text(verb, "--units", words_.units, "STYLE", "auto: scaled; base: as they are");
    text(verb, "--json-int", words_.json_int, "FORM", "number, or string for JavaScript");
    text(verb, "-o,--output", v.output, "FILE", "Write a file, complete or not at all");
    verb.add_flag("--strict", v.strict, "Fail if a path matches nothing or a value is missing");
  }

  void add_host_options(CLI::App& verb) {
    auto& v = invocation_;
    text(verb, "--name", v.name, "NAME", "Name of the publisher, default host");
    text(verb, "--period", words_.period, "SPAN", "How often values are renewed, default 250ms");
    text(verb, "--for", words_.duration, "SPAN", "How long; default until stopped");
    verb.add_flag_callback(
        "--no-processes", [&v] { v.processes = false; }, "Leave single processes out");
  }

  static void text(CLI::App& app, const char* names, std::string& target, const char* placeholder,
                   const char* description) {
    // The last one counts, so that an alias can be overridden.
    app.add_option(names, target, description)
        ->type_name(placeholder)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check(
            // Nearly always a variable of a script that was not set.
            [](const std::string& value) { return std::string(value.empty() ? "is empty" : ""); },
            "");
  }

  [[nodiscard]] const CLI::App* chosen() const {
    const auto parsed = app_.get_subcommands();
    return parsed.empty() ? nullptr : parsed.front();
  }

  [[nodiscard]] std::string verb_and_space() const {
    return chosen() == nullptr ? std::string() : chosen()->get_name() + " ";
  }

  [[nodiscard]] std::string help_call() const {
    return fmt::format("meterbank {}--help", verb_and_space());
  }

  // What CLI11 could not place: options that do not exist, operands where none belong, and the
  // verb itself if it is misspelt.
  Result<void> refuse_unknown() const {
    const auto extras = app_.remaining(true);
    if (extras.empty()) return {};
    const auto& first = extras.front();
    if (first.size() > 1 && first.front() == '-') return unknown_option(first);
    if (first == kGen || first == kPmu) {
      return usage(first + " stands before all options", "meterbank " + first + " ...");
    }
    if (chosen() == nullptr) {
      const auto near = best_match(first, verb_names());
      return usage(fmt::format("no verb '{}'", first), near.value_or("meterbank help"));
    }
    return usage(fmt::format("{}takes no '{}'", verb_and_space(), first), help_call());
  }

  tl::unexpected<Error> unknown_option(std::string option) const {
    option = option.substr(0, option.find('='));
    if (chosen() != nullptr && chosen()->get_option_no_throw(option) != nullptr) {
      return usage(fmt::format("option '{}' stands before its verb", option),
                   fmt::format("meterbank {} ... {}", chosen()->get_name(), option));
    }
    NearestName nearest(option);
    for (const CLI::App* app : {chosen(), &app_}) {
      if (app == nullptr) continue;
      for (const CLI::Option* known : app->get_options()) {
        for (const auto& name : known->get_lnames()) nearest.consider("--" + name);
      }
    }
    const auto scope = chosen() == nullptr ? std::string() : " for " + chosen()->get_name();
    return usage(fmt::format("no option '{}'{}", option, scope),
                 nearest.best().value_or(help_call()));
  }

  static Result<void> read_span(const std::string& word, const char* option,
                                std::optional<Span>& target) {
    if (word.empty()) return {};
    target = parse_duration(word);
    if (target) return {};
    return usage(fmt::format("{}: '{}' is no span of time", option, word), "250ms, 5m or 00:01:30");
  }

  static Result<void> read_number(const std::string& word, const char* option,
                                  std::optional<std::uint64_t>& target) {
    if (word.empty()) return {};
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
      return usage(fmt::format("{}: '{}' is no number", option, word), "0, 1, 2 ...");
    }
    target = number;
    return {};
  }

  // The choice that `word` names, or an error with the nearest one.
  template <typename T>
  static Result<void> choose(const std::string& word, const char* option,
                             std::initializer_list<std::pair<const char*, T>> choices, T& target) {
    if (word.empty()) return {};
    NearestName nearest(word);
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (word == name) {
        target = value;
        return {};
      }
      nearest.consider(name);
      names.emplace_back(name);
    }
    return usage(fmt::format("{}: no '{}'", option, word),
                 nearest.best().value_or(fmt::format("{}", fmt::join(names, ", "))));
  }

  Result<void> read_choices() {
    auto& v = invocation_;
    auto result = choose(
        words_.color, "--color",
        {{"auto", ColorWhen::kAuto}, {"always", ColorWhen::kAlways}, {"never", ColorWhen::kNever}},
        v.color);
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
    const bool log = *format == Format::kPdhCsv || *format == Format::kPdhTsv;
    if (log && (v.verb == Verb::kList || v.verb == Verb::kVersion)) {
      return usage(fmt::format("-f {} is for values", words_.format), "-f csv or -f json");
    }
    v.format = *format;
    return {};
  }

  Result<void> read_spans_and_numbers() {
    auto& v = invocation_;
    std::optional<Span> interval, patience;
    std::optional<std::uint64_t> seed;
    struct SpanWord {
      const std::string& word;
      const char* option;
      std::optional<Span>& target;
    };
    for (const auto& span :
         {SpanWord{words_.timeout, "--timeout", v.timeout},
          SpanWord{words_.wait, "--wait", v.selection.wait},
          SpanWord{words_.patience, "--patience", patience},
          SpanWord{words_.interval, "-i", interval}, SpanWord{words_.duration, "--for", v.duration},
          SpanWord{words_.period, "--period", v.period}}) {
      if (auto read = read_span(span.word, span.option, span.target); !read) return read;
    }
    if (interval) v.interval = *interval;
    if (patience) v.selection.patience = *patience;
    // A shorter distance than this would be a busy loop under another name.
    if (v.interval < std::chrono::microseconds(100)) {
      return usage("-i: too short an interval", "100us or more");
    }
    if (v.period && *v.period < std::chrono::milliseconds(1)) {
      return usage("--period: too short", "1ms or more");
    }
    if (auto read = read_number(words_.samples, "-n", v.samples); !read) return read;
    if (auto read = read_number(words_.seed, "--seed", seed); !read) return read;
    v.seed = seed.value_or(v.seed);
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

  Result<Invocation> understand() {
    const auto* verb = chosen();
    if (verb == nullptr && !words_.version) {
      return usage("no verb", "meterbank help");
    }
    const std::string name = verb == nullptr ? "version" : verb->get_name();
    for (const auto& words : kVerbs) {
      if (name == words.name) invocation_.verb = words.verb;
    }
    if (auto read = read_choices(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_spans_and_numbers(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_expressions(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_distributions(); !read) return tl::make_unexpected(read.error());
    // As good as --dir: what is wrong with it is then an error and not just a place less to look
    // in.
    const char* const directory = ::secure_getenv("METERBANK_DIR");
    if (invocation_.selection.directory.empty() && directory != nullptr) {
      invocation_.selection.directory = directory;
    }
    if (words_.cooked && invocation_.raw) return usage("--raw and --cooked", "one of them");
    const int kinds = static_cast<int>(invocation_.instances) +
                      static_cast<int>(invocation_.publishers) +
                      static_cast<int>(invocation_.registrations);
    if (kinds > 1) {
      return usage("more than one of --instances, --publishers and --registrations", "one of them");
    }
    return invocation_;
  }

  static std::string options_text(const CLI::App& app) {
    std::string out;
    for (const CLI::Option* option : app.get_options()) {
      // With every verb, so it is listed there.
      if (option->get_positional() || (app.get_parent() != nullptr && option == app.get_help_ptr()))
        continue;
      std::string names;
      for (const auto& name : option->get_snames()) names += "-" + name + ", ";
      if (names.empty()) names = "    ";
      for (const auto& name : option->get_lnames()) names += "--" + name;
      if (option->get_type_size() > 0) names += " " + option->get_type_name();
      out += "  " + fit(names, 26) + "  " + option->get_description() + "\n";
    }
    return out;
  }

  CLI::App app_;
  Invocation invocation_;
  Words words_;
};

}  // namespace

Result<Invocation> parse_arguments(std::span<const std::string> arguments) {
  if (auto parsed = parse_gen_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_pmu_arguments(arguments)) return *std::move(parsed);
  if (auto parsed = parse_windows_arguments(arguments)) return *std::move(parsed);
  return std::make_unique<Grammar>(arguments)->parse(arguments);
}

std::optional<std::string> verb_help(std::string_view verb) {
  if (verb == kGen) return std::string(gen_help());
  if (auto text = pmu_help(verb)) return text;
  if (const auto text = windows_verb_help(verb); !text.empty()) return std::string(text);
  for (const auto& words : kVerbs) {
    const std::string name = words.name;
    if (verb == name) return Grammar({&name, 1}).help_of(words);
  }
  return std::nullopt;
}

std::vector<std::string> verb_names() {
  auto names = windows_verbs();
  names.reserve(names.size() + std::size(kVerbs) + 2);
  names.emplace_back(kGen);
  names.emplace_back(kPmu);
  for (const auto& words : kVerbs) names.emplace_back(words.name);
  return names;
}

}  // namespace meterbank::cli
