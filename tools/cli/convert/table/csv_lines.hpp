// SPDX-License-Identifier: Apache-2.0
//
// The lines of `get -f csv`, read back one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "cli/convert/table/table_lines.hpp"

namespace meterbank::cli {

class CsvLines final : public TableLines {
 public:
  // Errors: kInvalidArgument, if the first line is not that of `get -f csv`; what the file says.
  static Result<CsvLines> open(const std::string& path);

  // False: there is no further line. Errors: kCorrupt, with the number of the line.
  Result<bool> next(TableValue& value) override;
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }

 private:
  explicit CsvLines(std::string path) : path_(std::move(path)) {}
  Result<bool> read_fields();
  [[nodiscard]] tl::unexpected<Error> malformed(const std::string& what) const;

  std::string path_;
  std::ifstream file_;
  std::vector<std::string> fields_;
  std::size_t columns_ = 0;  // each line must have as many as the first
  std::string time_text_;    // that was read last
  std::uint64_t time_ns_ = 0;
  std::uint64_t line_ = 0;   // that fields_ begin in
  std::uint64_t lines_ = 0;  // that were read
  std::uint64_t bytes_ = 0;
};

}  // namespace meterbank::cli
