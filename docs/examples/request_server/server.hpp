// SPDX-License-Identifier: Apache-2.0
//
// A server with one thread that accepts connections and some that answer. It reports to a type of
// its own: Meters counts, NoMeters does nothing and compiles to nothing.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <system_error>

#include "worker.hpp"

namespace request_server {

struct ServerOptions {
  std::uint16_t port = 0;  // 0: the kernel chooses one
  unsigned workers = 2;
};

// All calls are made by the thread that has to do with them; see meters.hpp.
struct NoMeters {
  struct Moment {};
  struct Thread {
    void opened() noexcept {}
    void closed(std::size_t) noexcept {}
    void has(std::size_t) noexcept {}
    void read(std::size_t) noexcept {}
  };
  void state(std::string_view) noexcept {}
  void listens(std::uint16_t) noexcept {}
  [[nodiscard]] Moment now() const noexcept { return {}; }
  void served(const Served&, Moment, Moment) noexcept {}
  void lost() noexcept {}
  void too_long() noexcept {}
  [[nodiscard]] Thread thread(const std::string&) const { return {}; }
};

template <typename Meters>
class Server {
 public:
  // Listens on the loopback. Throws std::system_error.
  Server(Meters& meters, ServerOptions options)
      : meters_(&meters), counts_(meters.thread("acceptor")) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const int yes = 1;
    ::setsockopt(listener_.number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listener_.number, any, bytes) != 0 || ::listen(listener_.number, SOMAXCONN) != 0 ||
        ::getsockname(listener_.number, any, &bytes) != 0) {
      throw std::system_error(errno, std::generic_category(), "listening");
    }
    port_ = ntohs(address.sin_port);
    meters.listens(port_);
    for (unsigned number = 0; number < std::max(1U, options.workers); ++number) {
      workers_.emplace_back(meters, store_, "worker " + std::to_string(number));
    }
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  // Until stop(); then what has arrived is still answered.
  void run() {
    meters_->state("serving");
    auto next = workers_.begin();
    pollfd waiting[] = {{stop_.number, POLLIN, 0}, {listener_.number, POLLIN, 0}};
    while ((waiting[0].revents & POLLIN) == 0) {
      if (::poll(waiting, 2, -1) < 0 || (waiting[1].revents & POLLIN) == 0) continue;
      const int connection =
          ::accept4(listener_.number, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (connection < 0) continue;
      counts_.opened();  // before another thread can count that it is closed
      next->take(connection);
      if (++next == workers_.end()) next = workers_.begin();
    }
    meters_->state("draining");
    for (auto& worker : workers_) worker.drain();
    workers_.clear();  // waits for them
    meters_->state("stopped");
  }
  // By any thread, also before run().
  void stop() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop_.number, &one, sizeof one));
  }

 private:
  Meters* meters_;
  typename Meters::Thread counts_;  // of the thread that accepts
  Store store_;
  Descriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  Descriptor stop_{::eventfd(0, EFD_CLOEXEC)};
  std::list<Worker<Meters>> workers_;
  std::uint16_t port_ = 0;
};

}  // namespace request_server
