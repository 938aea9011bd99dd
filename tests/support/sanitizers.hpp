// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meterbank/shm/atomics.hpp"

namespace meterbank::test {

// Which sanitizer this build has, as GCC or clang says.
#if defined(METERBANK_THREAD_SANITIZER)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif
#if defined(METERBANK_ADDRESS_SANITIZER)
inline constexpr bool kHasAddressSanitizer = true;
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif
inline constexpr bool kHasSanitizer = kHasThreadSanitizer || kHasAddressSanitizer;

}  // namespace meterbank::test
