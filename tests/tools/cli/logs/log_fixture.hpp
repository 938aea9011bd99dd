// SPDX-License-Identifier: Apache-2.0
//
// What tests of typeperf and relog share: a time zone for a scope, and a log taken apart.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "meterbank/pdh_log/log_reader.hpp"

namespace meterbank::cli {

class ScopedTimeZone {
 public:
  explicit ScopedTimeZone(const char* zone) {
    if (const char* const before = ::getenv("TZ")) before_ = before;
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ScopedTimeZone(const ScopedTimeZone&) = delete;
  ScopedTimeZone& operator=(const ScopedTimeZone&) = delete;
  ~ScopedTimeZone() {
    if (before_) {
      ::setenv("TZ", before_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

 private:
  std::optional<std::string> before_;
};

struct WholeLog {
  LogHeader header;
  std::vector<LogRecord> records;

  [[nodiscard]] std::vector<std::string> column(std::size_t index) const {
    std::vector<std::string> values;
    for (const auto& record : records) values.push_back(record.values.at(index));
    return values;
  }
};

// Empty, and a failure of the test, if `file` is no log.
inline WholeLog read_whole_log(const std::string& file) {
  auto reader = LogReader::open(file);
  EXPECT_TRUE(reader) << reader.error().message();
  if (!reader) return {};
  WholeLog log{reader->header(), {}};
  for (LogRecord record;;) {
    const auto more = reader->next(record);
    EXPECT_TRUE(more) << more.error().message();
    if (!more || !*more) return log;
    log.records.push_back(record);
  }
}

}  // namespace meterbank::cli
