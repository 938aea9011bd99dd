// SPDX-License-Identifier: Apache-2.0
//
// Specifications as someone writes them: what differs from the defaults, member by member.
#pragma once

#include <string>
#include <vector>

#include "generator/manifest/manifest.hpp"

namespace meterbank::generator {

// .field = value, with a comment above it where the value does not speak for itself.
struct Initialiser {
  std::string field, value, comment;
};

[[nodiscard]] std::vector<Initialiser> initialisers_of(const CounterSpec& counter);
// All but its counters.
[[nodiscard]] std::vector<Initialiser> initialisers_of(const CountersetSpec& set);

}  // namespace meterbank::generator
