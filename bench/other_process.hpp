// SPDX-License-Identifier: Apache-2.0
//
// Another process, and what a packet to it and back costs by itself.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "workplace.hpp"

namespace meterbank::bench {

// Work in a process of its own, on one processor: it ends when this object does.
class OtherProcess {
 public:
  template <typename F>
  OtherProcess(std::size_t processor, F&& work) {
    if (::pipe(ready_.data()) != 0) give_up("pipe");
    child_ = ::fork();
    if (child_ < 0) give_up("fork");
    if (child_ == 0) {
      // give_up() runs no destructors.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      cpu_set_t there;
      CPU_ZERO(&there);
      CPU_SET(processor, &there);
      static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
      work([this] { static_cast<void>(!::write(ready_[1], "", 1)); });
      ::_exit(0);
    }
    char byte = 0;
    if (::read(ready_[0], &byte, 1) != 1) give_up("the other process");
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(ready_[0]);
    ::close(ready_[1]);
  }
  [[nodiscard]] pid_t pid() const noexcept { return child_; }

 private:
  std::array<int, 2> ready_{};
  pid_t child_ = -1;
};

// A packet there, a packet back.
class BareSocket {
 public:
  BareSocket(std::size_t request_bytes, std::size_t answer_bytes)
      : request_(request_bytes), answer_(answer_bytes) {
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()) != 0) {
      give_up("socketpair");
    }
  }
  BareSocket(const BareSocket&) = delete;
  BareSocket& operator=(const BareSocket&) = delete;
  ~BareSocket() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void answer_for_ever() {
    while (::recv(ends_[1], request_.data(), request_.size(), 0) > 0) {
      if (::send(ends_[1], answer_.data(), answer_.size(), MSG_NOSIGNAL) < 0) return;
    }
  }
  void round_trip() {
    if (::send(ends_[0], request_.data(), request_.size(), MSG_NOSIGNAL) < 0 ||
        ::recv(ends_[0], answer_.data(), answer_.size(), 0) < 0) {
      give_up("the bare socket");
    }
  }

 private:
  std::array<int, 2> ends_{};
  std::vector<char> request_, answer_;
};

}  // namespace meterbank::bench
