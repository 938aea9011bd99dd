// SPDX-License-Identifier: Apache-2.0
//
// All that the server does to be seen, with types that are generated from request_server.toml.
// Everything here but the constructors may stand in a hot path: it cannot fail, wait, allocate or
// call the kernel.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "meterbank/publisher.hpp"
#include "request_server.hpp"
#include "store.hpp"

namespace request_server {

namespace mb = meterbank;

// Set-up may fail, serving must go on: what was refused is said once and counted into nothing.
template <typename T>
T or_nothing(mb::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "request_server: %s\n", result.error().message().c_str());
  return {};
}

class Meters {
 public:
  explicit Meters(mb::ProviderOptions options)
      : provider_(mb::Provider::create_or_disabled(std::move(options))) {
    state("starting");
  }

  // By the thread that runs the server.
  void state(std::string_view now) noexcept { server_.set_state(now); }
  void listens(std::uint16_t port) noexcept { server_.set_port(port); }

  // By any thread. Of requests that follow each other the end of one is the beginning of the next,
  // so one look at the clock is enough, and it need not wait for the last instruction before it.
  using Moment = std::uint64_t;
  [[nodiscard]] Moment now() const noexcept { return clock_.begin(); }
  void served(const Served& request, Moment begin, Moment end) noexcept {
    ServerRequestsInstance& kind = kinds_[static_cast<std::size_t>(request.kind)];
    const double seconds = end > begin ? clock_.seconds(end - begin) : 0;
    kind.update([&request, seconds](ServerRequestsUpdate& row) noexcept {
      row.add_requests(1);
      row.add_bytes_in(request.bytes_in);
      row.add_bytes_out(request.bytes_out);
      if (request.failed) row.add_errors(1);
      row.record_latency(seconds);
    });
  }
  void lost() noexcept { faults_.add_connections_lost_from_any_thread(1); }
  void too_long() noexcept { faults_.add_requests_too_long_from_any_thread(1); }

  // What one thread counts for itself.
  class Thread {
   public:
    explicit Thread(ServerThreadsInstance row) noexcept : row_(std::move(row)) {}

    void opened() noexcept { row_.add_opened(1); }
    void has(std::size_t connections) noexcept { row_.set_connections(connections); }
    void closed(std::size_t connections_left) noexcept {
      row_.update([connections_left](ServerThreadsUpdate& row) noexcept {
        row.add_closed(1);
        row.set_connections(connections_left);
      });
    }
    void read(std::size_t requests) noexcept {
      row_.update([requests](ServerThreadsUpdate& row) noexcept {
        row.add_reads(1);
        row.add_served(requests);
      });
    }

   private:
    ServerThreadsInstance row_;
  };
  [[nodiscard]] Thread thread(const std::string& name) const {
    return Thread(or_nothing(threads_.create(name)));
  }

 private:
  mb::Provider provider_;
  ServerRequests requests_ = or_nothing(ServerRequests::add(provider_));
  std::array<ServerRequestsInstance, 3> kinds_{
      or_nothing(requests_.create("get")), or_nothing(requests_.create("put")),
      or_nothing(requests_.create("other"))};  // in the order of Kind
  ServerThreads threads_ = or_nothing(ServerThreads::add(provider_));
  RequestServerInstance server_ = or_nothing(or_nothing(RequestServer::add(provider_)).create());
  ServerFaultsInstance faults_ = or_nothing(or_nothing(ServerFaults::add(provider_)).create());
  const mb::TickClock& clock_ = mb::TickClock::of_this_machine();
};

}  // namespace request_server
