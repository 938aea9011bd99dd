// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

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

}  // namespace meterbank::exposition
