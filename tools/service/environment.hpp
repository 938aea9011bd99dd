// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <string>

namespace meterbank::service {

// A variable of the environment; empty where it is not set, or must not be believed
// (secure_getenv(3)).
[[nodiscard]] inline std::string variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace meterbank::service
