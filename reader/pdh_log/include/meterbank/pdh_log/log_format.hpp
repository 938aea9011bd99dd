// SPDX-License-Identifier: Apache-2.0
//
// PDH text logs, as Windows' counter tools write them: a header of quoted paths, then records of a
// local time and quoted numbers, separated by commas (CSV) or tabs (TSV).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/pdh_log/log_time.hpp"

namespace meterbank {

enum class LogFormat : std::uint8_t { kCsv, kTsv };

struct LogHeader {
  LogFormat format = LogFormat::kCsv;
  std::optional<LogZone> zone;  // the oldest writers leave it out
  std::vector<std::string> paths;
};

struct LogRecord {
  LogTime time;
  std::vector<std::string> values;  // digits as written, one a path; empty: no value
};

inline constexpr const char* kLogLineEnd = "\r\n";

// Complete lines, ending in CR LF. A quotation mark within a field is doubled. Paths are cleaned
// where they are made or read; one that a spreadsheet would take for a formula is marked as text
// (spreadsheet_text.hpp). Windows' own begin with two backslashes.
[[nodiscard]] std::string print_log_header(const LogHeader& header);
// The same line in pieces: the title, each path, kLogLineEnd.
[[nodiscard]] std::string print_log_title(LogFormat format, const std::optional<LogZone>& zone);
void append_log_path(LogFormat format, std::string_view path, std::string& line);

[[nodiscard]] std::string print_log_record(LogFormat format, const LogRecord& record);
// The same line in pieces: the time, each value, kLogLineEnd.
void append_log_time(const LogTime& time, std::string& line);
void append_log_value(LogFormat format, std::string_view value, std::string& line);

}  // namespace meterbank
