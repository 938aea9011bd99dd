// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/file/rule_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arbiter/core/file/foreign_text.hpp"
#include "arbiter/core/topology.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::arbiter {

namespace {

bool has_word(std::string_view words, std::string_view word) {
  const auto parts = parts_of(words, ' ');
  return !word.empty() && std::find(parts.begin(), parts.end(), word) != parts.end();
}

}  // namespace

RuleLine::RuleLine(std::string_view file) : file_(escape_for_terminal(file)) {}

void RuleLine::refuse(ErrorCode code, const std::string& what, std::string remedy) {
  if (error_) return;
  error_ = Error{code, 0, fmt::format("{}:{}: {}", file_, number_, what), std::move(remedy)};
}

bool RuleLine::next(std::string_view text) {
  ++number_;
  keyword_ = {};
  operands_.clear();
  fields_.clear();
  if (!is_plain(text)) return false;
  text = text.substr(0, text.find('#'));
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return !keyword_.empty();
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    const std::size_t sign = word.find('=');
    if (keyword_.empty()) {
      keyword_ = word;
    } else if (sign == std::string_view::npos) {
      operands_.push_back(word);
    } else {
      fields_.emplace_back(word.substr(0, sign), word.substr(sign + 1));
    }
  }
}

bool RuleLine::is_plain(std::string_view text) {
  if (text.size() > kTopologyLineBytesMax) {
    refuse(ErrorCode::kLimit, fmt::format("a line of {} bytes", text.size()),
           fmt::format("stay within {} bytes", kTopologyLineBytesMax));
    return false;
  }
  const auto is_control = [](char c) {
    return c != '\t' && (static_cast<unsigned char>(c) < ' ' || c == '\x7f');
  };
  const auto bad = std::find_if(text.begin(), text.end(), is_control);
  if (bad == text.end()) return true;
  refuse(fmt::format("control character {} in column {}", quoted(std::string(1, *bad)),
                     bad - text.begin() + 1),
         "leave it out; lines end with a newline alone");
  return false;
}

void RuleLine::check(const RuleForm& form) {
  const std::string remedy = fmt::format("write {}", form.shown);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& [key, value] = fields_[i];
    if (!has_word(form.required, key) && !has_word(form.optional, key)) {
      return refuse(fmt::format("{} has no {}", form.keyword, quoted(key)), remedy);
    }
    if (value.empty()) return refuse(fmt::format("{}= without a value", key), remedy);
    for (std::size_t j = 0; j < i; ++j) {
      if (fields_[j].first == key) return refuse(fmt::format("{}= twice", key), remedy);
    }
  }
  const auto word_first =
      operands_.begin() + static_cast<std::ptrdiff_t>(std::min(form.operands, operands_.size()));
  for (auto word = word_first; word != operands_.end() && !form.words.empty(); ++word) {
    if (!has_word(form.words, *word)) {
      return refuse(fmt::format("{} has no {}", form.keyword, quoted(*word)), remedy);
    }
    if (std::find(word_first, word, *word) != word) {
      return refuse(fmt::format("{} twice", *word), remedy);
    }
  }
  if (operands_.size() < form.operands ||
      (operands_.size() > form.operands && form.words.empty())) {
    return refuse(fmt::format("{} takes {} words before its keys, not {}", form.keyword,
                              form.operands, operands_.size()),
                  remedy);
  }
  if (form.required.empty()) return;
  for (const std::string_view key : parts_of(form.required, ' ')) {
    if (field(key).empty()) return refuse(fmt::format("{} lacks {}=", form.keyword, key), remedy);
  }
}

bool RuleLine::has(std::string_view word) const {
  return std::find(operands_.begin(), operands_.end(), word) != operands_.end();
}

std::string_view RuleLine::field(std::string_view key) const {
  for (const auto& [own, value] : fields_) {
    if (own == key) return value;
  }
  return {};
}

std::uint32_t RuleLine::number(std::string_view key, std::uint32_t by_default, std::uint32_t least,
                               std::uint32_t most) {
  const std::string_view text = field(key);
  if (text.empty()) return by_default;
  const auto value = read_number<std::uint32_t>(text);
  if (!value) {
    refuse(fmt::format("{}={} is not a number", key, quoted(text)),
           "write digits, or 0x and digits");
    return by_default;
  }
  if (*value >= least && *value <= most) return *value;
  const auto code = *value > most ? ErrorCode::kLimit : ErrorCode::kInvalidArgument;
  refuse(code, fmt::format("{}={} is out of range", key, *value),
         fmt::format("{} to {} are possible", least, most));
  return by_default;
}

void RuleLine::only(std::string_view key, std::string_view value) {
  const std::string_view text = field(key);
  if (text.empty() || text == value) return;
  refuse(fmt::format("{}={} is unknown", key, quoted(text)), fmt::format("write {}", value));
}

}  // namespace meterbank::arbiter
