// SPDX-License-Identifier: Apache-2.0
//
// Counters as text logs have them: each collection is the next record.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../query/counter_source.hpp"
#include "meterbank/pdh_log/log_merge.hpp"

namespace meterbank::pdh {

// PDH_FILE_NOT_FOUND, PDH_ACCESS_DENIED, PDH_LOG_FILE_OPEN_ERROR for a file that cannot be opened,
// PDH_UNABLE_READ_LOG_HEADER for one that is not a text log or has other counters than the first.
[[nodiscard]] PDH_STATUS open_logs(const std::vector<std::string>& files,
                                   std::optional<LogMerge>& logs);

// Between the local times of logs and those of Windows.
[[nodiscard]] std::int64_t local_time_of(LogTime time) noexcept;
[[nodiscard]] LogTime log_time_at(std::int64_t local_time) noexcept;

class LogSource final : public CounterSource {
 public:
  LogSource(std::vector<std::string> files, LogMerge logs)
      : files_(std::move(files)), logs_(std::move(logs)) {}

  [[nodiscard]] bool is_real_time() const noexcept override { return false; }
  [[nodiscard]] PDH_STATUS set_range(std::int64_t begin, std::int64_t end) override;
  // PDH_ENTRY_NOT_IN_LOG_FILE: no column is called so.
  [[nodiscard]] PDH_STATUS find(const PathElements& path, FoundCounter& found) override;
  // PDH_NO_MORE_DATA behind the last record; PDH_INVALID_DATA at one that is malformed.
  [[nodiscard]] PDH_STATUS collect(std::vector<FoundCounter> counters) override;
  [[nodiscard]] std::int64_t local_time() const noexcept override;
  [[nodiscard]] std::vector<std::vector<Reading>> readings(CookOptions options) const override;
  [[nodiscard]] DWORD why_absent(std::size_t /*counter*/) const noexcept override {
    return PDH_CSTATUS_NO_INSTANCE;
  }

 private:
  [[nodiscard]] Reading reading_of(std::size_t column) const;

  const std::vector<std::string> files_;
  LogMerge logs_;
  bool is_broken_ = false;  // a record is malformed: nothing is read behind it
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ = std::numeric_limits<std::int64_t>::max();
  LogRecord older_, newer_;
  std::vector<FoundCounter> counters_;
  // Of the columns; names of readings point here. Empty until a counter is found.
  std::vector<std::string> instances_;
};

}  // namespace meterbank::pdh
