// SPDX-License-Identifier: Apache-2.0
//
// The name of this machine, which Windows' functions and tools take and their paths begin with.
#pragma once

#include <string>
#include <string_view>

namespace meterbank {

[[nodiscard]] std::string machine_name();
// An empty text, a dot, localhost or its name; with backslashes in front or without.
[[nodiscard]] bool names_this_machine(std::string_view machine);

}  // namespace meterbank
