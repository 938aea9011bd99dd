// SPDX-License-Identifier: Apache-2.0
#include "cli/check/check_grammar.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/arguments/verb_parser.hpp"

namespace meterbank::cli {
namespace {

constexpr VerbText kCheckText{
    "check", " CONDITION...",
    "Tests conditions on values and exits as monitoring plugins do: 0 OK, 1 WARNING,\n"
    "2 CRITICAL, 3 UNKNOWN. A CONDITION is 'LEFT OP VALUE' and says what is bad. LEFT is a\n"
    "path, a path with a percentile (latency.p99) or an expression with paths in braces; OP\n"
    "is one of > >= < <= == !=; VALUE is a number with an optional unit, or a text in quotes.\n"
    "See also: meterbank help exit-codes",
    "  meterbank check 'demo_orders/*/latency.p99 > 5ms'\n"
    "  meterbank check -w 'memory/free_bytes < 2GiB' -c 'memory/free_bytes < 500MiB' -n 5\n"
    "  meterbank check --stale 10s --provider shop\n"};

class CheckGrammar {
 public:
  CheckGrammar() : parser_({}) {
    add_common_options(parser_.options_of_all(), common_, invocation_, {});
    parser_.add(kCheckText, [this](OptionTable own) { add_options(own); });
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    const auto parsed = parser_.parse(arguments);
    if (!parsed) return tl::make_unexpected(parsed.error());
    if (parsed->wants_help) {
      invocation_.topic = kCheck;
      return invocation_;
    }
    invocation_.verb = Verb::kCheck;
    if (auto read = understand(); !read) return tl::make_unexpected(read.error());
    return invocation_;
  }

  [[nodiscard]] std::string help() { return parser_.help_of(kCheckText); }

 private:
  void add_options(OptionTable options) {
    auto& selection = invocation_.selection;
    options.operands(bare_);
    options.texts("-w,--warning", warnings_, "CONDITION", "WARNING if it holds (repeatable)");
    options.texts("-c,--critical", criticals_, "CONDITION",
                  "CRITICAL if it holds (repeatable); so is a CONDITION without an option");
    options.text("--stale", stale_, "SPAN",
                 "CRITICAL if a provider is dead, hung or silent for SPAN");
    options.text("-n,--samples", samples_, "N",
                 "A condition has to hold in N samples in a row, default 1");
    options.text("-i,--interval", interval_, "SPAN", "Time between samples, default 1s");
    options.text("-f,--format", format_, "FORMAT", "text or json");
    options.text("--log", selection.log.path, "FILE|DIR", "Check a recording");
    options.text("--at", selection.log.at, "TIME", "Of a recording: as it was at TIME");
    options.text("--from", selection.log.from, "TIME", "Of a recording: from TIME on");
    options.text("--to", selection.log.to, "TIME", "Of a recording: until TIME");
    options.text("--every", every_, "SPAN", "Of a recording: samples SPAN apart instead of all");
    options.text("--provider", selection.provider, "NAME", "Only this provider: NAME or NAME@PID");
    options.texts("--where", where_, "LABEL=GLOB",
                  "Only where pid, uid, cgroup, container, pod or unit match");
    options.texts("-X,--exclude", selection.excluded, "PATH", "Exclude PATH (repeatable)");
    options.flag("--across-users", selection.across_users, "Totals include other users' rows");
    options.flag("--all-namespaces", selection.all_namespaces,
                 "Look into all processes for providers, as root");
    options.text("--wait", wait_, "SPAN", "Wait up to SPAN for missing counters");
    options.text("--callback-timeout", callback_timeout_, "SPAN",
                 "Wait up to SPAN for callbacks, default 1s");
  }

  Result<void> add_rules(const std::vector<std::string>& words, CheckState severity) {
    for (const std::string& word : words) {
      auto condition = Condition::parse(word);
      if (!condition) return tl::make_unexpected(condition.error());
      invocation_.check.rules.push_back({severity, *std::move(condition)});
    }
    return {};
  }

  Result<void> read_words() {
    auto& v = invocation_;
    std::optional<Span> interval, callback_timeout;
    if (auto read = common_.understand(v); !read) return read;
    for (auto read :
         {read_span(interval_, "-i", interval), read_span(stale_, "--stale", v.check.stale),
          read_span(every_, "--every", v.selection.log.every),
          read_span(wait_, "--wait", v.selection.wait),
          read_span(callback_timeout_, "--callback-timeout", callback_timeout),
          read_number(samples_, "-n", v.samples)}) {
      if (!read) return read;
    }
    v.interval = interval.value_or(v.interval);
    v.selection.callback_timeout = callback_timeout.value_or(v.selection.callback_timeout);
    for (const std::string& text : where_) {
      auto pattern = LabelPattern::parse(text);
      if (!pattern) return usage("--where: " + pattern.error().what, pattern.error().remedy);
      v.selection.where.push_back(*std::move(pattern));
    }
    v.selection.outside_labels = !v.selection.where.empty();
    return choose(format_, "-f", {{"text", Format::kAuto}, {"json", Format::kJson}}, v.format);
  }

  [[nodiscard]] Result<void> check_moments() const {
    const auto& v = invocation_;
    const LogOptions& log = v.selection.log;
    if (v.interval < std::chrono::microseconds(100)) {
      return usage("-i: too short an interval", "100us or more");
    }
    if (v.samples == 0) return usage("-n: no samples", "-n 1 or more");
    if (v.check.stale && *v.check.stale <= Span::zero()) {
      return usage("--stale: too short", "--stale 10s");
    }
    if (log.path.empty() && (!log.at.empty() || log.has_range() || log.every)) {
      return usage("--at, --from, --to and --every are about a recording", "--log FILE");
    }
    if (!log.at.empty() && (log.has_range() || log.every)) {
      return usage("--at and a range of moments", "one of them");
    }
    if (log.every && *log.every <= Span::zero()) return usage("--every: too short", "--every 1s");
    if (!log.path.empty() && !log.has_range() && v.samples.value_or(1) > 1) {
      return usage("-n of a recording is about a range of moments", "--from TIME");
    }
    return {};
  }

  Result<void> understand() {
    if (auto read = read_words(); !read) return read;
    if (auto checked = check_moments(); !checked) return checked;
    if (auto added = add_rules(criticals_, CheckState::kCritical); !added) return added;
    if (auto added = add_rules(bare_, CheckState::kCritical); !added) return added;
    if (auto added = add_rules(warnings_, CheckState::kWarning); !added) return added;
    if (invocation_.check.rules.empty() && !invocation_.check.stale) {
      return usage("check: no condition", "'demo_orders/*/latency.p99 > 5ms', or --stale 10s");
    }
    return {};
  }

  VerbParser parser_;
  Invocation invocation_;
  CommonWords common_;
  std::vector<std::string> bare_, warnings_, criticals_, where_;
  std::string stale_, samples_, interval_, format_, every_, wait_, callback_timeout_;
};

}  // namespace

std::optional<Result<Invocation>> parse_check_arguments(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front() != kCheck) return std::nullopt;
  return std::make_unique<CheckGrammar>()->parse(arguments);
}

std::optional<std::string> check_help(std::string_view topic) {
  if (topic != kCheck) return std::nullopt;
  return std::make_unique<CheckGrammar>()->help();
}

}  // namespace meterbank::cli
