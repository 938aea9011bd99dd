// SPDX-License-Identifier: Apache-2.0
//
// A client of the request server.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace request_server {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  // As far as the server lets it.
  void say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // The next line, without its end; nothing where the server has closed the connection.
  std::string hear() {
    for (;;) {
      const std::size_t end = heard_.find('\n');
      if (end != std::string::npos) {
        std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) return {};
      heard_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  std::string ask(const std::string& line) {
    say(line + "\n");
    return hear();
  }
  // Until the server's socket has all that was said.
  void await_arrival() const {
    int waiting = 0;
    while (::ioctl(socket_, SIOCOUTQ, &waiting) == 0 && waiting != 0) ::sched_yield();
  }
  // No more requests; the server closes when it has answered.
  void end() { ::shutdown(socket_, SHUT_WR); }

 private:
  int socket_;
  std::string heard_;
};

}  // namespace request_server
