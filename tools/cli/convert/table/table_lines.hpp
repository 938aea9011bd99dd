// SPDX-License-Identifier: Apache-2.0
//
// Tables of values, read value by value in the order in which they were printed: those of `get -f
// csv`, and the text logs of Windows' tools.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

struct TableValue {
  std::uint64_t line = 0;     // in the file, from 1
  std::uint64_t time_ns = 0;  // since 1970
  std::string provider, set, instance, counter, value, unit;
  std::string host;  // in a table of several machines
};

class TableLines {
 public:
  virtual ~TableLines() = default;
  // False: there is no further value. Errors name the line.
  virtual Result<bool> next(TableValue& value) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;  // that were read
  // What is to be said of the table; empty: nothing.
  [[nodiscard]] virtual std::string note() const { return {}; }
};

// Errors: kInvalidArgument, if the first line is that of no such table; what the file says.
[[nodiscard]] Result<std::unique_ptr<TableLines>> open_table(const std::string& path);

}  // namespace meterbank::cli
