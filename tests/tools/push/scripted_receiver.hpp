// SPDX-License-Identifier: Apache-2.0
//
// A receiver that answers each request with the next line of its script.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::push {

class ScriptedReceiver {
 public:
  struct Request {
    std::string head, body;
  };
  // Answers that are not answers.
  static constexpr const char* kSilence = "silence";  // until the receiver ends
  static constexpr const char* kClose = "close";      // at once, after the request

  // The last answer of the script is given to all further requests.
  explicit ScriptedReceiver(std::deque<std::string> script)
      : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), any, bytes) != 0 || ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), any, &bytes) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedReceiver() {
    is_ending_ = true;
    thread_.join();
  }
  ScriptedReceiver(const ScriptedReceiver&) = delete;
  ScriptedReceiver& operator=(const ScriptedReceiver&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1/metrics";
  }
  // Waits for as many requests.
  [[nodiscard]] std::vector<Request> requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return requests_.size() >= count; });
    return requests_;
  }

  static std::string answer(int status, const std::string& more = {},
                            const std::string& body = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + more +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  [[nodiscard]] bool is_readable(int descriptor) const {
    constexpr int kWaitMs = 20;
    while (!is_ending_) {
      pollfd ready{descriptor, POLLIN, 0};
      if (::poll(&ready, 1, kWaitMs) == 1) return true;
    }
    return false;
  }
  void serve() {
    while (is_readable(listener_.get())) {
      const UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
      while (serve_request(connection.get())) {
      }
    }
  }
  // False: the connection has ended.
  bool serve_request(int connection) {
    std::string text;
    std::size_t whole = std::string::npos;
    while (text.size() < whole) {
      std::array<char, 65536> part;
      if (!is_readable(connection)) return false;
      const ssize_t count = ::recv(connection, part.data(), part.size(), 0);
      if (count <= 0) return false;
      text.append(part.data(), static_cast<std::size_t>(count));
      const std::size_t end = text.find("\r\n\r\n");
      if (whole != std::string::npos || end == std::string::npos) continue;
      const std::size_t length = text.find("Content-Length: ");
      whole = end + 4 + std::stoul(text.substr(length + 16));
    }
    const std::size_t end = text.find("\r\n\r\n");
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back({text.substr(0, end + 2), text.substr(end + 4)});
      answer = script_.front();
      if (script_.size() > 1) script_.pop_front();
      arrived_.notify_all();
    }
    if (answer == kClose) return false;
    if (answer == kSilence) return is_readable(connection);
    return ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(answer.size());
  }

  std::deque<std::string> script_;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Request> requests_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace meterbank::push
