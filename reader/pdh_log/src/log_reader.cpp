// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_reader.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>

#include "meterbank/pdh_log/spreadsheet_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

constexpr std::string_view kCsvMark = "(PDH-CSV 4.0)";
constexpr std::string_view kTsvMark = "(PDH-TSV 4.0)";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr const char* kTextLog = "a text log of typeperf, relog or get -f pdh-csv";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string more_than(std::size_t limit, std::string_view what) {
  return "more than " + std::to_string(limit) + " " + std::string(what);
}

bool is_finite_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

std::string_view name_of(LogFault fault) noexcept {
  switch (fault) {
    case LogFault::kNoHeader:
      return "no-header";
    case LogFault::kBinary:
      return "binary";
    case LogFault::kLineTooLong:
      return "line-too-long";
    case LogFault::kFieldTooLong:
      return "field-too-long";
    case LogFault::kTooManyColumns:
      return "too-many-columns";
    case LogFault::kMissingQuote:
      return "missing-quote";
    case LogFault::kColumnCount:
      return "column-count";
    case LogFault::kBadTime:
      return "bad-time";
    case LogFault::kBadValue:
      return "bad-value";
    case LogFault::kReadError:
      break;
  }
  return "read-error";
}

Result<LogReader> LogReader::open(const std::string& file) {
  errno = 0;
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  // A directory opens, and says at the first byte that it cannot be read.
  const bool readable = stream->is_open() && (stream->peek(), !stream->bad());
  if (!readable) {
    return fail(ErrorCode::kInvalidArgument, "cannot read " + file, kTextLog, errno);
  }
  stream->clear();
  return read(std::move(stream), file);
}

Result<LogReader> LogReader::read(std::unique_ptr<std::istream> stream, std::string name) {
  LogReader reader(std::move(stream), std::move(name));
  if (auto header = reader.read_header(); !header) return tl::make_unexpected(header.error());
  return reader;
}

tl::unexpected<Error> LogReader::fault(LogFault fault, std::size_t offset, std::string_view what,
                                       std::string remedy) const {
  if (remedy.empty() && line_number_ > 1) {
    remedy =
        "head -n " + std::to_string(line_number_ - 1) + " " + name_ + ", which ends before that";
  } else if (remedy.empty()) {
    remedy = kTextLog;
  }
  const auto before = std::string_view(line_).substr(0, offset);
  return fail(ErrorCode::kInvalidArgument,
              name_ + ":" + std::to_string(line_number_) + ":" +
                  std::to_string(count_code_points(before) + 1) + ": " +
                  std::string(name_of(fault)) + ": " + std::string(what),
              std::move(remedy));
}

// Puts the next line that is not empty into line_, without its end. False: there is none.
Result<bool> LogReader::read_line() {
  for (;;) {
    line_.clear();
    ++line_number_;
    bool ended = false;
    for (;;) {
      const int byte = stream_->get();
      ended = byte == std::char_traits<char>::eof();
      if (ended || byte == '\n') break;
      if (byte == 0) {
        return fault(LogFault::kBinary, line_.size(), "a NUL byte, so this is not a text log",
                     kTextLog);
      }
      if (line_.size() == kLogLineBytesMax) {
        return fault(LogFault::kLineTooLong, line_.size(),
                     more_than(kLogLineBytesMax, "bytes in a line"));
      }
      line_ += static_cast<char>(byte);
    }
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (line_number_ == 1 && line_.starts_with(kByteOrderMark)) line_.erase(0, 3);
    cursor_ = 0;
    if (!line_.empty()) return true;
    if (ended) return false;
  }
}

Result<void> LogReader::take_field(std::size_t bytes_max) {
  if (cursor_ >= line_.size() || line_[cursor_] != '"') {
    return fault(LogFault::kMissingQuote, cursor_, "expected '\"' before the field");
  }
  field_begin_ = ++cursor_;
  field_.clear();
  for (;;) {
    if (cursor_ == line_.size()) {
      return fault(LogFault::kMissingQuote, cursor_, "expected '\"' behind the field");
    }
    const char c = line_[cursor_++];
    if (c == '"') {
      const bool doubled = cursor_ < line_.size() && line_[cursor_] == '"';
      if (!doubled) break;
      ++cursor_;
    }
    if (field_.size() == bytes_max) {
      return fault(LogFault::kFieldTooLong, field_begin_, more_than(bytes_max, "bytes in a field"));
    }
    field_ += c;
  }
  if (cursor_ < line_.size() && line_[cursor_] != separator_) {
    return fault(LogFault::kMissingQuote, cursor_,
                 separator_ == ',' ? "expected a comma or the end of the line behind a field"
                                   : "expected a tab or the end of the line behind a field");
  }
  ++cursor_;
  return {};
}

// `text` is what the first field has behind the mark: " (zone)(bias)", or nothing.
Result<void> LogReader::read_zone(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return {};
  const auto open = text.rfind('(');
  const bool framed = text.front() == '(' && text.back() == ')' && open > 1 &&
                      open != std::string_view::npos && text[open - 1] == ')';
  int bias = 0;
  constexpr int kBiasMax = 26 * 60;
  if (framed) {
    const auto digits = text.substr(open + 1, text.size() - open - 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bias);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    const auto name = escape_composed(text.substr(1, open - 2), Composed::kLine);
    if (name.size() > kLogZoneBytesMax) {
      return fault(LogFault::kFieldTooLong, field_begin_ + kCsvMark.size(),
                   more_than(kLogZoneBytesMax, "bytes in the name of a time zone"));
    }
    if (whole && bias >= -kBiasMax && bias <= kBiasMax) {
      header_.zone = LogZone{name, bias};
      return {};
    }
  }
  return fault(LogFault::kNoHeader, field_begin_ + kCsvMark.size(),
               "expected the time zone as \"(name)(minutes)\"");
}

Result<void> LogReader::read_header() {
  const auto line = read_line();
  if (!line) return tl::make_unexpected(line.error());
  const auto text = std::string_view(line_);
  const bool quoted = text.starts_with('"');
  const bool csv = quoted && text.substr(1).starts_with(kCsvMark);
  const bool tsv = quoted && text.substr(1).starts_with(kTsvMark);
  if (!*line || (!csv && !tsv)) {
    return fault(LogFault::kNoHeader, 0,
                 "expected \"(PDH-CSV 4.0) (zone)(minutes)\" or the same with TSV", kTextLog);
  }
  header_.format = csv ? LogFormat::kCsv : LogFormat::kTsv;
  separator_ = csv ? ',' : '\t';
  if (auto field = take_field(kLogPathBytesMax); !field) return field;
  if (auto zone = read_zone(std::string_view(field_).substr(kCsvMark.size())); !zone) return zone;
  while (!at_end()) {
    if (header_.paths.size() == kLogColumnsMax) {
      return fault(LogFault::kTooManyColumns, cursor_, more_than(kLogColumnsMax, "counters"));
    }
    if (auto field = take_field(kLogPathBytesMax); !field) return field;
    auto path = escape_composed(field_, Composed::kLine);
    // What is read must still be readable when it is written.
    if (spreadsheet_text(path).size() > kLogPathBytesMax) {
      return fault(LogFault::kFieldTooLong, field_begin_,
                   more_than(kLogPathBytesMax, "bytes in a path"));
    }
    header_.paths.push_back(std::move(path));
  }
  return {};
}

Result<bool> LogReader::next(LogRecord& record) {
  const auto line = read_line();
  if (!line) return tl::make_unexpected(line.error());
  if (!*line) {
    if (stream_->bad()) return fault(LogFault::kReadError, 0, "the file cannot be read on");
    return false;
  }
  if (auto field = take_field(kLogValueBytesMax); !field) {
    return tl::make_unexpected(field.error());
  }
  const auto time = parse_log_time(field_);
  if (!time) {
    return fault(LogFault::kBadTime, field_begin_, "expected MM/DD/YYYY HH:MM:SS.mmm");
  }
  record.time = *time;
  record.values.clear();
  while (!at_end()) {
    if (record.values.size() == header_.paths.size()) {
      return fault(LogFault::kColumnCount, cursor_,
                   "more values than the " + std::to_string(header_.paths.size()) + " counters");
    }
    if (auto field = take_field(kLogValueBytesMax); !field) {
      return tl::make_unexpected(field.error());
    }
    const auto value = trimmed(field_);
    if (!value.empty() && !is_finite_number(value)) {
      return fault(LogFault::kBadValue, field_begin_, "expected a number, or a blank for none");
    }
    record.values.emplace_back(value);
  }
  if (record.values.size() == header_.paths.size()) return true;
  return fault(LogFault::kColumnCount, line_.size(),
               std::to_string(record.values.size()) + " values for " +
                   std::to_string(header_.paths.size()) + " counters");
}

}  // namespace meterbank
