// SPDX-License-Identifier: Apache-2.0
//
// Descriptors: how many this process has, and packets that carry as many as one likes.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

namespace meterbank::test {

inline std::ptrdiff_t open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return std::distance(Files("/proc/self/fd"), Files());
}

// A packet that a PacketSocket would not send. False: the kernel did not take it.
inline bool send_raw(int socket, std::vector<std::byte> packet,
                     const std::vector<int>& descriptors = {}) {
  std::vector<std::byte> control(CMSG_SPACE(sizeof(int) * descriptors.size()));
  iovec part{packet.data(), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof(int) * descriptors.size());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

}  // namespace meterbank::test
