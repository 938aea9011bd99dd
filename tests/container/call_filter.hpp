// SPDX-License-Identifier: Apache-2.0
//
// The system calls that container runtimes forbid by default.
#pragma once

namespace meterbank::test {

// For this process and what it becomes. False: errno says why not.
[[nodiscard]] bool install_call_filter();

}  // namespace meterbank::test
