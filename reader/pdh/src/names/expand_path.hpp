// SPDX-License-Identifier: Apache-2.0
//
// Paths with wildcards as the paths that they stand for.
#pragma once

#include <string>
#include <vector>

#include "found_counter.hpp"

namespace meterbank::pdh {

// Object by object, instance by instance, counter by counter; with the name of this machine.
// `flags` are PDH_NOEXPAND... Codes: PDH_CSTATUS_NO_OBJECT and PDH_CSTATUS_NO_COUNTER, where
// nothing matches, PDH_INVALID_PATH, where an instance is named in vain or not named.
[[nodiscard]] PDH_STATUS expand_path(const Catalog& catalog, const PathElements& path, DWORD flags,
                                     std::vector<std::string>& paths);

}  // namespace meterbank::pdh
