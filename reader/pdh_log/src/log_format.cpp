// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_format.hpp"

#include "meterbank/pdh_log/spreadsheet_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

void put_field(std::string& line, std::string_view text) {
  line += '"';
  for (auto at = text.find('"'); at != std::string_view::npos; at = text.find('"')) {
    line.append(text.substr(0, at)).append(2, '"');
    text.remove_prefix(at + 1);
  }
  line.append(text).push_back('"');
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
  const bool is_plain = plain_bytes(path) == path.size() && !is_spreadsheet_formula(path);
  if (is_plain) return put_field(line, path);
  put_field(line, spreadsheet_text(escape_composed(path, Composed::kLine)));
}

std::string print_log_header(const LogHeader& header) {
  std::string line = print_log_title(header.format, header.zone);
  for (const auto& path : header.paths) append_log_path(header.format, path, line);
  return line + kLogLineEnd;
}

std::string print_log_record(LogFormat format, const LogRecord& record) {
  std::string line;
  append_log_time(record.time, line);
  for (const auto& value : record.values) append_log_value(format, value, line);
  return line + kLogLineEnd;
}

void append_log_time(const LogTime& time, std::string& line) {
  put_field(line, print_log_time(time));
}

void append_log_value(LogFormat format, std::string_view value, std::string& line) {
  line += separator_of(format);
  put_field(line, value.empty() ? " " : value);
}

}  // namespace meterbank
