// SPDX-License-Identifier: Apache-2.0
//
// Policies and topologies are TOML. A TomlTable gives the values of one table by their keys; what
// is wrong with a value goes to the Faults of the file, and the value is then a default.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/core/cpu_set.hpp"
#include "meterbank/base/result.hpp"
#include "syntax/tree.hpp"

namespace meterbank::arbiter {

// The first fault of a file, by its place. Later ones may come from it.
class Faults {
 public:
  explicit Faults(std::string_view file);

  void add(syntax::Place place, ErrorCode code, std::string what, std::string remedy);
  [[nodiscard]] bool empty() const noexcept { return !code_; }
  // Precondition: not empty(). "FILE:LINE:COLUMN: what".
  [[nodiscard]] Error error() const;

 private:
  std::string file_;
  syntax::Place place_;
  std::optional<ErrorCode> code_;
  std::string what_, remedy_;
};

// What may stand in a table: names, with blanks between.
struct TableForm {
  std::string_view required;     // keys
  std::string_view optional;     // keys
  std::string_view tables = {};  // [name]
  std::string_view lists = {};   // [[name]]
};

class TomlTable {
 public:
  // `shown`: what errors call it. The element and the faults must outlive it.
  TomlTable(const syntax::Element& element, std::string shown, Faults& faults)
      : element_(&element), shown_(std::move(shown)), faults_(&faults) {}

  // Everything in the table must be in `form`, and all that the form requires in the table.
  void check(const TableForm& form) const;

  [[nodiscard]] const std::string& name() const noexcept { return element_->name; }
  [[nodiscard]] std::uint32_t line() const noexcept { return element_->place.line; }
  [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
  [[nodiscard]] bool has_number(std::string_view key) const noexcept;
  [[nodiscard]] bool has_text(std::string_view key) const noexcept;
  [[nodiscard]] bool is_empty_list(std::string_view key) const noexcept;

  // Of a key that is missing: an empty text, the default, false, nothing, no items.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] std::uint32_t number(std::string_view key, std::uint32_t by_default,
                                     std::uint32_t least, std::uint32_t most) const;
  [[nodiscard]] CpuSet cpus(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] std::vector<std::uint32_t> numbers(std::string_view key) const;
  // A number, or a list of the first and the last.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> range(std::string_view key) const;
  // Each of a list of CPU sets.
  [[nodiscard]] std::vector<std::pair<syntax::Place, CpuSet>> cpu_sets(std::string_view key) const;

  // [[name]] in the order of the file.
  [[nodiscard]] std::vector<TomlTable> list(std::string_view name) const;
  // The tables within [name], in the order of the file. Errors call each "SHOWN NAME".
  [[nodiscard]] std::vector<TomlTable> named(std::string_view name, std::string_view shown) const;
  // [name], if it is there.
  [[nodiscard]] std::optional<TomlTable> table(std::string_view name) const;

  // At the place of the key, or of the table if it is empty or not there.
  void refuse(std::string_view key, std::string what, std::string remedy,
              ErrorCode code = ErrorCode::kInvalidArgument) const;

 private:
  [[nodiscard]] const syntax::Entry* find(std::string_view key) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> number_of(const syntax::Entry& entry,
                                                       std::uint32_t least,
                                                       std::uint32_t most) const;
  [[nodiscard]] std::optional<CpuSet> cpus_of(const syntax::Entry& entry) const;
  void refuse_kind(const syntax::Entry& entry, std::string_view wanted,
                   std::string_view example) const;
  [[nodiscard]] std::span<const syntax::Entry> items(std::string_view key) const;

  const syntax::Element* element_;
  std::string shown_;
  Faults* faults_;
};

// The whole of a file, as a table that errors call `shown`, and the faults found in it. Nothing if
// it is not TOML.
[[nodiscard]] std::optional<syntax::Element> read_toml_file(std::string_view text,
                                                            std::string_view shown,
                                                            std::size_t bytes_max, Faults& faults);

}  // namespace meterbank::arbiter
