// SPDX-License-Identifier: Apache-2.0
//
// The name of this machine, which Windows' paths and tools carry.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::cli {

[[nodiscard]] std::string machine_name();
// Its name, a dot or localhost, with backslashes in front or without.
[[nodiscard]] bool is_this_machine(std::string_view host);

}  // namespace meterbank::cli
