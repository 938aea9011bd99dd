// SPDX-License-Identifier: Apache-2.0
//
// How much memory something takes at most: in a child, so that what others left does not count.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meterbank::test {

// `act()` returns an exit code, which is to be 0. In KiB.
template <typename Act>
[[nodiscard]] long most_kib_of(Act&& act) {
  ::malloc_trim(0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  rusage usage{};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return usage.ru_maxrss;
}

}  // namespace meterbank::test
