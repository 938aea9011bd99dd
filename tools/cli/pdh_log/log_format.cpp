// SPDX-License-Identifier: Apache-2.0
#include "cli/pdh_log/log_format.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/format/separated_values.hpp"

namespace meterbank::cli {
namespace {

void put_field(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

constexpr char separator_of(LogFormat format) { return format == LogFormat::kCsv ? ',' : '\t'; }

}  // namespace

std::string print_log_header(const LogHeader& header) {
  std::string first = header.format == LogFormat::kCsv ? "(PDH-CSV 4.0)" : "(PDH-TSV 4.0)";
  if (header.zone) {
    first += fmt::format(" ({})({})", escape_composed(header.zone->name, Composed::kLine),
                         header.zone->bias_minutes);
  }
  std::string line;
  put_field(line, first);
  for (const auto& path : header.paths) {
    line += separator_of(header.format);
    put_field(line, spreadsheet_text(escape_composed(path, Composed::kLine)));
  }
  return line + "\r\n";
}

std::string print_log_record(LogFormat format, const LogRecord& record) {
  std::string line;
  put_field(line, print_log_time(record.time));
  for (const auto& value : record.values) {
    line += separator_of(format);
    put_field(line, value.empty() ? " " : value);
  }
  return line + "\r\n";
}

}  // namespace meterbank::cli
