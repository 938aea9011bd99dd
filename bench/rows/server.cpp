// SPDX-License-Identifier: Apache-2.0
//
// Question: how much throughput does the example of a request server lose by being counted?
// Limit: the same server, compiled without meters, under the same load in the same round; and what
// two servers without meters differ by. Figure: 1 %. Two clients on the loopback, each beside its
// worker on a processor of its own, so that no time is spent on waiting and all that is counted
// costs requests. 1,000 keys with values of 1,000 bytes; nine in ten requests read one. Time is
// that of the processor for one request, the client's part included.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "meters.hpp"
#include "rows.hpp"
#include "server.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using request_server::Descriptor;
using request_server::Meters;
using request_server::NoMeters;
using request_server::Server;

constexpr unsigned kClients = 2;
constexpr unsigned kKeys = 1000;

void go_to(unsigned processor) noexcept {
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(processor % std::max(1U, std::thread::hardware_concurrency()), &there);
  static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
}

// A worker goes to its processor with the first connection that it gets.
template <typename Counts>
struct InPlace : Counts {
  using Counts::Counts;
  struct Thread : Counts::Thread {
    void has(std::size_t connections) noexcept {
      if (!there) go_to(processor);
      there = true;
      Counts::Thread::has(connections);
    }
    unsigned processor = 0;
    bool there = false;
  };
  [[nodiscard]] Thread thread(const std::string& name) {
    const bool is_worker = name.starts_with("worker ");
    return Thread{Counts::thread(name), is_worker ? next_processor++ : 0};
  }
  unsigned next_processor = 0;
};

// Sends some requests at once, waits for all answers, and does it again.
class Client {
 public:
  Client(std::uint16_t port, unsigned together) : together_(together) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const there = reinterpret_cast<sockaddr*>(&address);
    if (::connect(socket_.number, there, sizeof address) != 0) give_up("connect");
    const std::string value(1000, 'v');
    for (unsigned key = 0; key < kKeys; ++key) ask(fmt::format("PUT {} {}\n", key, value), 1);
    std::mt19937 random(port);
    for (std::string& batch : batches_) {
      for (unsigned i = 0; i < together; ++i) {
        const unsigned key = static_cast<unsigned>(random()) % kKeys;
        const bool reads = random() % 10 != 0;
        batch += reads ? fmt::format("GET {}\n", key) : fmt::format("PUT {} {}\n", key, value);
      }
    }
  }

  void converse(std::uint64_t requests) {
    for (std::uint64_t turn = 0; turn < requests / together_; ++turn) {
      ask(batches_[turn % batches_.size()], together_);
    }
  }

 private:
  void ask(const std::string& requests, std::ptrdiff_t answers) {
    const auto bytes = static_cast<ssize_t>(requests.size());
    if (::send(socket_.number, requests.data(), requests.size(), 0) != bytes) give_up("send");
    while (answers > 0) {
      const ssize_t got = ::recv(socket_.number, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) give_up("recv");
      answers -= std::count(buffer_.begin(), buffer_.begin() + got, '\n');
    }
  }

  Descriptor socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  unsigned together_;
  std::array<std::string, 64> batches_;
  std::array<char, 64 * 1024> buffer_;
};

// A server and the clients that it has all the time.
template <typename Counts>
class Side {
 public:
  Side(Counts& counts, unsigned together)
      : server_(counts, {.workers = kClients}), running_([this] { server_.run(); }) {
    for (unsigned i = 0; i < kClients; ++i) clients_.emplace_back(server_.port(), together);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { server_.stop(); }

  [[nodiscard]] Client& client(unsigned number) { return *std::next(clients_.begin(), number); }

 private:
  Server<Counts> server_;
  std::list<Client> clients_;
  std::jthread running_;
};

using Sides = std::array<Client*, 3>;  // of one processor
using Spent = std::array<double, 3>;   // ns

// The sides take turns every millisecond or so, there and back: what disturbs one disturbs all.
Spent take_turns(const Sides& sides, std::uint64_t chunks, std::uint64_t requests) {
  Spent spent{};
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t i = 0; i < 2 * sides.size(); ++i) {
      const std::size_t side = i < sides.size() ? i : 2 * sides.size() - 1 - i;
      const double begin = now_ns(Clock::kWall);
      sides[side]->converse(requests);
      spent[side] += now_ns(Clock::kWall) - begin;
    }
  }
  return spent;
}

void throughput(const Effort& effort, Table& table, const std::string& directory, unsigned together,
                const Spread& counting) {
  InPlace<Meters> meters(ProviderOptions{.name = "counted", .directory = directory});
  InPlace<NoMeters> none, none_again;
  Side counted(meters, together);
  Side bare(none, together), other(none_again, together);
  const std::uint64_t requests = together == 1 ? 64 : 40 * together;
  const std::uint64_t chunks = std::max<std::uint64_t>(1, effort.operations / 8192);
  const auto operations = static_cast<double>(2 * chunks * requests * kClients);
  Rounds to_bare, other_to_bare;
  for (unsigned round = 0; round < effort.rounds; ++round) {
    std::array<Spent, kClients> spent{};
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < kClients; ++i) {
        threads.emplace_back([&, i] {
          go_to(i);
          // In each round another one begins.
          Sides sides{&counted.client(i), &bare.client(i), &other.client(i)};
          std::rotate(sides.begin(), sides.begin() + round % 3, sides.end());
          spent[i] = take_turns(sides, chunks, requests);
          std::rotate(spent[i].begin(), spent[i].end() - round % 3, spent[i].end());
        });
      }
    }
    Spent sum{};
    for (const Spent& of_one : spent) {
      for (std::size_t side = 0; side < sum.size(); ++side) sum[side] += of_one[side] / operations;
    }
    to_bare.add(sum[0], sum[1]);
    other_to_bare.add(sum[2], sum[1]);
  }
  const std::string what =
      together == 1 ? "one request at a time" : fmt::format("{} requests together", together);
  table.ratio_row(fmt::format("server, {}, a request (limit: not counted)", what),
                  to_bare.comparison(), 1.01);
  table.ratio_row("  the same, neither of them counted", other_to_bare.comparison(), {});
  const Comparison bare_time = to_bare.comparison();
  const double share = counting.median / bare_time.limit.median;
  table.ratio_row("  what is counted alone, as a share (limit: a request, not counted)",
                  {counting, bare_time.limit, {share, share, share}}, 0.01);
}

[[gnu::noinline]] void count_requests(Meters& meters, std::uint64_t turns) {
  auto begun = meters.now();
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const auto done = meters.now();
    meters.served({.kind = turn % 10 != 0 ? request_server::Kind::kGet : request_server::Kind::kPut,
                   .bytes_in = 10,
                   .bytes_out = 1007},
                  begun, done);
    begun = done;
  }
}
[[gnu::noinline]] void look_at_clock(Meters& meters, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) keep(meters.now());
}

}  // namespace

void server_rows(const Effort& effort, Table& table) {
  Workplace workplace;
  Meters meters({.name = "alone", .directory = workplace.directory()});
  const Comparison counting = compare(
      effort.rounds, effort.operations, [&] { count_requests(meters, effort.operations); },
      [&] { look_at_clock(meters, effort.operations); });
  table.ratio_row("all that is counted of a request, alone (limit: the clock)", counting, {});
  for (const unsigned together : {16U, 1U}) {
    throughput(effort, table, workplace.directory(), together, counting.measured);
  }
}

}  // namespace meterbank::bench
