// SPDX-License-Identifier: Apache-2.0
//
// A negative control: this header leans on an include it does not make, and the check that compiles
// each public header alone must refuse it.
#pragma once

namespace meterbank::tidy {
inline std::string naked() { return {}; }
}  // namespace meterbank::tidy
