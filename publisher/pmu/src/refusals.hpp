// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meterbank/pmu/refusal.hpp"

namespace meterbank::pmu::detail {

[[nodiscard]] Error error_of(const Rejected& rejected);
// A refusal that no arbiter decided.
[[nodiscard]] tl::unexpected<Refusal> not_decided(Error error);

// Calls a function that asks the arbiter. If memory runs out, the request counts as undecided.
template <typename F>
[[nodiscard]] auto undecided_without_memory(F&& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const std::bad_alloc&) {
    return not_decided(out_of_memory());
  }
}

}  // namespace meterbank::pmu::detail
