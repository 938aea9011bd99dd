// SPDX-License-Identifier: Apache-2.0
//
// A client that sends and reads exactly what it is told to.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::agent {

struct HttpAnswer {
  std::string head, body;
  bool is_whole = false;  // chunked: the last chunk came

  [[nodiscard]] int status() const { return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0; }
  [[nodiscard]] bool has(std::string_view header) const {
    return head.find(header) != std::string::npos;
  }
};

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ =
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
  // False: the server has closed the connection.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  [[nodiscard]] bool is_closed() const {
    pollfd ready{socket_.get(), POLLIN | POLLRDHUP, 0};
    return ::poll(&ready, 1, 0) == 1 && (ready.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }
  // What is there, or comes next. Empty: the server has closed the connection.
  [[nodiscard]] std::string read_some() const {
    std::string part(65536, '\0');
    const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
    part.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return part;
  }
  // Everything until the server closes the connection.
  [[nodiscard]] std::string read_all() const {
    std::string all;
    std::array<char, 65536> part;
    while (true) {
      const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
      if (count <= 0) return all;
      all.append(part.data(), static_cast<std::size_t>(count));
    }
  }

  // One request on a connection of its own. `more`: header lines.
  static HttpAnswer get(std::uint16_t port, std::string_view target, std::string_view more = {},
                        std::string_view method = "GET") {
    const HttpClient client(port);
    client.send(std::string(method) + " " + std::string(target) +
                " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + std::string(more) + "\r\n");
    return parse(client.read_all());
  }

  static HttpAnswer parse(const std::string& text) {
    HttpAnswer answer;
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return answer;
    answer.head = text.substr(0, end + 2);
    const std::string rest = text.substr(end + 4);
    if (!answer.has("chunked")) {
      answer.body = rest;
      answer.is_whole = true;
      return answer;
    }
    std::size_t at = 0;
    while (true) {
      const std::size_t line = rest.find("\r\n", at);
      if (line == std::string::npos) return answer;
      const std::size_t bytes = std::stoul(rest.substr(at, line - at), nullptr, 16);
      answer.is_whole = bytes == 0;
      if (bytes == 0 || line + 2 + bytes > rest.size()) return answer;
      answer.body += rest.substr(line + 2, bytes);
      at = line + 2 + bytes + 2;
    }
  }

 private:
  UniqueFd socket_;
  bool is_connected_ = false;
};

}  // namespace meterbank::agent
