// SPDX-License-Identifier: Apache-2.0
//
// A thread that answers the requests of its connections, as many as a client likes at a time.
#pragma once

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "store.hpp"

namespace request_server {

struct Descriptor {
  explicit Descriptor(int fd) noexcept : number(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() noexcept {
    if (number >= 0) ::close(number);
    number = -1;
  }

  int number;
};

struct Connection {
  explicit Connection(int fd) noexcept : socket(fd) {}

  Descriptor socket;
  std::string in, out;  // not yet a line; not yet sent
  bool waits = false;   // until more can be sent
};

template <typename Meters>
class Worker {
 public:
  Worker(Meters& meters, Store& store, const std::string& name)
      : meters_(&meters),
        store_(&store),
        counts_(meters.thread(name)),
        thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { drain(); }

  // The next connection is this one's.
  void take(int socket) noexcept {
    if (::write(given_.number, &socket, sizeof socket) != sizeof socket) ::close(socket);
  }
  // Answers what has arrived, closes all connections, ends.
  void drain() noexcept { given_.close(); }

 private:
  void run() {
    watch(EPOLL_CTL_ADD, taken_.number, EPOLLIN);
    bool drains = false;
    while (!drains || !connections_.empty()) {
      std::array<epoll_event, 64> events;
      const int ready = ::epoll_wait(epoll_.number, events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == taken_.number) {
          drains = !take_next();
          counts_.has(connections_.size());
        } else if (!serve(connections_.at(fd))) {
          counts_.closed(connections_.size() - 1);
          connections_.erase(fd);  // whose client may look as soon as it sees this
        }
      }
    }
  }

  // False: there will be no more, and those that are here hear no more.
  bool take_next() {
    int socket = -1;
    if (::read(taken_.number, &socket, sizeof socket) == sizeof socket) {
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_.try_emplace(socket, socket);
      watch(EPOLL_CTL_ADD, socket, EPOLLIN);
      return true;
    }
    watch(EPOLL_CTL_DEL, taken_.number, 0);
    for (auto& [fd, connection] : connections_) ::shutdown(fd, SHUT_RD);
    return false;
  }

  // False: the connection is over.
  bool serve(Connection& connection) {
    if (!connection.out.empty()) return send(connection);  // no reading ahead of a slow client
    const ssize_t got = ::recv(connection.socket.number, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno != EAGAIN && errno != EINTR) meters_->lost();
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    connection.in.append(buffer_.data(), static_cast<std::size_t>(got));
    // Counted before it is sent: a client that has an answer finds it counted.
    counts_.read(answer_lines(connection));
    if (connection.in.size() > kLineMax) {
      meters_->too_long();
      return false;
    }
    return send(connection);
  }

  std::size_t answer_lines(Connection& connection) {
    std::size_t requests = 0, begin = 0;
    auto begun = meters_->now();
    for (;; ++requests) {
      const std::size_t end = connection.in.find('\n', begin);
      if (end == std::string::npos) break;
      const std::string_view line(connection.in.data() + begin, end - begin);
      const Served served = answer(line, *store_, connection.out);
      const auto done = meters_->now();
      meters_->served(served, begun, done);
      begun = done;
      begin = end + 1;
    }
    connection.in.erase(0, begin);
    return requests;
  }

  bool send(Connection& connection) {
    std::string& out = connection.out;
    const int fd = connection.socket.number;
    const ssize_t sent = out.empty() ? 0 : ::send(fd, out.data(), out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return meters_->lost(), false;
    out.erase(0, sent < 0 ? 0 : static_cast<std::size_t>(sent));
    if (connection.waits == out.empty()) {
      connection.waits = !out.empty();
      watch(EPOLL_CTL_MOD, fd, connection.waits ? EPOLLOUT : EPOLLIN);
    }
    return true;
  }

  void watch(int what, int fd, std::uint32_t events) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(epoll_.number, what, fd, &event);
  }
  static std::array<int, 2> make_pipe() noexcept {
    std::array<int, 2> ends{-1, -1};
    static_cast<void>(::pipe2(ends.data(), O_CLOEXEC));
    return ends;
  }

  static constexpr std::size_t kLineMax = 64 * 1024;

  Meters* meters_;
  Store* store_;
  typename Meters::Thread counts_;  // that of this thread, once it runs
  std::array<int, 2> pipe_ = make_pipe();
  Descriptor taken_{pipe_[0]}, given_{pipe_[1]};  // sockets come in; the end means: drain
  Descriptor epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  std::map<int, Connection> connections_;
  std::array<char, kLineMax> buffer_;
  std::jthread thread_;  // the last to come, the first to go
};

}  // namespace request_server
