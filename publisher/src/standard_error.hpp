// SPDX-License-Identifier: Apache-2.0
//
// Standard error of a program that may close it, or give its number to a file of its own, at any
// time after it created a provider.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace meterbank::detail {

class StandardError {
 public:
  // Notes which file it is now.
  StandardError() noexcept;

  // Writes one line if it is still that file and does not make the caller wait. The caller blocks
  // SIGPIPE, as threads of the library do, or wrote to this file at this moment anyway.
  void say(std::string_view text) const noexcept;

 private:
  bool is_open_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace meterbank::detail
