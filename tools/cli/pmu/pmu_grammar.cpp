// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/pmu_grammar.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/pmu_words.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank::cli {
namespace {

// As typed.
struct Words {
  std::string color, timeout, format, events, wait, priority, duty, interval, duration, drain;
  std::vector<std::string> operands;
};

tl::unexpected<Error> usage(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
}

bool asks(PmuAction action) {
  switch (action) {
    case PmuAction::kRun:
    case PmuAction::kHold:
    case PmuAction::kWait:
      return true;
    default:
      return false;
  }
}

class PmuGrammar {
 public:
  PmuGrammar() : app_("", "meterbank pmu") {
    app_.fallthrough();
    app_.set_help_flag("-h,--help", "This text");
    app_.allow_extras();
    app_.require_subcommand(0, 1);
    auto& v = invocation_;
    text(app_, "--dir", v.selection.directory, "DIR", "Where the arbiter is found (METERBANK_DIR)");
    text(app_, "--color", words_.color, "WHEN", "auto, always or never");
    text(app_, "--timeout", words_.timeout, "SPAN", "Give up after this long, with exit code 124");
    app_.add_flag("-v,--verbose", v.verbose, "More words");
    for (const auto& words : kPmuActions) add_action(words);
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    // A command behind -- is nobody's business but its own.
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    if (end != arguments.end()) invocation_.pmu.command.assign(end + 1, arguments.end());
    has_separator_ = end != arguments.end();
    std::vector<std::string> own(arguments.begin(), end);
    // Without it the command begins with the first word that cannot be an option's.
    std::vector<std::string> reversed(own.rbegin(), own.rend());
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
      invocation_.verb = Verb::kHelp;
      invocation_.topic = chosen() == nullptr ? kPmu : fmt::format("pmu {}", chosen()->get_name());
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

  [[nodiscard]] std::string help_of(const PmuWords& words) const {
    const CLI::App& action = *app_.get_subcommand(words.name);
    return fmt::format(
        "usage: meterbank pmu {} [OPTION...]{}\n\n{}\n\nOptions:\n{}\nWith every action:\n{}\n"
        "Examples:\n{}",
        words.name, words.operands, words.summary, options_text(action), options_text(app_),
        words.examples);
  }

 private:
  void add_action(const PmuWords& words) {
    CLI::App& action = *app_.add_subcommand(words.name, words.summary);
    action.fallthrough();
    action.allow_extras();
    auto& v = invocation_.pmu;
    const auto which = words.action;
    if (which == PmuAction::kList) {
      action.add_flag("-l,--long", v.details, "Names of events, too");
      action.add_option("PMU", words_.operands, "")->type_name("");
    } else if (which != PmuAction::kLeases) {
      action.add_option("OPERAND", words_.operands, "")->type_name("");
    }
    if (asks(which) || which == PmuAction::kProbe) {
      text(action, "-e,--events", words_.events, "EVENTS", "A list with commas; see below");
    }
    if (asks(which)) add_request_options(action, which);
    if (which == PmuAction::kProbe || which == PmuAction::kReserve || asks(which)) {
      text(action, "--cpus", v.cpus, "LIST",
           which == PmuAction::kRun ? "All that runs there (0-3,8), not the command alone"
                                    : "0-3,8; default all that are online");
    }
    if (which != PmuAction::kList && which != PmuAction::kLeases && which != PmuAction::kRevoke) {
      text(action, "--pmu", v.pmu, "NAME", "Default the first one that covers the CPUs");
    }
    if (which == PmuAction::kRevoke && std::string_view(words.name) == "revoke") {
      text(action, "--drain", words_.drain, "SPAN", "For the holder's last values, default 200ms");
    }
    if (which == PmuAction::kLeases) {
      action.add_flag("-q,--queue", v.queue, "Who waits, too");
    }
    if (which == PmuAction::kList || which == PmuAction::kLeases || which == PmuAction::kWho ||
        which == PmuAction::kRun) {
      text(action, "-f,--format", words_.format, "FORMAT", "table plain tsv csv json");
      text(action, "-o,--output", invocation_.output, "FILE",
           which == PmuAction::kRun ? "Default standard error"
                                    : "Write a file, complete or not at all");
    }
  }

  void add_request_options(CLI::App& action, PmuAction which) {
    auto& v = invocation_.pmu;
    if (which == PmuAction::kWait) {
      text(action, "--for", words_.wait, "SPAN", "Give up after this long; default never");
    } else {
      text(action, "--wait", words_.wait, "SPAN", "Wait so long for counters; default not at all");
    }
    text(action, "--priority", words_.priority, "CLASS",
         "batch, monitoring (default), interactive, critical");
    text(action, "--label", v.label, "TEXT", "Shown to others: what it is for");
    if (which == PmuAction::kWait) return;
    action.add_flag("--share", v.shares, "Others may count the same events on the same counters");
    text(action, "--duty", words_.duty, "PERCENT", "Content with counters for a part of the time");
    if (which == PmuAction::kHold) {
      text(action, "--for", words_.duration, "SPAN", "How long; default until stopped");
    }
    if (which == PmuAction::kRun) {
      action.add_flag("-A,--per-cpu", v.per_cpu, "A row for each CPU instead of the sum");
      text(action, "-i,--interval", words_.interval, "SPAN", "What was counted, again and again");
    }
  }

  static void text(CLI::App& app, const char* names, std::string& target, const char* placeholder,
                   const char* description) {
    app.add_option(names, target, description)
        ->type_name(placeholder)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check(
            [](const std::string& value) { return std::string(value.empty() ? "is empty" : ""); },
            "");
  }

  [[nodiscard]] const CLI::App* chosen() const {
    const auto parsed = app_.get_subcommands();
    return parsed.empty() ? nullptr : parsed.front();
  }

  [[nodiscard]] std::string help_call() const {
    return fmt::format("meterbank pmu {}--help",
                       chosen() == nullptr ? std::string() : chosen()->get_name() + " ");
  }

  Result<void> refuse_unknown() const {
    const auto extras = app_.remaining(true);
    if (extras.empty()) return {};
    const std::string first = extras.front().substr(0, extras.front().find('='));
    if (first.size() > 1 && first.front() == '-') {
      NearestName nearest(first);
      for (const CLI::App* app : {chosen(), &app_}) {
        if (app == nullptr) continue;
        for (const CLI::Option* known : app->get_options()) {
          for (const auto& name : known->get_lnames()) nearest.consider("--" + name);
        }
      }
      const bool is_of_command = chosen() != nullptr && chosen()->get_name() == "run";
      return usage(fmt::format("no option '{}'{}", first,
                               chosen() == nullptr ? "" : " for pmu " + chosen()->get_name()),
                   nearest.best().value_or(is_of_command ? "-- before the command" : help_call()));
    }
    if (chosen() == nullptr) {
      NearestName nearest(first);
      for (const auto& words : kPmuActions) nearest.consider(words.name);
      const auto near = nearest.best();
      return usage(fmt::format("pmu: no action '{}'", first),
                   near ? "meterbank pmu " + *near : "meterbank pmu --help");
    }
    return usage(fmt::format("pmu {} takes no '{}'", chosen()->get_name(), first), help_call());
  }

  static Result<void> read_span(const std::string& word, const char* option,
                                std::optional<Span>& target) {
    if (word.empty()) return {};
    target = parse_duration(word);
    if (target) return {};
    return usage(fmt::format("{}: '{}' is no span of time", option, word), "250ms, 5m or 00:01:30");
  }

  Result<void> read_spans() {
    auto& v = invocation_;
    std::optional<Span> drain;
    const char* const wait = v.pmu.action == PmuAction::kWait ? "--for" : "--wait";
    for (auto read : {read_span(words_.timeout, "--timeout", v.timeout),
                      read_span(words_.wait, wait, v.pmu.wait),
                      read_span(words_.interval, "-i", v.pmu.interval),
                      read_span(words_.duration, "--for", v.duration),
                      read_span(words_.drain, "--drain", drain)}) {
      if (!read) return read;
    }
    if (drain) v.pmu.drain = *drain;
    if (std::string_view(chosen()->get_name()) == "release") v.pmu.drain = {};
    if (v.pmu.interval && *v.pmu.interval < std::chrono::milliseconds(10)) {
      return usage("-i: too short an interval", "10ms or more");
    }
    return {};
  }

  Result<void> read_choices() {
    auto& v = invocation_;
    const auto choose = [](const std::string& word, const char* option, auto choices,
                           auto& target) -> Result<void> {
      if (word.empty()) return {};
      NearestName nearest(word);
      std::string all;
      for (const auto& [name, value] : choices) {
        if (word == name) {
          target = value;
          return {};
        }
        nearest.consider(name);
        all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
      }
      return usage(fmt::format("{}: no '{}'", option, word), nearest.best().value_or(all));
    };
    using pmu::Priority;
    using Colors = std::vector<std::pair<const char*, ColorWhen>>;
    using Priorities = std::vector<std::pair<const char*, Priority>>;
    using Formats = std::vector<std::pair<const char*, Format>>;
    for (auto read : {choose(words_.color, "--color",
                             Colors{{"auto", ColorWhen::kAuto},
                                    {"always", ColorWhen::kAlways},
                                    {"never", ColorWhen::kNever}},
                             v.color),
                      choose(words_.priority, "--priority",
                             Priorities{{"batch", Priority::kBatch},
                                        {"monitoring", Priority::kMonitoring},
                                        {"interactive", Priority::kInteractive},
                                        {"critical", Priority::kCritical}},
                             v.pmu.priority),
                      choose(words_.format, "-f",
                             Formats{{"table", Format::kTable},
                                     {"plain", Format::kPlain},
                                     {"tsv", Format::kTsv},
                                     {"csv", Format::kCsv},
                                     {"json", Format::kJson}},
                             v.format)}) {
      if (!read) return read;
    }
    return read_duty();
  }

  Result<void> read_duty() {
    std::string_view word = words_.duty;
    if (word.empty()) return {};
    if (word.ends_with('%')) word.remove_suffix(1);
    std::uint32_t percent = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), percent);
    if (error != std::errc{} || end != word.data() + word.size() || percent == 0 || percent > 100) {
      return usage(fmt::format("--duty: '{}' is no share of the time", words_.duty), "50%");
    }
    invocation_.pmu.duty_permille = percent * 10;
    return {};
  }

  // What stands without an option.
  Result<void> read_operands() {
    auto& v = invocation_.pmu;
    auto operands = std::move(words_.operands);
    const std::string name = chosen()->get_name();
    if (v.action == PmuAction::kRun) {
      // `run -e cycles sleep 1`: words of a command without options of its own need no --.
      if (!has_separator_) {
        v.command = std::move(operands);
      } else if (!operands.empty()) {
        return usage(fmt::format("pmu run takes no '{}' before --", operands.front()), help_call());
      }
      if (v.command.empty()) return usage("pmu run: no command", "... -- COMMAND");
      operands.clear();
    } else if (has_separator_) {
      return usage(fmt::format("pmu {} runs no command", name), help_call());
    }
    if (v.action == PmuAction::kWho) {
      v.places = std::move(operands);
      return {};
    }
    if (operands.size() > 1) {
      return usage(fmt::format("pmu {} takes no '{}'", name, operands[1]), help_call());
    }
    const std::string operand = operands.empty() ? std::string() : operands.front();
    switch (v.action) {
      case PmuAction::kList:
        v.pmu = operand;
        return {};
      case PmuAction::kReserve:
        return read_count(operand);
      case PmuAction::kRevoke:
        return read_token(operand);
      case PmuAction::kLeases:
        return {};
      default:
        return read_events(operand);
    }
  }

  Result<void> read_count(const std::string& operand) {
    const auto [end, error] =
        std::from_chars(operand.data(), operand.data() + operand.size(), invocation_.pmu.counters);
    if (!operand.empty() && error == std::errc{} && end == operand.data() + operand.size()) {
      return {};
    }
    return usage(operand.empty() ? "pmu reserve: how many counters?"
                                 : fmt::format("pmu reserve: '{}' is no number", operand),
                 "meterbank pmu reserve 1");
  }

  Result<void> read_token(const std::string& operand) {
    std::string_view digits = operand;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    auto& token = invocation_.pmu.token;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), token, 16);
    if (!digits.empty() && error == std::errc{} && end == digits.data() + digits.size()) return {};
    return usage(operand.empty() ? fmt::format("pmu {}: which lease?", chosen()->get_name())
                                 : fmt::format("'{}' is no token", operand),
                 "meterbank pmu leases -v, which shows tokens");
  }

  Result<void> read_events(const std::string& operand) {
    auto& v = invocation_.pmu;
    const std::string name = chosen()->get_name();
    if (!words_.events.empty() && !operand.empty()) {
      return usage(fmt::format("pmu {}: a number and -e", name), "one of them");
    }
    const std::string& word = operand.empty() ? words_.events : operand;
    if (word.empty()) {
      return usage(fmt::format("pmu {}: which events?", name), "-e cycles,instructions");
    }
    auto events = parse_events(word);
    if (!events) return tl::make_unexpected(events.error());
    v.events = std::move(*events);
    if (v.events.front().is_breakpoint && v.pmu.empty()) v.pmu = pmu::kBreakpointPmu;
    const auto silent = std::find_if(v.events.begin(), v.events.end(),
                                     [](const EventWord& event) { return !event.counts(); });
    if (v.action == PmuAction::kRun && silent != v.events.end()) {
      return usage(fmt::format("pmu run: '{}' counts nothing", silent->text),
                   "an event, or meterbank pmu hold");
    }
    if (v.action == PmuAction::kProbe && v.events.size() > 1) {
      return usage("pmu probe: more than one event", "one of them");
    }
    return {};
  }

  Result<Invocation> understand() {
    if (chosen() == nullptr) return usage("pmu: no action", "meterbank pmu --help");
    const std::string name = chosen()->get_name();
    invocation_.verb = Verb::kPmu;
    for (const auto& words : kPmuActions) {
      if (name == words.name) invocation_.pmu.action = words.action;
    }
    if (auto read = read_choices(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_spans(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_operands(); !read) return tl::make_unexpected(read.error());
    return invocation_;
  }

  static std::string options_text(const CLI::App& app) {
    std::string out;
    for (const CLI::Option* option : app.get_options()) {
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
  bool has_separator_ = false;
};

}  // namespace

std::optional<Result<Invocation>> parse_pmu_arguments(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front() != kPmu) return std::nullopt;
  return std::make_unique<PmuGrammar>()->parse(arguments.subspan(1));
}

std::optional<std::string> pmu_help(std::string_view topic) {
  if (topic == kPmu) return kPmuOverview;
  constexpr std::string_view kPrefix = "pmu ";
  if (!topic.starts_with(kPrefix)) return std::nullopt;
  for (const auto& words : kPmuActions) {
    if (topic.substr(kPrefix.size()) == words.name) {
      return std::make_unique<PmuGrammar>()->help_of(words);
    }
  }
  return std::nullopt;
}

}  // namespace meterbank::cli
