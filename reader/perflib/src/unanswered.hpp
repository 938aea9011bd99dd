// SPDX-License-Identifier: Apache-2.0
//
// What PerfLib says of registrations that were asked for rows and gave none.
#pragma once

#include <memory>
#include <vector>

#include "error_codes.hpp"
#include "meterbank/base/guid.hpp"
#include "meterbank/reader/callback_answer.hpp"

namespace meterbank {

// Whether a consumer gets to see what a callback returned: a code of Win32, as user-mode providers
// return. What a kernel-mode provider returns is an NTSTATUS, where all but success begins at
// 0x40000000, and changes nothing.
[[nodiscard]] bool is_for_consumers(std::uint32_t code) noexcept;

// The status for the first registration of the set that did not answer, or whose callback failed
// and added no rows. kSuccess if there is no such registration.
// `trusted_only`: what other users' providers do not say is nothing that the set lacks.
[[nodiscard]] PerfError error_of_unanswered(const std::vector<CallbackAnswer>* answers,
                                            const Guid& set, bool trusted_only) noexcept;

}  // namespace meterbank
