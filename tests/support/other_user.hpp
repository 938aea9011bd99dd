// SPDX-License-Identifier: Apache-2.0
//
// Providers of two users in one runtime directory, which takes root.
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {

inline constexpr uid_t kOtherUid = 65534;

[[nodiscard]] inline bool may_be_two_users() noexcept { return ::geteuid() == 0; }

// Each user may have records of its own there, as in /run/meterbank.
inline void share_directory(const std::string& path) {
  ASSERT_EQ(::chmod(path.c_str(), S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO), 0);
}

// A process of another user. The test leads it from pause to pause. Start it before any thread, so
// before the test's own providers.
class OtherUser {
 public:
  // Called in that process: the test goes on, until it says go().
  using Pause = std::function<void()>;

  explicit OtherUser(const std::function<void(const Pause&)>& life) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      if (!become_other_user()) ::_exit(255);
      life([end = ends[1]] { pause(end); });
      ::_exit(0);
    }
    ::close(ends[1]);
    end_ = ends[0];
    await();
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  ~OtherUser() {
    ::close(end_);
    ::waitpid(child_, nullptr, 0);
  }

  // To its next pause.
  void go() {
    EXPECT_EQ(::send(end_, "g", 1, MSG_NOSIGNAL), 1);
    await();
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return name + "@" + std::to_string(child_);
  }

 private:
  static bool become_other_user() noexcept {
    if (::setgroups(0, nullptr) != 0) return false;
    if (::setresgid(kOtherUid, kOtherUid, kOtherUid) != 0) return false;
    if (::setresuid(kOtherUid, kOtherUid, kOtherUid) != 0) return false;
    return ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
  }
  static void pause(int end) noexcept {
    char go = 0;
    if (::send(end, "p", 1, MSG_NOSIGNAL) != 1 || ::read(end, &go, 1) != 1) ::_exit(0);
  }
  void await() {
    char paused = 0;
    EXPECT_EQ(::read(end_, &paused, 1), 1) << "the other user's process has ended";
  }

  pid_t child_ = -1;
  int end_ = -1;
};

// Changes what the only provider of this process says about itself: its header is its own memory.
inline void change_own_header(const std::function<void(SegmentHeader&)>& change) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rw-s ") == std::string::npos) continue;
    auto& header = *reinterpret_cast<SegmentHeader*>(std::stoull(line, nullptr, 16));
    // relaxed: this process wrote it.
    if (header.magic.load(std::memory_order_relaxed) != kSegmentMagic) continue;
    change(header);
    return;
  }
  ::_exit(254);
}

}  // namespace meterbank::test
