// SPDX-License-Identifier: Apache-2.0
#include "generator/command/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "generator/command/conflicts.hpp"
#include "generator/manifest/words.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::generator {
namespace {

constexpr std::string_view kHelpCall = "meterbank-gen --help";

tl::unexpected<Error> usage(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
}

// ---- CTRPP's spelling: one dash, any case ----

struct WindowsWord {
  std::string_view windows, ours;
};
constexpr std::array kWindowsWords{
    WindowsWord{"o", "--code"},
    WindowsWord{"ch", "--symbols"},
    WindowsWord{"rc", "--resources"},
    WindowsWord{"prefix", "--prefix"},
    WindowsWord{"migrate", "--migrate"},
    WindowsWord{"NotificationCallback", "--notification-callback"},
    WindowsWord{"MemoryRoutines", "--notification-callback"},
    WindowsWord{"h", "--help"},
    WindowsWord{"?", "--help"},
};

struct RefusedWord {
  std::string_view windows, why, instead;
};
constexpr std::array kRefusedWords{
    RefusedWord{"legacy", "the templates of Windows Vista are not made",
                "-o FILE, -ch FILE and -rc FILE"},
    RefusedWord{"sumPath", "there is no summary of counters to add to", "--markdown FILE"},
    RefusedWord{"summary", "there is no summary of counters to add to", "--markdown FILE"},
};

// What CLI11 understands: it knows a single dash before single letters only.
Result<std::vector<std::string>> in_our_spelling(std::span<const std::string> arguments,
                                                 Request& request) {
  std::vector<std::string> words;
  bool options_end = false;
  for (const auto& argument : arguments) {
    options_end = options_end || argument == "--";
    const bool single_dash = argument.size() > 1 && argument[0] == '-' && argument[1] != '-';
    if (options_end || !single_dash) {
      words.push_back(argument);
      continue;
    }
    const auto word = std::string_view(argument).substr(1);
    for (const auto& refused : kRefusedWords) {
      if (!equal_folded(word, refused.windows)) continue;
      return usage(fmt::format("{}: {}", argument, refused.why), std::string(refused.instead));
    }
    if (equal_folded(word, "backcompat")) {
      request.remarks.push_back(argument +
                                " has no effect: a provider finds its functions when it is linked");
      continue;
    }
    const auto* const known =
        std::find_if(kWindowsWords.begin(), kWindowsWords.end(),
                     [&](const WindowsWord& each) { return equal_folded(word, each.windows); });
    if (known == kWindowsWords.end()) {
      return usage(fmt::format("no option '{}'", argument), std::string(kHelpCall));
    }
    words.emplace_back(known->ours);
  }
  return words;
}

// ---- Ours ----

struct Typed {
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::vector<std::string> operands;
  bool notification_callback = false;
  bool check = false;
  bool version = false;
};

// Which were typed with a value, and with which ones. Nothing if help was asked for.
Result<std::optional<Typed>> read_words(std::vector<std::string> words) {
  Typed typed;
  CLI::App app("", "meterbank-gen");
  app.allow_extras();
  app.set_help_flag("--help");
  std::vector<std::string_view> names{"prefix",  "namespace", "metric-prefix", "set",
                                      "against", "depfile",   "template",      "print-template"};
  for (const auto& output : kOutputs) names.push_back(output.name);
  for (const auto name : names) {
    app.add_option(fmt::format("--{}", name), typed.values[std::string(name)])
        ->allow_extra_args(false);
  }
  app.add_flag("--notification-callback", typed.notification_callback);
  app.add_flag("--check", typed.check);
  app.add_flag("--version", typed.version);
  app.add_option("MANIFEST", typed.operands);

  // CLI11 takes the arguments last first.
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return std::optional<Typed>();
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return usage(fmt::format("{} needs a value", what.substr(0, what.find(':'))),
                 std::string(kHelpCall));
  } catch (const CLI::ParseError& error) {
    return usage(error.what(), std::string(kHelpCall));
  }
  for (const auto& extra : app.remaining()) {
    if (extra.starts_with("--") && extra.size() > 2) {
      return usage(fmt::format("no option '{}'", extra.substr(0, extra.find('='))),
                   std::string(kHelpCall));
    }
    if (extra != "--") typed.operands.push_back(extra);
  }
  return typed;
}

// The value of an option that can be said once.
Result<void> take(const Typed& typed, std::string_view name, std::string& target) {
  const auto& values = typed.values.find(name)->second;
  if (values.empty()) return {};
  if (values.size() > 1) {
    return usage(fmt::format("--{} is there {} times", name, values.size()), "once");
  }
  // CLI11 takes whatever stands there; a file of such a name can be said as ./--name.
  if (values.front().starts_with("--")) {
    return usage(fmt::format("--{} needs a value", name), std::string(kHelpCall));
  }
  // Nearly always a variable of a script that was not set.
  if (values.front().empty()) return usage(fmt::format("--{} is empty", name), "a value");
  target = values.front();
  return {};
}

Result<void> take_templates(const Typed& typed, Request& request) {
  for (const auto& value : typed.values.find("template")->second) {
    const auto equals = value.find('=');
    const auto output = value.substr(0, equals);
    const auto* const known = std::find_if(kOutputs.begin(), kOutputs.end(),
                                           [&](const auto& each) { return each.name == output; });
    if (known == kOutputs.end() || !known->has_template) {
      return usage(fmt::format("--template: no output '{}'", output),
                   "cpp, c, code, symbols, resources, man or markdown");
    }
    if (equals == std::string::npos || equals + 1 == value.size()) {
      return usage(fmt::format("--template {}: no file", value), fmt::format("{}=FILE", output));
    }
    if (!request.templates.emplace(output, value.substr(equals + 1)).second) {
      return usage(fmt::format("--template: two for {}", output), "one of them");
    }
  }
  return {};
}

Result<void> take_sets(const Typed& typed, Request& request) {
  request.options.sets = typed.values.find("set")->second;
  const auto is_bad = [](const std::string& set) { return set.empty() || set.starts_with("--"); };
  const auto bad = std::find_if(request.options.sets.begin(), request.options.sets.end(), is_bad);
  if (bad == request.options.sets.end()) return {};
  return usage("--set needs a value", "the name or symbol of a counterset; * and ? are wildcards");
}

Result<void> take_values(const Typed& typed, Request& request) {
  struct Target {
    std::string_view name;
    std::string& value;
  };
  for (const auto& [name, value] :
       {Target{"prefix", request.options.prefix}, Target{"namespace", request.options.name_space},
        Target{"metric-prefix", request.options.metric_prefix}, Target{"against", request.against},
        Target{"depfile", request.depfile}, Target{"print-template", request.print_template}}) {
    if (auto taken = take(typed, name, value); !taken) return taken;
  }
  for (const auto& output : kOutputs) {
    std::string path;
    if (auto taken = take(typed, output.name, path); !taken) return taken;
    if (!path.empty()) request.files.push_back({&output, std::move(path)});
  }
  request.options.notification_callback = typed.notification_callback;
  if (auto taken = take_sets(typed, request); !taken) return taken;
  return take_templates(typed, request);
}

}  // namespace

Result<Request> parse_arguments(std::span<const std::string> arguments) {
  Request request;
  auto words = in_our_spelling(arguments, request);
  if (!words) return tl::make_unexpected(words.error());
  auto typed = read_words(*std::move(words));
  if (!typed) return tl::make_unexpected(typed.error());
  if (!*typed) {
    request.task = Task::kHelp;
    return request;
  }
  if ((*typed)->version) {
    request.task = Task::kVersion;
    return request;
  }
  if (auto taken = take_values(**typed, request); !taken) return tl::make_unexpected(taken.error());
  if (!request.print_template.empty()) request.task = Task::kPrintTemplate;
  if (auto none = refuse_conflicts(request, (*typed)->operands, (*typed)->check); !none) {
    return tl::make_unexpected(none.error());
  }
  if (request.task == Task::kGenerate) request.manifest = (*typed)->operands.front();
  return request;
}

}  // namespace meterbank::generator
