// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exposition/family/about_names.hpp"
#include "exposition/family/family.hpp"
#include "exposition/page/labels.hpp"

namespace meterbank::exposition {

// Series about the providers or about the snapshot itself, which no counter stands behind.
struct PlainSeries {
  std::vector<Label> labels;
  double value = 0;
};
struct PlainFamily {
  std::string name;  // without "_total" and "_info"
  FamilyType type = FamilyType::kGauge;
  std::string unit, help;
  std::vector<PlainSeries> series;

  [[nodiscard]] std::string full_name() const { return name + std::string(suffix_of(type)); }
};

}  // namespace meterbank::exposition
