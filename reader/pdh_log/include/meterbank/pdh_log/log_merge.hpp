// SPDX-License-Identifier: Apache-2.0
//
// Several logs of the same counters as one, in order of time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meterbank/pdh_log/log_reader.hpp"

namespace meterbank {

class LogMerge {
 public:
  // Opens all files at once. Fails if one is not a log, or has other counters than the first; their
  // order and the case of their paths do not matter.
  [[nodiscard]] static Result<LogMerge> open(std::span<const std::string> files);

  // Of the first file; all records are as if it had them.
  [[nodiscard]] const LogHeader& header() const noexcept { return sources_.front().log.header(); }

  [[nodiscard]] LogFormat format_of(std::size_t file) const {
    return sources_.at(file).log.header().format;
  }

  // The earliest record that is left; of equally early ones, that of the first file. Within a file
  // the order stays as it is. Times of another zone are moved to that of the first file. An error
  // is about the record behind the last one; there is nothing to read after it.
  [[nodiscard]] Result<bool> next(LogRecord& record);

 private:
  struct Source {
    LogReader log;
    std::vector<std::size_t> columns;  // where the first file has each of this one's values
    std::chrono::minutes shift{0};     // from this file's local time to the first one's
    LogRecord head;
    bool has_head = false;
  };

  [[nodiscard]] static Result<Source> join(LogReader log, const LogHeader& first,
                                           const std::string& first_name);
  [[nodiscard]] static Result<void> advance(Source& source);

  std::vector<Source> sources_;
  std::optional<std::size_t> taken_;  // the source whose head was returned last
};

}  // namespace meterbank
