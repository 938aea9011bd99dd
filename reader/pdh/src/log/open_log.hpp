// SPDX-License-Identifier: Apache-2.0
//
// What a log handle stands for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "log_writer.hpp"
#include "meterbank/windows/handle_table.hpp"

namespace meterbank::pdh {

struct OpenLog {
  std::vector<std::string> files;     // to be read
  std::unique_ptr<LogWriter> writer;  // null: the log is read
};
using LogHandles = windows::HandleTable<OpenLog>;

}  // namespace meterbank::pdh
