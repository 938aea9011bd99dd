// SPDX-License-Identifier: Apache-2.0
//
// Rights by the words that a policy file has for them, and what PolicyRule::says is made of.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arbiter/core/policy.hpp"

namespace meterbank::arbiter {

inline constexpr std::uint32_t kSaysDenied = 1;
inline constexpr std::uint32_t kSaysAdministrator = 2;
inline constexpr std::uint32_t kSaysPriority = 4;
inline constexpr std::uint32_t kSaysCounters = 8;
inline constexpr std::uint32_t kSaysLeases = 16;
inline constexpr std::uint32_t kSaysWaits = 32;
inline constexpr std::uint32_t kSaysCpus = 64;

struct RightWord {
  std::string_view word;
  std::uint32_t bit;
  bool Rights::*right;
};
inline constexpr std::array kRightWords{
    RightWord{"whole-cpu", 128, &Rights::may_count_cpus},
    RightWord{"kernel", 256, &Rights::may_count_kernel},
    RightWord{"exclusive", 512, &Rights::may_have_whole},
    RightWord{"buffer", 1024, &Rights::may_have_buffer},
    RightWord{"delegate", 2048, &Rights::may_delegate},
};

}  // namespace meterbank::arbiter
