// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check/condition.hpp"

namespace meterbank::cli {

// `meterbank record`: what is not in SelectionOptions and the moments of an Invocation.
struct RecordOptions {
  struct Rate {
    std::string pattern;
    std::chrono::nanoseconds interval{};
  };
  std::vector<Rate> rates;                 // beside that of all else
  std::optional<std::uint64_t> bytes_max;  // of a directory of files
  std::optional<std::chrono::nanoseconds> age_max;
  std::chrono::nanoseconds last = std::chrono::minutes(5);  // that SIGUSR1 saves
  std::vector<Condition> when;                              // each keeps what is around it
  std::chrono::nanoseconds before = std::chrono::minutes(1), after = std::chrono::minutes(1);
  std::vector<std::string> command;  // is recorded around

  [[nodiscard]] bool has_limits() const noexcept { return bytes_max || age_max; }
};

enum class LogAction : std::uint8_t { kInfo, kCheck, kCut, kSave, kMerge, kConvert };

// What `log convert` makes beside the formats of get.
enum class Conversion : std::uint8_t { kRows, kOpenMetrics, kPcp, kPerfetto, kSqlite, kFromTable };

// `meterbank log ACTION FILE`; moments are in SelectionOptions::log.
struct LogVerbOptions {
  LogAction action = LogAction::kInfo;
  std::vector<std::string> inputs;  // merge
  Conversion conversion = Conversion::kRows;
  std::chrono::nanoseconds last = std::chrono::minutes(5);  // save
};

}  // namespace meterbank::cli
