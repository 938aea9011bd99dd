// SPDX-License-Identifier: Apache-2.0
//
// Reading PDH text logs of any program. Whatever the bytes are, reading ends with
// records or with a fault that has a name and a place; memory is bounded by the limits below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/pdh_log/log_format.hpp"

namespace meterbank {

inline constexpr std::size_t kLogLineBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kLogPathBytesMax = std::size_t{12} << 10;
inline constexpr std::size_t kLogValueBytesMax = 64;
inline constexpr std::size_t kLogZoneBytesMax = 128;
inline constexpr std::size_t kLogColumnsMax = 65'536;  // without the time

enum class LogFault : std::uint8_t {
  kNoHeader,      // the first line is not that of a PDH text log
  kBinary,        // a NUL byte: a binary log, or UTF-16
  kLineTooLong,   // kLogLineBytesMax
  kFieldTooLong,  // kLogPathBytesMax, kLogValueBytesMax, kLogZoneBytesMax
  kTooManyColumns,
  kMissingQuote,
  kColumnCount,  // a record with more or fewer values than the header has paths
  kBadTime,
  kBadValue,  // not a finite number
  kReadError,
};
// "missing-quote"; in every message, for scripts.
[[nodiscard]] std::string_view name_of(LogFault fault) noexcept;

class LogReader {
 public:
  // Reads the header. Errors are "FILE:LINE:COLUMN: FAULT: what", columns in characters from 1.
  [[nodiscard]] static Result<LogReader> open(const std::string& file);
  [[nodiscard]] static Result<LogReader> read(std::unique_ptr<std::istream> stream,
                                              std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const LogHeader& header() const noexcept { return header_; }

  // The next record; false at the end. Lines without any text are passed over. After an error,
  // nothing more is read.
  [[nodiscard]] Result<bool> next(LogRecord& record);

 private:
  LogReader(std::unique_ptr<std::istream> stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)) {}

  [[nodiscard]] tl::unexpected<Error> fault(LogFault fault, std::size_t offset,
                                            std::string_view what, std::string remedy = {}) const;
  [[nodiscard]] Result<bool> read_line();
  [[nodiscard]] Result<void> read_header();
  [[nodiscard]] Result<void> read_zone(std::string_view text);
  // Takes a quoted field that begins at cursor_, and the separator behind it.
  [[nodiscard]] Result<void> take_field(std::size_t bytes_max);
  [[nodiscard]] bool at_end() const noexcept { return cursor_ > line_.size(); }

  std::unique_ptr<std::istream> stream_;
  std::string name_;
  LogHeader header_;
  char separator_ = ',';
  std::uint64_t line_number_ = 0;
  std::string line_;
  std::size_t cursor_ = 0;       // in line_; behind its end: no field is left
  std::size_t field_begin_ = 0;  // offset of the field's text
  std::string field_;
};

}  // namespace meterbank
