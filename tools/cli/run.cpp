// SPDX-License-Identifier: Apache-2.0
#include "cli/run.hpp"

#include "cli/check/check_grammar.hpp"
#include "cli/grammar.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {

int run(std::span<const std::string> arguments, Console& console) {
  const auto invocation = parse_arguments(arguments);
  if (!invocation) {
    complain(console, invocation.error());
    // A plugin that was called wrongly does not know.
    const bool is_check = !arguments.empty() && arguments.front() == kCheck;
    return is_check ? exit_code_of(CheckState::kUnknown) : kExitUsage;
  }
  switch (invocation->verb) {
    case Verb::kList:
      return list(*invocation, console);
    case Verb::kGet:
      return get(*invocation, console);
    case Verb::kWatch:
      return watch(*invocation, console);
    case Verb::kTypeperf:
      return typeperf(*invocation, console);
    case Verb::kRelog:
      return relog(*invocation, console);
    case Verb::kHost:
      return host(*invocation, console);
    case Verb::kDemo:
      return demo(*invocation, console);
    case Verb::kGen:
      return gen(*invocation, console);
    case Verb::kServe:
      return serve(*invocation, console);
    case Verb::kPush:
      return push(*invocation, console);
    case Verb::kView:
      return view(*invocation, console);
    case Verb::kRecord:
      return record(*invocation, console);
    case Verb::kLog:
      return log(*invocation, console);
    case Verb::kDiff:
      return diff(*invocation, console);
    case Verb::kCheck:
      return check(*invocation, console);
    case Verb::kPmu:
      return pmu_command(*invocation, console);
    case Verb::kDoctor:
      return doctor(*invocation, console);
    case Verb::kVersion:
      return version(*invocation, console);
    case Verb::kHelp:
      break;
  }
  return help(*invocation, console);
}

int run(std::span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  Console console{out, err};
  return run(arguments, console);
}

}  // namespace meterbank::cli
