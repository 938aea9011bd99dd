// SPDX-License-Identifier: Apache-2.0
//
// What one provider allows its callers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meterbank/ipc/user_shares.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank::detail {

struct ChannelLimits {
  std::size_t callbacks_max = 8;  // under way at a time
  std::size_t connections_max = 256;
  std::size_t connections_per_user = 192;
  std::uint32_t faults_max = 3;  // packets that break a rule; then the connection is closed
  std::size_t unsent_max = 16;   // answers that a reader does not fetch; then it is closed

  // Of users other than the provider's own and root; these could stop the provider anyhow.
  RateLimit requests{.per_second = 2000, .at_once = 4000};
  std::uint32_t foreign_outstanding_max = kOutstandingRequestsMax / 2;  // of one registration
  bool trusts_own_user = true;  // false: in tests, which cannot become another user
};

}  // namespace meterbank::detail
