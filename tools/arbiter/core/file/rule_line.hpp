// SPDX-License-Identifier: Apache-2.0
//
// One line of a topology or a policy after the other, as words, and the first fault found in any.
// What is read after a fault is thrown away, so readers of single words need not say what became of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

// What a line looks like after its keyword: words without "=" in their order, then any of the keys
// and of the `words`.
struct RuleForm {
  std::string_view keyword;
  std::size_t operands = 0;
  std::string_view required;  // keys, with blanks between
  std::string_view optional;
  std::string_view shown;
  std::string_view words = {};  // those that may follow, each once
};

class RuleLine {
 public:
  explicit RuleLine(std::string_view file);

  // Goes on to the next line. Whether there is anything to read in it.
  bool next(std::string_view text);
  // Goes back to a line whose words are gone, to refuse what it said.
  void return_to(std::size_t number) { number_ = number; }
  [[nodiscard]] std::size_t line_number() const { return number_; }

  // Keeps the first fault; later ones may come from it.
  void refuse(ErrorCode code, const std::string& what, std::string remedy);
  void refuse(const std::string& what, std::string remedy) {
    refuse(ErrorCode::kInvalidArgument, what, std::move(remedy));
  }
  [[nodiscard]] bool is_refused() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }  // precondition: is_refused()

  [[nodiscard]] std::string_view keyword() const { return keyword_; }
  // Refuses words that the form does not have. Only then ask for operands.
  void check(const RuleForm& form);
  [[nodiscard]] std::string_view operand(std::size_t place) const { return operands_[place]; }
  // One of RuleForm::words.
  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::string_view field(std::string_view key) const;  // empty: not said
  [[nodiscard]] std::uint32_t number(std::string_view key, std::uint32_t by_default,
                                     std::uint32_t least, std::uint32_t most);
  // Refuses all but the one value that a key can have.
  void only(std::string_view key, std::string_view value);

 private:
  bool is_plain(std::string_view text);

  std::string file_;
  std::size_t number_ = 0;
  std::string_view keyword_;
  std::vector<std::string_view> operands_;
  std::vector<std::pair<std::string_view, std::string_view>> fields_;
  std::optional<Error> error_;
};

}  // namespace meterbank::arbiter
