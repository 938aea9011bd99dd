// SPDX-License-Identifier: Apache-2.0
//
// The soft limit of open files. The library lives with what its process has; this program takes all
// it may, and gives none of it to the programs that it starts: they may count on small numbers.
#pragma once

namespace meterbank::cli {

void raise_open_files_limit() noexcept;
// As it was. Async-signal-safe.
void restore_open_files_limit() noexcept;

}  // namespace meterbank::cli
