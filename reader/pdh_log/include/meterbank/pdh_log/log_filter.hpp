// SPDX-License-Identifier: Apache-2.0
//
// Which columns of a log a list of paths means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank {

struct LogColumns {
  std::vector<std::size_t> columns;    // in the order of the log, each once
  std::vector<std::string> unmatched;  // patterns that mean none of them
};

// Patterns are counter paths in either spelling, with globs in every part; what one leaves out may
// be anything. No patterns: all columns. A column whose path does not parse is meant by the same
// text only. The error is that of a pattern that does not parse.
[[nodiscard]] Result<LogColumns> choose_log_columns(const std::vector<std::string>& paths,
                                                    const std::vector<std::string>& patterns);

}  // namespace meterbank
