// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/grammar/pmu_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/arguments/verb_parser.hpp"
#include "cli/pmu/grammar/pmu_words.hpp"

namespace meterbank::cli {
namespace {

// As typed.
struct PmuWords {
  CommonWords common;
  std::string format, events, wait, priority, duty, interval, duration, drain;
  std::vector<std::string> operands;
};

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
  PmuGrammar() {
    // -q is the queue of leases.
    add_common_options(parser_.options_of_all(), words_.common, invocation_,
                       {.quiet = "--quiet",
                        .directory = "Where the arbiter is found (METERBANK_DIR)",
                        .verbose = "More columns and words"});
    for (const auto& words : kPmuActions) {
      parser_.add(words.text, [this, &words](OptionTable own) { add_options(own, words); });
    }
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    // The words behind -- belong to the command. Without it the command begins with
    // the first word that cannot be an option's.
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    if (end != arguments.end()) invocation_.pmu.command.assign(end + 1, arguments.end());
    has_separator_ = end != arguments.end();
    if (!has_separator_) parser_.set_remedy("run", "-- before the command");
    const auto parsed =
        parser_.parse(arguments.first(static_cast<std::size_t>(end - arguments.begin())));
    if (!parsed) return tl::make_unexpected(parsed.error());
    name_ = parsed->verb;
    if (!parsed->wants_help) return understand();
    invocation_.verb = Verb::kHelp;
    invocation_.topic = name_.empty() ? kPmu : fmt::format("pmu {}", name_);
    return invocation_;
  }

  [[nodiscard]] std::string help_of(const VerbText& text) { return parser_.help_of(text); }

 private:
  void add_options(OptionTable options, const VerbWords<PmuAction>& words) {
    auto& v = invocation_.pmu;
    const auto which = words.verb;
    if (which == PmuAction::kList) options.flag("-l,--long", v.details, "List event names too");
    if (which != PmuAction::kLeases) options.operands(words_.operands);
    if (asks(which) || which == PmuAction::kProbe) {
      options.text("-e,--events", words_.events, "EVENTS",
                   "Comma-separated events; see meterbank pmu --help");
    }
    if (asks(which)) add_request_options(options, which);
    if (which == PmuAction::kProbe || which == PmuAction::kReserve || asks(which)) {
      options.text("--cpus", v.cpus, "LIST",
                   which == PmuAction::kRun ? "Count everything on these CPUs (0-3,8)"
                                            : "CPUs (0-3,8), default: all online CPUs");
    }
    if (which != PmuAction::kList && which != PmuAction::kLeases && which != PmuAction::kRevoke) {
      options.text("--pmu", v.pmu, "NAME", "PMU, default: the first one that covers the CPUs");
    }
    if (which == PmuAction::kRevoke && std::string_view(words.text.name) == "revoke") {
      options.text("--drain", words_.drain, "SPAN",
                   "Time for the holder's last values, default 200ms");
    }
    if (which == PmuAction::kLeases) {
      options.flag("-q,--queue", v.queue, "List waiting requests too");
    }
    if (which == PmuAction::kList || which == PmuAction::kLeases || which == PmuAction::kWho ||
        which == PmuAction::kRun) {
      options.text("-f,--format", words_.format, "FORMAT", "table plain tsv csv json");
      options.text("-o,--output", invocation_.output, "FILE",
                   which == PmuAction::kRun ? "Write FILE instead of standard error"
                                            : "Write FILE; it appears when it is complete");
    }
  }

  void add_request_options(OptionTable options, PmuAction which) {
    auto& v = invocation_.pmu;
    if (which == PmuAction::kWait) {
      options.text("--for", words_.wait, "SPAN", "Give up after SPAN, default: never");
    } else {
      options.text("--wait", words_.wait, "SPAN",
                   "Wait up to SPAN for counters, default: do not wait");
    }
    options.text("--priority", words_.priority, "CLASS",
                 "batch, monitoring (default), interactive, critical");
    options.text("--label", v.label, "TEXT", "Purpose, shown in pmu leases");
    if (which == PmuAction::kWait) return;
    options.flag("--share", v.shares, "Share these counters with equal requests");
    options.text("--duty", words_.duty, "PERCENT", "Accept counters for PERCENT of the time");
    if (which == PmuAction::kHold) {
      options.text("--for", words_.duration, "SPAN", "Stop after SPAN, default: run until stopped");
    }
    if (which == PmuAction::kRun) {
      options.flag("-A,--per-cpu", v.per_cpu, "Print a row for each CPU instead of the sum");
      options.text("-i,--interval", words_.interval, "SPAN", "Print counts every SPAN");
    }
  }

  Result<void> read_spans() {
    auto& v = invocation_;
    std::optional<Span> drain;
    const char* const wait = v.pmu.action == PmuAction::kWait ? "--for" : "--wait";
    for (auto read : {read_span(words_.wait, wait, v.pmu.wait),
                      read_span(words_.interval, "-i", v.pmu.interval),
                      read_span(words_.duration, "--for", v.duration),
                      read_span(words_.drain, "--drain", drain)}) {
      if (!read) return read;
    }
    if (drain) v.pmu.drain = *drain;
    if (name_ == "release") v.pmu.drain = {};
    if (v.pmu.interval && *v.pmu.interval < std::chrono::milliseconds(10)) {
      return usage("-i: too short an interval", "10ms or more");
    }
    return {};
  }

  Result<void> read_choices() {
    auto& v = invocation_;
    using pmu::Priority;
    for (auto read : {words_.common.understand(v),
                      choose(words_.priority, "--priority",
                             {{"batch", Priority::kBatch},
                              {"monitoring", Priority::kMonitoring},
                              {"interactive", Priority::kInteractive},
                              {"critical", Priority::kCritical}},
                             v.pmu.priority),
                      choose(words_.format, "-f",
                             {{"table", Format::kTable},
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
    const auto percent = whole_number(word);
    if (!percent || *percent == 0 || *percent > 100) {
      return usage(fmt::format("--duty: '{}' is not a percentage", words_.duty), "50%");
    }
    invocation_.pmu.duty_permille = static_cast<std::uint32_t>(*percent * 10);
    return {};
  }

  // What stands without an option.
  Result<void> read_operands() {
    auto& v = invocation_.pmu;
    auto operands = std::move(words_.operands);
    if (v.action == PmuAction::kRun) {
      // `run -e cycles sleep 1`: words of a command without options of its own need no --.
      if (!has_separator_) {
        v.command = std::move(operands);
      } else if (!operands.empty()) {
        return usage(fmt::format("pmu run takes no '{}' before --", operands.front()),
                     parser_.help_call());
      }
      if (v.command.empty()) return usage("pmu run: no command", "... -- COMMAND");
      operands.clear();
    } else if (has_separator_) {
      return usage(fmt::format("pmu {} runs no command", name_), parser_.help_call());
    }
    if (v.action == PmuAction::kWho) {
      v.places = std::move(operands);
      return {};
    }
    if (operands.size() > 1) {
      return usage(fmt::format("pmu {} takes no '{}'", name_, operands[1]), parser_.help_call());
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
    const auto count = whole_number(operand);
    if (count && *count <= std::numeric_limits<std::uint32_t>::max()) {
      invocation_.pmu.counters = static_cast<std::uint32_t>(*count);
      return {};
    }
    return usage(operand.empty() ? "pmu reserve: the number of counters is missing"
                                 : fmt::format("pmu reserve: '{}' is not a number", operand),
                 "meterbank pmu reserve 1");
  }

  Result<void> read_token(const std::string& operand) {
    std::string_view digits = operand;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    if (const auto token = whole_number(digits, 16)) {
      invocation_.pmu.token = *token;
      return {};
    }
    return usage(operand.empty() ? fmt::format("pmu {}: which lease?", name_)
                                 : fmt::format("'{}' is not a token", operand),
                 "meterbank pmu leases -v, which shows tokens");
  }

  Result<void> read_events(const std::string& operand) {
    auto& v = invocation_.pmu;
    if (!words_.events.empty() && !operand.empty()) {
      return usage(fmt::format("pmu {}: a number and -e", name_), "one of them");
    }
    const std::string& word = operand.empty() ? words_.events : operand;
    if (word.empty()) {
      return usage(fmt::format("pmu {}: which events?", name_), "-e cycles,instructions");
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
    if (name_.empty()) return usage("no pmu action", "meterbank pmu --help");
    invocation_.verb = Verb::kPmu;
    invocation_.pmu.action = find_verb(kPmuActions, name_)->verb;
    if (auto read = read_choices(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_spans(); !read) return tl::make_unexpected(read.error());
    if (auto read = read_operands(); !read) return tl::make_unexpected(read.error());
    return invocation_;
  }

  VerbParser parser_{{.call = "meterbank pmu", .noun = "action"}};
  Invocation invocation_;
  PmuWords words_;
  std::string name_;  // of the action
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
  const auto* const words = find_verb(kPmuActions, topic.substr(kPrefix.size()));
  if (words == nullptr) return std::nullopt;
  return std::make_unique<PmuGrammar>()->help_of(words->text);
}

}  // namespace meterbank::cli
