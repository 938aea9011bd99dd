// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::agent {

// The lines of a file with headers of requests, such as
//
//   Authorization: Bearer 5f3a...
//
// They are secrets, so no error shows one. Empty lines and those that begin with # are left out.
// Errors: kNotFound, kDenied, kSystem, kLimit (more than 64 KiB), kInvalidArgument: a line that is
// not a header, or one that the protocol sets itself.
[[nodiscard]] Result<std::vector<std::string>> read_headers_file(const std::string& path);

}  // namespace meterbank::agent
