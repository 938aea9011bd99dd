// SPDX-License-Identifier: Apache-2.0
//
// A recording of providers that never were: the same bytes in each run. It has values of every
// form, rows of every sort of status, rows, sets and providers that come and go, two rates, two
// chunks, a clock that is set back, a gap and a mark.
#pragma once

#include <string>
#include <vector>

#include "meterbank/recording/recording.hpp"

namespace meterbank::test {

// The bytes of a whole file.
[[nodiscard]] std::string golden_recording();

// What docs/examples/read_recording.py prints of a recording: each value of the rows that were
// sampled, a line each, in the order of the recording's moments and sorted within a moment.
[[nodiscard]] std::vector<std::string> lines_of(recording::Recording& recording);

}  // namespace meterbank::test
