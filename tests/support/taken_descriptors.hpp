// SPDX-License-Identifier: Apache-2.0
//
// A program that closes every descriptor but the standard ones, as a daemon does, and takes the
// numbers for files of its own.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace meterbank::test {

inline constexpr int kFirst = 3;
inline constexpr int kDescriptors = 64;  // more than a provider has

inline void close_range_of_kernel() {
  if (::syscall(SYS_close_range, kFirst, ~0U, 0) == 0) return;
  for (int descriptor = kFirst; descriptor < 1024; ++descriptor) ::close(descriptor);
}
inline void close_in_a_loop() {
  for (int descriptor = kFirst; descriptor < 1024; ++descriptor) ::close(descriptor);
}
inline void close_in_a_loop_downwards() {
  for (int descriptor = 1023; descriptor >= kFirst; --descriptor) ::close(descriptor);
}

// A thread that spins is never seen asleep.
[[nodiscard]] inline bool others_sleep() {
  const std::string own = std::to_string(::syscall(SYS_gettid));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::ifstream stat(task.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;  // it has just ended
    if (text.compare(name_end, 3, ") S") != 0) return false;
  }
  return true;
}

// Files of the program's own at every number from kFirst on, and whether they are as it made them.
class OwnFiles {
 public:
  enum class Sort { kSockets, kEventCounters, kEpollSets };
  explicit OwnFiles(Sort sort) : sort_(sort) {
    for (int descriptor = kFirst; descriptor < kFirst + kDescriptors; ++descriptor) {
      put(make(), descriptor);
    }
  }
  [[nodiscard]] bool are_untouched() {
    for (int descriptor = kFirst; descriptor < kFirst + kDescriptors; ++descriptor) {
      struct stat facts {};
      if (::fstat(descriptor, &facts) != 0) return is_wrong(descriptor, "closed");
      if (facts.st_ino != inodes_[static_cast<std::size_t>(descriptor)]) {
        return is_wrong(descriptor, "another file");
      }
      if (!is_as_made(descriptor)) return false;
    }
    return true;
  }

 private:
  static constexpr int kFar = 500;  // of other ends
  static bool is_wrong(int descriptor, const char* what) {
    std::fprintf(stderr, "descriptor %d of the program: %s\n", descriptor, what);
    return false;
  }
  void put(int made, int descriptor) {
    if (made != descriptor) {
      ::dup2(made, descriptor);
      ::close(made);
    }
    struct stat facts {};
    ::fstat(descriptor, &facts);
    inodes_.resize(static_cast<std::size_t>(descriptor) + 1);
    inodes_.back() = facts.st_ino;
    if (sort_ != Sort::kEpollSets) return;
    // Something is ready in each set, for the program to find.
    const int ready = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    const int far = ::fcntl(ready, F_DUPFD_CLOEXEC, kFar);
    ::close(ready);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = 1;
    ::epoll_ctl(descriptor, EPOLL_CTL_ADD, far, &event);
  }
  int make() {
    if (sort_ == Sort::kEventCounters) return ::eventfd(0, EFD_NONBLOCK);
    if (sort_ == Sort::kEpollSets) return ::epoll_create1(0);
    std::array<int, 2> ends{};
    static_cast<void>(!::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends.data()));
    peers_.push_back(::fcntl(ends[1], F_DUPFD, kFar));
    ::close(ends[1]);
    return ends[0];
  }
  bool is_as_made(int descriptor) {
    if (sort_ == Sort::kSockets) {
      pollfd peer{peers_.at(static_cast<std::size_t>(descriptor - kFirst)), POLLIN, 0};
      if (::poll(&peer, 1, 0) != 0) return is_wrong(descriptor, "written to, or hung up");
    } else if (sort_ == Sort::kEventCounters) {
      std::uint64_t count = 0;
      if (::read(descriptor, &count, sizeof count) > 0) return is_wrong(descriptor, "written to");
    } else {
      epoll_event event{};
      if (::epoll_wait(descriptor, &event, 1, 0) != 1) return is_wrong(descriptor, "event taken");
    }
    return true;
  }

  Sort sort_;
  std::vector<ino_t> inodes_;
  std::vector<int> peers_;
};

}  // namespace meterbank::test
