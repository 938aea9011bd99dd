// SPDX-License-Identifier: Apache-2.0
//
// Lines on standard error. What strangers can cause is limited to a few lines a second, and nothing
// here waits for their reader.
#pragma once

#include <cstdint>
#include <string_view>

namespace meterbank::arbiter {

class Log {
 public:
  // What happens once: always said.
  void say(std::string_view sentence) noexcept;
  // For events that a stranger can repeat: written while there is a share left; the next line
  // then tells how many were not. `now` is in ns.
  void complain(std::string_view sentence, std::uint64_t now) noexcept;

 private:
  double share_ = 10;
  std::uint64_t last_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace meterbank::arbiter
