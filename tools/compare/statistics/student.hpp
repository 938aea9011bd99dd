// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace meterbank::compare {

// The t that a variable of Student's distribution exceeds, to either side, with this probability.
// Preconditions: 0 < probability < 1, freedom >= 1.
[[nodiscard]] double two_sided_t(double probability, double freedom);

}  // namespace meterbank::compare
