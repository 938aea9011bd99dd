// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include "forbidden_calls.hpp"

namespace meterbank::test {

// Afterwards all threads of this process get ENOSYS from membarrier(), as from an old kernel.
// False: filters are not to be had here.
inline bool forbid_membarrier() { return forbid({{SYS_membarrier, ENOSYS}}); }

}  // namespace meterbank::test
