// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_format.hpp"

#include "meterbank/pdh_log/spreadsheet_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
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

std::string print_log_title(LogFormat format, const std::optional<LogZone>& zone) {
  std::string title = format == LogFormat::kCsv ? "(PDH-CSV 4.0)" : "(PDH-TSV 4.0)";
  if (zone) {
    title.append(" (").append(escape_composed(zone->name, Composed::kLine)).append(")(");
    title.append(std::to_string(zone->bias_minutes)).append(")");
  }
  std::string line;
  put_field(line, title);
  return line;
}

void append_log_path(LogFormat format, std::string_view path, std::string& line) {
  line += separator_of(format);
  put_field(line, spreadsheet_text(escape_composed(path, Composed::kLine)));
}

std::string print_log_header(const LogHeader& header) {
  std::string line = print_log_title(header.format, header.zone);
  for (const auto& path : header.paths) append_log_path(header.format, path, line);
  return line + kLogLineEnd;
}

std::string print_log_record(LogFormat format, const LogRecord& record) {
  std::string line;
  put_field(line, print_log_time(record.time));
  for (const auto& value : record.values) {
    line += separator_of(format);
    put_field(line, value.empty() ? " " : value);
  }
  return line + kLogLineEnd;
}

}  // namespace meterbank
