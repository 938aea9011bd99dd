// SPDX-License-Identifier: Apache-2.0
//
// The values of a PDH text log: each record has one for each path of its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/convert/table/table_lines.hpp"
#include "meterbank/pdh_log/log_reader.hpp"

namespace meterbank::cli {

class PdhLines final : public TableLines {
 public:
  // Errors: those of LogReader; kCorrupt, if two columns have one path.
  static Result<std::unique_ptr<TableLines>> open(const std::string& path);

  Result<bool> next(TableValue& value) override;
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] std::string note() const override;

 private:
  struct Column {
    std::string provider, set, instance, counter;

    auto operator<=>(const Column&) const = default;
  };

  PdhLines(LogReader log, std::uint64_t bytes) : log_(std::move(log)), bytes_(bytes) {}
  static Column column_of(const std::string& path);
  Result<void> read_header();

  LogReader log_;
  std::uint64_t bytes_ = 0;  // of the whole file
  std::vector<Column> columns_;
  LogRecord record_;
  std::size_t column_ = 0;  // that is next
  std::uint64_t line_ = 1;  // of the record
  std::uint64_t time_ns_ = 0;
};

}  // namespace meterbank::cli
