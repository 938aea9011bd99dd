// SPDX-License-Identifier: Apache-2.0
//
// From paths on a command line to a query over a recording.
#pragma once

#include <string>
#include <vector>

#include "cli/session/selection.hpp"

namespace meterbank::cli {

// Precondition: the options name a recording. Shows its first moment that is wanted. With a range
// it looks through all moments of it for patterns that match nothing there; a stop or the timeout
// ends that with kGone.
[[nodiscard]] Result<Selection> open_log(const SelectionOptions& options,
                                         std::vector<std::string> patterns, Waiter& waiter);

// The machine that it was recorded on, as its head says; empty: it does not say.
[[nodiscard]] std::string recorded_host(const recording::Recording& log);

}  // namespace meterbank::cli
