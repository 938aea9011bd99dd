// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank {

// The remedy where this process lacks descriptors.
inline constexpr const char* kMoreDescriptors = "raise the limit of open files: ulimit -n";

// Opens the memory behind a descriptor of another process through procfs, if it is a regular file
// with this inode. `owner`: who is said to own it, for the reason of a refusal. Errors: kDenied
// kGone kSystem.
[[nodiscard]] Result<UniqueFd> open_memory_of(std::uint32_t pid, std::uint32_t descriptor,
                                              std::uint64_t inode, std::uint32_t owner);

}  // namespace meterbank
