// SPDX-License-Identifier: Apache-2.0
//
// Options as Windows' counter tools spell them: one dash (or a slash) and a word of any case, lists
// of values behind one option, and a settings file with a section an option.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

struct OptionForm {
  enum class Takes : std::uint8_t {
    kNothing,
    kValue,
    kValueOrNothing,
    kValues,  // all words up to the next option
    kTime,    // a date, and a time of day if one follows as a word of its own
  };
  std::string_view name;  // without the dash, in lower case
  Takes takes = Takes::kNothing;
};

struct OptionWords {
  std::vector<std::string> operands;
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // by OptionForm::name

  [[nodiscard]] bool has(std::string_view name) const { return options.contains(name); }
  // The first value; nothing if the option or its value is absent.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
};

// Of an option that is there twice, the last one counts. Errors are usage errors that name `verb`.
[[nodiscard]] Result<OptionWords> read_option_words(std::string_view verb,
                                                    std::span<const OptionForm> forms,
                                                    std::span<const std::string> words);

// The words that a settings file stands for. Each section [NAME] becomes the option -NAME with the
// section's lines as values; the lines of `operand_sections` are operands.
[[nodiscard]] Result<std::vector<std::string>> read_settings(
    std::string_view verb, std::span<const OptionForm> forms,
    std::span<const std::string_view> operand_sections, const std::string& file);

}  // namespace meterbank::cli
