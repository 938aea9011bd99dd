// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a text log. What was read must have the form that was promised, and must be the same
// after it was written in either format and read again.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a reader that believes the
// header about the number of values goes beside the real one, and the fuzzer must find where it
// writes outside.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/pdh_log/log_filter.hpp"
#include "meterbank/pdh_log/log_reader.hpp"
#include "meterbank/pdh_log/spreadsheet_text.hpp"

namespace meterbank {
namespace {

struct ReadLog {
  LogHeader header;
  std::vector<LogRecord> records;
  bool whole = false;  // ended without a fault
};

void demand(bool kept) {
  if (!kept) ::abort();
}

// "log:LINE:COLUMN: FAULT: what", short enough for a terminal.
void demand_a_place(const Error& error) {
  demand(error.what.starts_with("log:") && error.what.size() < 500);
  demand(error.code == ErrorCode::kInvalidArgument);
}

// Nothing if the header is invalid.
std::optional<ReadLog> read_log(const std::string& text) {
  auto reader = LogReader::read(std::make_unique<std::istringstream>(text), "log");
  if (!reader) {
    demand_a_place(reader.error());
    return std::nullopt;
  }
  ReadLog log{reader->header(), {}, false};
  demand(log.header.paths.size() <= kLogColumnsMax);
  for (LogRecord record;;) {
    const auto more = reader->next(record);
    if (!more) {
      demand_a_place(more.error());
      return log;
    }
    if (!*more) break;
    demand(record.values.size() == log.header.paths.size());
    log.records.push_back(record);
  }
  log.whole = true;
  return log;
}

std::string print(const ReadLog& log, LogFormat format) {
  auto text = print_log_header(log.header);
  for (const auto& record : log.records) text += print_log_record(format, record);
  return text;
}

// What is written of a log that was read is the same log, but for the marks of paths that a
// spreadsheet would take for formulas. Written once more it does not change.
void demand_the_same_again(ReadLog log, LogFormat format) {
  log.header.format = format;
  for (auto& path : log.header.paths) path = spreadsheet_text(path);
  const auto text = print(log, format);
  const auto again = read_log(text);
  demand(again && again->whole);
  demand(again->header.format == format && again->header.zone == log.header.zone);
  demand(again->header.paths == log.header.paths);
  demand(again->records.size() == log.records.size());
  for (std::size_t i = 0; i < log.records.size(); ++i) {
    demand(again->records[i].time == log.records[i].time);
    demand(again->records[i].values == log.records[i].values);
  }
  demand(print(*again, format) == text);
}

// A path that can be read as a pattern means its own column at least, unless it holds wildcards of
// its own.
void choose_by_the_first_path(const LogHeader& header) {
  if (header.paths.empty()) return;
  const auto choice = choose_log_columns(header.paths, {header.paths.front()});
  if (choice) demand(!choice->columns.empty() && choice->columns.front() == 0);
}

#ifdef METERBANK_FUZZ_CONTROL
// The fault: each record is believed to have as many values as the header has fields.
void read_believing(std::string_view text) {
  const auto header = text.substr(0, text.find('\n'));
  std::size_t columns = 1;
  for (const char c : header) columns += c == ',' ? 1 : 0;
  const auto lengths = std::make_unique<std::size_t[]>(columns);
  std::size_t column = 0;
  for (const char c : text.substr(header.size())) {
    if (c == '\n') column = 0;
    if (c == ',') ++column;
    ++lengths[column];
  }
}
#endif

}  // namespace
}  // namespace meterbank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto log = read_log(text)) {
    demand_the_same_again(*log, LogFormat::kCsv);
    demand_the_same_again(*log, LogFormat::kTsv);
    choose_by_the_first_path(log->header);
  }
#ifdef METERBANK_FUZZ_CONTROL
  read_believing(text);
#endif
  return 0;
}
