// SPDX-License-Identifier: Apache-2.0
//
// A program's run under conditions that the test itself must not be left with: limits, mounts.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

namespace meterbank::test {

struct ChildOutcome {
  int code = 0;      // -1: the child could not be prepared
  std::string text;  // all that was printed
};

// Prepares a child of this process, and runs there.
inline ChildOutcome run_in_changed_child(const std::function<bool()>& prepare,
                                         const std::function<ChildOutcome()>& run) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!prepare()) ::_exit(255);
    const ChildOutcome outcome = run();
    const auto written = ::write(ends[1], outcome.text.data(), outcome.text.size());
    ::_exit(written == static_cast<ssize_t>(outcome.text.size()) ? outcome.code : 254);
  }
  ::close(ends[1]);
  ChildOutcome outcome;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) break;
    outcome.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  outcome.code = WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
  return outcome;
}

}  // namespace meterbank::test
