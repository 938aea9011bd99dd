// SPDX-License-Identifier: Apache-2.0
//
// The names that families have on a page, where several may want the same one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

#include "exposition/family/family.hpp"

namespace meterbank::exposition {

// A family as a page shows it. All texts are valid UTF-8 without control characters.
struct NamedFamily {
  std::string name;  // without "_total" and "_info"
  FamilyType type = FamilyType::kGauge;
  std::string unit, ucum, help;
  std::string text_label;  // kInfo: name of the label that has the text

  // With "_total" or "_info".
  [[nodiscard]] std::string full_name() const { return name + std::string(suffix_of(type)); }
};

// What the instances of a set are called in labels; empty: the set has one row without a name.
[[nodiscard]] std::string instance_label_of(const Counterset& set, const MetricNames& names);

// Gives each family a name of its own: the one it asks for, or, where another family or what pages
// say beside the counters has it, one with the first digits of the GUID of its set.
class FamilyNames {
 public:
  // `names` must outlive this object.
  explicit FamilyNames(const MetricNames& names);

  // `family` is one of families_of(set).
  [[nodiscard]] NamedFamily add(const Family& family, const Counterset& set);
  // How many families got another name than they asked for.
  [[nodiscard]] std::size_t renamed() const noexcept { return renamed_; }

 private:
  [[nodiscard]] std::string free_name(const Family& family, const Counterset& set);
  [[nodiscard]] bool take(const std::string& name, FamilyType type);

  const MetricNames& names_;
  std::unordered_set<std::string> taken_;
  std::size_t renamed_ = 0;
};

}  // namespace meterbank::exposition
