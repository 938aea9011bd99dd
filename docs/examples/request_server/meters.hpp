// SPDX-License-Identifier: Apache-2.0
//
// All that the server does to be seen. Everything here but the constructors may stand in a hot
// path: it cannot fail, wait, allocate or call the kernel.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "counters.hpp"
#include "store.hpp"

namespace request_server {

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
  void state(std::string_view now) noexcept { state_.set(now); }
  void listens(std::uint16_t port) noexcept { server_.set(ServerCounter::kPort, port); }

  // By any thread. Of requests that follow each other the end of one is the beginning of the next,
  // so one look at the clock is enough, and it need not wait for the last instruction before it.
  using Moment = std::uint64_t;
  [[nodiscard]] Moment now() const noexcept { return clock_.begin(); }
  void served(const Served& request, Moment begin, Moment end) noexcept {
    Requested& kind = kinds_[static_cast<std::size_t>(request.kind)];
    kind.count.update([&request](mb::ShardValues& values) noexcept {
      values.increment(RequestCounter::kRequests);
      values.add(RequestCounter::kBytesIn, request.bytes_in);
      values.add(RequestCounter::kBytesOut, request.bytes_out);
      if (request.failed) values.increment(RequestCounter::kErrors);
    });
    kind.latency.record(end > begin ? clock_.seconds(end - begin) : 0);
  }
  void lost() noexcept { lost_.add_from_any_thread(1); }
  void too_long() noexcept { too_long_.add_from_any_thread(1); }

  // What one thread counts for itself.
  class Thread {
   public:
    explicit Thread(mb::Instance row) noexcept
        : row_(std::move(row)), connections_(row_.gauge(ThreadCounter::kConnections)) {}

    void opened() noexcept { row_.add(ThreadCounter::kOpened, 1); }
    void has(std::size_t connections) noexcept {
      connections_.set(static_cast<double>(connections));
    }
    void closed(std::size_t connections_left) noexcept {
      row_.update([this, connections_left](mb::Values& values) noexcept {
        values.add(ThreadCounter::kClosed, 1);
        values.set(connections_, static_cast<double>(connections_left));
      });
    }
    void read(std::size_t requests) noexcept {
      row_.update([requests](mb::Values& values) noexcept {
        values.add(ThreadCounter::kReads, 1);
        values.add(ThreadCounter::kRequests, requests);
      });
    }

   private:
    mb::Instance row_;
    mb::Gauge connections_;
  };
  [[nodiscard]] Thread thread(const std::string& name) const {
    return Thread(or_nothing(threads_.create_instance(name)));
  }

 private:
  struct Requested {
    Requested(const mb::Registration& set, std::string_view name)
        : count(or_nothing(set.create_sharded_instance(name))),
          latency(count.recorder(RequestCounter::kLatency)) {}

    mb::ShardedInstance count;
    mb::ShardedRecorder latency;
  };

  mb::Provider provider_;
  mb::Registration requests_ = or_nothing(provider_.add(kRequestSet));
  std::array<Requested, 3> kinds_{Requested(requests_, "get"), Requested(requests_, "put"),
                                  Requested(requests_, "other")};  // in the order of Kind
  mb::Registration threads_ = or_nothing(provider_.add(kThreadSet));
  mb::Instance server_ = or_nothing(or_nothing(provider_.add(kServerSet)).create_instance(""));
  mb::TextCounter state_ = server_.text(ServerCounter::kState);
  mb::Instance faults_ = or_nothing(or_nothing(provider_.add(kFaultSet)).create_instance(""));
  mb::Counter lost_ = faults_.counter(FaultCounter::kLost);
  mb::Counter too_long_ = faults_.counter(FaultCounter::kTooLong);
  const mb::TickClock& clock_ = mb::TickClock::of_this_machine();
};

}  // namespace request_server
