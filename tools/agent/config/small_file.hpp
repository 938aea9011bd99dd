// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::agent {

// A whole file of at most so many bytes. Errors: kNotFound, kDenied, kSystem, kLimit.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace meterbank::agent
