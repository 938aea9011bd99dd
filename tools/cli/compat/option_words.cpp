// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/option_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "cli/arguments/option_values.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

using Takes = OptionForm::Takes;

std::string help_of(std::string_view verb) { return fmt::format("meterbank {} --help", verb); }

const OptionForm* find_form(std::span<const OptionForm> forms, std::string_view name) {
  const auto form = std::find_if(forms.begin(), forms.end(), [name](const OptionForm& candidate) {
    return equal_folded(candidate.name, name);
  });
  return form == forms.end() ? nullptr : &*form;
}

// A slash begins an option only if it is one; anything else is the name of a file.
const OptionForm* option_in(std::span<const OptionForm> forms, std::string_view word) {
  if (word.size() < 2 || (word.front() != '-' && word.front() != '/')) return nullptr;
  return find_form(forms, word.substr(1));
}

// No option begins with a digit, so a dash before one is a minus.
bool begins_option(std::span<const OptionForm> forms, std::string_view word) {
  const bool dashed = word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
  return dashed || option_in(forms, word) != nullptr;
}

// How many of the words in `rest` are values of an option of this form.
std::size_t values_in(const OptionForm& form, std::span<const OptionForm> forms,
                      std::span<const std::string> rest) {
  std::size_t words = 0;
  while (words < rest.size() && !begins_option(forms, rest[words])) ++words;
  switch (form.takes) {
    case Takes::kNothing:
      return 0;
    case Takes::kValue:
    case Takes::kValueOrNothing:
      return std::min<std::size_t>(words, 1);
    case Takes::kValues:
      return words;
    case Takes::kTime:
      break;
  }
  const auto is_clock = [](const std::string& word) {
    return word.find_first_not_of("0123456789:.") == std::string::npos &&
           word.find(':') != std::string::npos;
  };
  return words > 1 && is_clock(rest[1]) ? 2 : std::min<std::size_t>(words, 1);
}

tl::unexpected<Error> unknown_option(std::string_view verb, std::span<const OptionForm> forms,
                                     const std::string& word) {
  NearestName nearest(word);
  for (const auto& form : forms) {
    // Every letter is near every other.
    if (word.size() > 2) nearest.consider(fmt::format("-{}", form.name));
  }
  return usage(fmt::format("no option '{}' for {}", word, verb),
               nearest.best().value_or(help_of(verb)));
}

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

std::optional<std::string> OptionWords::value(std::string_view name) const {
  const auto option = options.find(name);
  if (option == options.end() || option->second.empty()) return std::nullopt;
  return option->second.front();
}

Result<OptionWords> read_option_words(std::string_view verb, std::span<const OptionForm> forms,
                                      std::span<const std::string> words) {
  OptionWords read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (!begins_option(forms, word)) {
      if (word.empty()) return usage("an argument is empty", help_of(verb));
      read.operands.push_back(word);
      continue;
    }
    const auto* form = option_in(forms, word);
    if (form == nullptr) return unknown_option(verb, forms, word);
    const auto count = values_in(*form, forms, words.subspan(i + 1));
    const auto values = words.subspan(i + 1, count);
    const bool optional = form->takes == Takes::kNothing || form->takes == Takes::kValueOrNothing;
    if (count == 0 && !optional) return usage(fmt::format("{} needs a value", word), help_of(verb));
    // Nearly always a variable of a script that was not set.
    if (std::find(values.begin(), values.end(), "") != values.end()) {
      return usage(fmt::format("{} is empty", word), help_of(verb));
    }
    read.options[std::string(form->name)].assign(values.begin(), values.end());
    i += count;
  }
  return read;
}

Result<std::vector<std::string>> read_settings(std::string_view verb,
                                               std::span<const OptionForm> forms,
                                               std::span<const std::string_view> operand_sections,
                                               const std::string& file) {
  std::ifstream lines(file);
  if (!lines) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("cannot read {}", file),
                "a settings file with sections like [si]", errno);
  }
  std::vector<std::string> operands;
  std::vector<std::string> words;
  bool into_operands = false;
  bool in_section = false;
  std::uint64_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    ++number;
    const auto line = trimmed(text);
    if (line.empty() || line.front() == ';' || line.front() == '#') continue;
    if (line.front() != '[') {
      if (!in_section) {
        return usage(fmt::format("{}:{}: a value before the first section", file, number),
                     "a section like [si] above it");
      }
      (into_operands ? operands : words).emplace_back(line);
      continue;
    }
    const auto name = line.substr(1, line.find(']') - 1);
    const bool closed = line.back() == ']';
    const bool known = find_form(forms, name) != nullptr;
    const bool list = std::any_of(operand_sections.begin(), operand_sections.end(),
                                  [name](auto section) { return equal_folded(section, name); });
    if (!closed || (!known && !list)) {
      return usage(fmt::format("{}:{}: no section '{}' for {}", file, number, line, verb),
                   help_of(verb));
    }
    in_section = true;
    into_operands = !known;
    if (known) words.push_back(fmt::format("-{}", name));
  }
  // In front, where no option can take them for its values.
  operands.insert(operands.end(), words.begin(), words.end());
  return operands;
}

}  // namespace meterbank::cli
