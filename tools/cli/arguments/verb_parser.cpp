// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/verb_parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/arguments/option_values.hpp"
#include "cli/format/table.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank::cli {
namespace {

constexpr std::size_t kNameColumns = 26;

std::string options_text(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    // With every verb, so it is listed there.
    const bool is_help = app.get_parent() != nullptr && option == app.get_help_ptr();
    if (option->get_positional() || is_help) continue;
    std::string names;
    for (const auto& name : option->get_snames()) names += "-" + name + ", ";
    if (names.empty()) names = "    ";
    for (const auto& name : option->get_lnames()) names += "--" + name;
    if (option->get_type_size() > 0) names += " " + option->get_type_name();
    // A long name pushes its description to the right: a cut name would be wrong.
    const std::string column = names.size() > kNameColumns ? names : fit(names, kNameColumns);
    out += "  " + column + "  " + option->get_description() + "\n";
  }
  return out;
}

// Nearly always a variable of a script that was not set.
std::string refuse_empty(const std::string& value) { return value.empty() ? "is empty" : ""; }

}  // namespace

void OptionTable::flag(const char* names, bool& target, const char* description) {
  app_->add_flag(names, target, description);
}

void OptionTable::flag_that_clears(const char* names, bool& target, const char* description) {
  app_->add_flag_callback(
      names, [&target] { target = false; }, description);
}

void OptionTable::text(const char* names, std::string& target, const char* placeholder,
                       const char* description) {
  app_->add_option(names, target, description)
      ->type_name(placeholder)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(refuse_empty, "");
}

void OptionTable::texts(const char* names, std::vector<std::string>& target,
                        const char* placeholder, const char* description) {
  app_->add_option(names, target, description)
      ->type_name(placeholder)
      ->allow_extra_args(false)
      ->check(refuse_empty, "");
}

void OptionTable::operands(std::vector<std::string>& target) {
  app_->add_option("OPERAND", target, "")->type_name("");
}

VerbParser::VerbParser(Form form)
    : form_(std::move(form)), app_(std::make_unique<CLI::App>("", form_.call)) {
  app_->fallthrough();
  app_->set_help_flag("-h,--help", "This text");
  app_->allow_extras();
  // The first verb is the verb; behind it, a word like it may be a name.
  app_->require_subcommand(0, 1);
}

VerbParser::~VerbParser() = default;

OptionTable VerbParser::options_of_all() { return OptionTable(*app_); }

void VerbParser::add(const VerbText& text, std::function<void(OptionTable)> set_up) {
  known_[text.name] = {text.summary, std::move(set_up), {}};
}

void VerbParser::add_elsewhere(std::string_view name) { known_.try_emplace(std::string(name)); }

void VerbParser::set_remedy(std::string_view verb, std::string remedy) {
  known_[std::string(verb)].remedy = std::move(remedy);
}

CLI::App& VerbParser::app_of(const std::string& verb) {
  Known& known = known_[verb];
  if (const auto set_up = std::exchange(known.set_up, {})) {
    CLI::App& app = *app_->add_subcommand(verb, known.summary);
    app.fallthrough();
    app.allow_extras();
    set_up(OptionTable(app));
  }
  return *app_->get_subcommand(verb);
}

Result<VerbParser::Parsed> VerbParser::parse(std::span<const std::string> arguments) {
  for (const auto& word : arguments) {
    const auto known = known_.find(word);
    if (known != known_.end() && known->second.set_up) app_of(word);
  }
  // CLI11 takes the arguments last first.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  Parsed parsed;
  try {
    app_->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    parsed.wants_help = true;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return usage(fmt::format("{} needs a value", what.substr(0, what.find(':'))), help_call());
  } catch (const CLI::ParseError& error) {
    return usage(error.what(), help_call());
  }
  if (chosen() != nullptr) parsed.verb = chosen()->get_name();
  if (parsed.wants_help) return parsed;
  if (auto known = refuse_unknown(); !known) return tl::make_unexpected(known.error());
  return parsed;
}

std::string VerbParser::help_call() const {
  return fmt::format("{}{}{} --help", form_.call, chosen() == nullptr ? "" : " ",
                     chosen() == nullptr ? "" : chosen()->get_name());
}

std::string VerbParser::help_of(const VerbText& text) {
  std::string own = options_text(app_of(text.name));
  if (!own.empty()) own = "Options:\n" + own + "\n";
  return fmt::format("usage: {} {} [OPTION...]{}\n\n{}\n\n{}With every {}:\n{}\nExamples:\n{}",
                     form_.call, text.name, text.operands, text.summary, own, form_.noun,
                     options_text(*app_), text.examples);
}

const CLI::App* VerbParser::chosen() const {
  const auto parsed = app_->get_subcommands();
  return parsed.empty() ? nullptr : parsed.front();
}

// "get", "pmu run".
std::string VerbParser::full_name(std::string_view verb) const {
  const auto space = form_.call.find(' ');
  if (space == std::string::npos) return std::string(verb);
  return fmt::format("{} {}", form_.call.substr(space + 1), verb);
}

// What CLI11 could not place: options that do not exist, operands where none belong, and the verb
// itself if it is misspelt.
Result<void> VerbParser::refuse_unknown() const {
  const auto extras = app_->remaining(true);
  if (extras.empty()) return {};
  const auto& first = extras.front();
  if (first.size() > 1 && first.front() == '-') return unknown_option(first);
  if (chosen() == nullptr) return unknown_verb(first);
  return usage(fmt::format("{} takes no '{}'", full_name(chosen()->get_name()), first),
               help_call());
}

tl::unexpected<Error> VerbParser::unknown_option(std::string option) const {
  option = option.substr(0, option.find('='));
  const auto* const verb = chosen();
  if (verb != nullptr && verb->get_option_no_throw(option) != nullptr) {
    return usage(fmt::format("option '{}' stands before its {}", option, form_.noun),
                 fmt::format("{} {} ... {}", form_.call, verb->get_name(), option));
  }
  NearestName nearest(option);
  for (const CLI::App* app : {verb, static_cast<const CLI::App*>(app_.get())}) {
    if (app == nullptr) continue;
    for (const CLI::Option* known : app->get_options()) {
      for (const auto& name : known->get_lnames()) nearest.consider("--" + name);
    }
  }
  std::string scope;
  std::string remedy = help_call();
  if (verb != nullptr) {
    scope = " for " + full_name(verb->get_name());
    const auto& own = known_.find(verb->get_name())->second.remedy;
    if (!own.empty()) remedy = own;
  }
  return usage(fmt::format("no option '{}'{}", option, scope), nearest.best().value_or(remedy));
}

tl::unexpected<Error> VerbParser::unknown_verb(const std::string& word) const {
  if (known_.contains(word)) {
    return usage(word + " stands before all options", fmt::format("{} {} ...", form_.call, word));
  }
  NearestName nearest(word);
  for (const auto& [name, known] : known_) nearest.consider(name);
  const auto near = nearest.best();
  return usage(fmt::format("no {} '{}'", full_name(form_.noun), word),
               near ? fmt::format("{} {}", form_.call, *near) : help_call());
}

}  // namespace meterbank::cli
