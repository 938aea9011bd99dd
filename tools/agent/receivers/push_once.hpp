// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <vector>

#include "exposition/snapshot/snapshots.hpp"
#include "push/delivery/receiver.hpp"

namespace meterbank::agent {

// Sends one snapshot to each receiver and prints what came of it, a line for each. False: one of
// them did not take all of it. No batch is tried twice. Throws std::bad_alloc.
[[nodiscard]] bool push_once(exposition::Snapshots& snapshots,
                             const std::vector<push::ReceiverOptions>& receivers,
                             std::ostream& out);

}  // namespace meterbank::agent
