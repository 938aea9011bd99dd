// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/file/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "arbiter/core/file/foreign_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::arbiter {
namespace {

using syntax::Element;
using syntax::Entry;

constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
// Of what toml++ repeats from the file.
constexpr std::size_t kForeignBytesMax = 200;

[[nodiscard]] bool has_word(std::string_view words, std::string_view word) {
  const auto parts = parts_of(words, ' ');
  return !word.empty() && std::find(parts.begin(), parts.end(), word) != parts.end();
}

enum class Sort : std::uint8_t { kUnknown, kValue, kTable, kList };

[[nodiscard]] Sort sort_in(const TableForm& form, std::string_view name) {
  if (has_word(form.required, name) || has_word(form.optional, name)) return Sort::kValue;
  if (has_word(form.tables, name)) return Sort::kTable;
  return has_word(form.lists, name) ? Sort::kList : Sort::kUnknown;
}

// "a, b, [c], [[d]]"
[[nodiscard]] std::string shown_names(const TableForm& form) {
  std::string all;
  const auto add = [&all](std::string_view names, std::string_view before, std::string_view after) {
    if (names.empty()) return;
    for (const std::string_view name : parts_of(names, ' ')) {
      if (!all.empty()) all += ", ";
      all.append(before).append(name).append(after);
    }
  };
  add(form.required, "", "");
  add(form.optional, "", "");
  add(form.tables, "[", "]");
  add(form.lists, "[[", "]]");
  return all;
}

}  // namespace

Faults::Faults(std::string_view file) : file_(escape_for_terminal(file)) {}

void Faults::add(syntax::Place place, ErrorCode code, std::string what, std::string remedy) {
  if (code_ && place_ <= place) return;
  place_ = place;
  code_ = code;
  what_ = std::move(what);
  remedy_ = std::move(remedy);
}

Error Faults::error() const {
  return {*code_, 0, fmt::format("{}:{}:{}: {}", file_, place_.line, place_.column, what_),
          remedy_};
}

void TomlTable::refuse(std::string_view key, std::string what, std::string remedy,
                       ErrorCode code) const {
  const Entry* const entry = find(key);
  faults_->add(entry != nullptr ? entry->place : element_->place, code, std::move(what),
               std::move(remedy));
}

void TomlTable::refuse_kind(const Entry& entry, std::string_view wanted,
                            std::string_view example) const {
  faults_->add(entry.place, ErrorCode::kInvalidArgument,
               fmt::format("{} is not {}", in_quotes(entry.name), wanted),
               fmt::format("write {}", example));
}

void TomlTable::check(const TableForm& form) const {
  const auto check_one = [&](syntax::Place place, const std::string& name, Sort sort) {
    const Sort expected = sort_in(form, name);
    if (sort == expected) return;
    const auto refuse_as = [&](std::string what, std::string remedy) {
      faults_->add(place, ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
    };
    switch (expected) {
      case Sort::kUnknown:
        return refuse_as(fmt::format("{} has no {}", shown_, in_quotes(name)),
                         fmt::format("it can have {}", shown_names(form)));
      case Sort::kValue:
        return refuse_as(fmt::format("'{}' is not a table", name),
                         fmt::format("write {} = and its value", name));
      case Sort::kTable:
        return refuse_as(fmt::format("'{}' is one table", name),
                         "write it once, in single brackets");
      case Sort::kList:
        return refuse_as(fmt::format("'{}' is a list of tables", name),
                         "write each in double brackets");
    }
  };
  for (const Entry& entry : element_->entries) {
    const bool is_list = sort_in(form, entry.name) == Sort::kList && is_empty_list(entry.name);
    check_one(entry.place, entry.name, is_list ? Sort::kList : Sort::kValue);
  }
  for (const Element& child : element_->children) {
    check_one(child.place, child.name, child.listed ? Sort::kList : Sort::kTable);
  }
  if (form.required.empty()) return;
  for (const std::string_view key : parts_of(form.required, ' ')) {
    if (has(key)) continue;
    refuse({}, fmt::format("{} lacks {}", shown_, key),
           fmt::format("write {} = and its value", key));
  }
}

const Entry* TomlTable::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(element_->entries, key, &Entry::name);
  return found == element_->entries.end() ? nullptr : &*found;
}

bool TomlTable::has_number(std::string_view key) const noexcept {
  const Entry* const entry = find(key);
  return entry != nullptr && entry->kind == Entry::Kind::kInteger;
}

bool TomlTable::has_text(std::string_view key) const noexcept {
  const Entry* const entry = find(key);
  return entry != nullptr && entry->kind == Entry::Kind::kText;
}

bool TomlTable::is_empty_list(std::string_view key) const noexcept {
  const Entry* const entry = find(key);
  return entry != nullptr && entry->kind == Entry::Kind::kList && entry->items.empty();
}

std::string TomlTable::text(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return {};
  if (entry->kind != Entry::Kind::kText) {
    refuse_kind(*entry, "a text", fmt::format("{} = \"...\", in quotation marks", key));
  } else if (entry->text.empty()) {
    refuse(key, fmt::format("{} is empty", key), "write its value, or leave the key out");
  }
  return entry->text;
}

bool TomlTable::flag(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return false;
  if (entry->kind != Entry::Kind::kBoolean) refuse_kind(*entry, "a yes or no", "true or false");
  return entry->boolean;
}

std::optional<std::uint32_t> TomlTable::number_of(const Entry& entry, std::uint32_t least,
                                                  std::uint32_t most) const {
  if (entry.kind != Entry::Kind::kInteger) {
    refuse_kind(entry, "a number", "digits, or 0x and digits, without quotation marks");
    return std::nullopt;
  }
  const std::int64_t value = entry.integer;
  if (value >= least && value <= most) return static_cast<std::uint32_t>(value);
  faults_->add(entry.place, value > most ? ErrorCode::kLimit : ErrorCode::kInvalidArgument,
               fmt::format("{} = {} is out of range", entry.name, value),
               fmt::format("{} to {} are possible", least, most));
  return std::nullopt;
}

std::uint32_t TomlTable::number(std::string_view key, std::uint32_t by_default, std::uint32_t least,
                                std::uint32_t most) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return by_default;
  return number_of(*entry, least, most).value_or(by_default);
}

std::optional<CpuSet> TomlTable::cpus_of(const Entry& entry) const {
  if (entry.kind != Entry::Kind::kText) {
    refuse_kind(entry, "a list of CPUs", "it as \"0-15,18\", in quotation marks");
    return std::nullopt;
  }
  auto set = CpuSet::parse(entry.text);
  if (!set) {
    faults_->add(entry.place, set.error().code, set.error().what, set.error().remedy);
    return std::nullopt;
  }
  if (set->empty()) {
    faults_->add(entry.place, ErrorCode::kInvalidArgument,
                 fmt::format("{} names no CPU", entry.name), "write CPUs as \"0-15,18\"");
  }
  return std::move(*set);
}

CpuSet TomlTable::cpus(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return {};
  return cpus_of(*entry).value_or(CpuSet());
}

std::span<const Entry> TomlTable::items(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return {};
  if (entry->kind != Entry::Kind::kList) refuse_kind(*entry, "a list", "it in brackets: [...]");
  return entry->items;
}

std::vector<std::string> TomlTable::texts(std::string_view key) const {
  std::vector<std::string> all;
  for (const Entry& item : items(key)) {
    if (item.kind != Entry::Kind::kText) {
      refuse_kind(item, "a list of texts", "each in quotation marks");
    } else if (item.text.empty()) {
      faults_->add(item.place, ErrorCode::kInvalidArgument,
                   fmt::format("{} has an empty text", key), "leave it out");
    } else {
      all.push_back(item.text);
    }
  }
  return all;
}

std::vector<std::uint32_t> TomlTable::numbers(std::string_view key) const {
  std::vector<std::uint32_t> all;
  for (const Entry& item : items(key)) {
    if (const auto value = number_of(item, 0, kAnyNumber)) all.push_back(*value);
  }
  return all;
}

std::vector<std::pair<syntax::Place, CpuSet>> TomlTable::cpu_sets(std::string_view key) const {
  std::vector<std::pair<syntax::Place, CpuSet>> all;
  for (const Entry& item : items(key)) {
    if (auto set = cpus_of(item)) all.emplace_back(item.place, std::move(*set));
  }
  return all;
}

std::pair<std::uint32_t, std::uint32_t> TomlTable::range(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) return {};
  if (entry->kind != Entry::Kind::kList) {
    const std::uint32_t one = number_of(*entry, 0, kAnyNumber).value_or(0);
    return {one, one};
  }
  const auto ends = numbers(key);
  if (entry->items.size() != 2) {
    refuse(key, fmt::format("{} has {} numbers", key, entry->items.size()),
           "write one, or the first and the last: [0x80, 0x8f]");
  }
  if (ends.size() != 2) return {};
  if (ends[0] > ends[1]) {
    refuse(key, fmt::format("{} = [{:#x}, {:#x}] ends before it begins", key, ends[0], ends[1]),
           "write the lower one first");
  }
  return {ends[0], ends[1]};
}

std::vector<TomlTable> TomlTable::list(std::string_view name) const {
  std::vector<TomlTable> all;
  for (const Element& child : element_->children) {
    if (child.listed && child.name == name) all.emplace_back(child, std::string(name), *faults_);
  }
  return all;
}

std::optional<TomlTable> TomlTable::table(std::string_view name) const {
  for (const Element& child : element_->children) {
    if (!child.listed && child.name == name) {
      return TomlTable(child, std::string(name), *faults_);
    }
  }
  return std::nullopt;
}

std::vector<TomlTable> TomlTable::named(std::string_view name, std::string_view shown) const {
  std::vector<TomlTable> all;
  const auto within = table(name);
  if (!within) return all;
  for (const Entry& entry : within->element_->entries) {
    within->refuse_kind(entry, "a table", "NAME = {...}");
  }
  for (const Element& child : within->element_->children) {
    if (child.listed) {
      faults_->add(child.place, ErrorCode::kInvalidArgument,
                   fmt::format("{} {} is not a list", shown, in_quotes(child.name)),
                   "write single brackets, and each name once");
    }
    all.emplace_back(child, fmt::format("{} {}", shown, in_quotes(child.name)), *faults_);
  }
  std::ranges::stable_sort(all, {}, [](const TomlTable& one) { return one.element_->place; });
  return all;
}

std::optional<Element> read_toml_file(std::string_view text, std::string_view shown,
                                      std::size_t bytes_max, Faults& faults) {
  if (text.size() > bytes_max) {
    faults.add({1, 1}, ErrorCode::kLimit,
               fmt::format("{} bytes are too many for a {}", text.size(), shown),
               fmt::format("stay within {} bytes", bytes_max));
    return std::nullopt;
  }
  syntax::Problems problems;
  std::optional<Element> root;
  if (const auto source = syntax::SourceText::decode(text, problems)) {
    root = syntax::read_toml(*source, problems);
  }
  for (const syntax::Problem& problem : problems.all()) {
    const auto what = repair_utf8(problem.what, kForeignBytesMax);
    faults.add(problem.place, ErrorCode::kInvalidArgument, escape_for_terminal(what.text),
               problem.hint.empty() ? "write TOML" : problem.hint);
  }
  return root;
}

}  // namespace meterbank::arbiter
