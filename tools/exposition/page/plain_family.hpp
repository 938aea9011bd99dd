// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/family/family.hpp"
#include "exposition/page/labels.hpp"

namespace meterbank::exposition {

// What pages say beside the counters. No counter gets one of these names.
namespace about_names {
inline constexpr std::string_view kProvider = "provider";
inline constexpr std::string_view kProviderUp = "provider_up";
inline constexpr std::string_view kProviderStart = "provider_start_time_seconds";
inline constexpr std::string_view kSkew = "snapshot_skew_seconds";
inline constexpr std::string_view kRows = "snapshot_rows";
inline constexpr std::string_view kRowsLeftOut = "snapshot_rows_left_out";
inline constexpr std::string_view kRenamed = "snapshot_families_renamed";
inline constexpr std::string_view kUnmatched = "snapshot_paths_unmatched";
inline constexpr std::string_view kProvidersLeftOut = "snapshot_providers_left_out";
inline constexpr std::array kAll = {kProvider, kProviderUp, kProviderStart,
                                    kSkew,     kRows,       kRowsLeftOut,
                                    kRenamed,  kUnmatched,  kProvidersLeftOut};
}  // namespace about_names

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
