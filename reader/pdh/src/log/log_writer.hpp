// SPDX-License-Identifier: Apache-2.0
//
// A text log that a query is written to, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../query/pdh_query.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pdh_log/log_format.hpp"

namespace meterbank::pdh {

// Thread safety: any thread may call any function; calls wait for each other.
class LogWriter {
 public:
  LogWriter(UniqueFd file, LogFormat format, std::shared_ptr<PdhQuery> query,
            std::uintptr_t query_handle)
      : file_(std::move(file)),
        format_(format),
        query_(std::move(query)),
        query_handle_(query_handle) {}

  // Collects and appends a record. The columns are those of the first one: what comes later is left
  // out, what goes is blank until it is back. ERROR_WRITE_FAULT: nothing of the record is in the
  // file.
  [[nodiscard]] PDH_STATUS update();
  [[nodiscard]] PDH_STATUS size(LONGLONG& bytes) const;
  [[nodiscard]] std::uintptr_t query_handle() const noexcept { return query_handle_; }

 private:
  // ERROR_WRITE_FAULT: the file is as it was.
  [[nodiscard]] PDH_STATUS append(std::string_view text);

  mutable std::mutex mutex_;
  const UniqueFd file_;
  const LogFormat format_;
  const std::shared_ptr<PdhQuery> query_;
  const std::uintptr_t query_handle_;
  bool has_header_ = false;
  std::size_t end_ = 0;  // of the last whole record
  std::vector<std::string> paths_;
};

}  // namespace meterbank::pdh
