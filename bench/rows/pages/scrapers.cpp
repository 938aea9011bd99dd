// SPDX-License-Identifier: Apache-2.0
//
// Question: what do eight scrapers cost that ask at the same time?
// Limit: one of them.
#include "scrapers.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "agent/counts/own_provider.hpp"
#include "agent/http/http_server.hpp"
#include "agent/http/listen_socket.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

double clock_ns_of(clockid_t clock) noexcept {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

class PageServer {
 public:
  PageServer(exposition::Snapshots snapshots, agent::Compression compression)
      : service_(std::move(snapshots), [](std::uint64_t, std::size_t) {}) {
    agent::ListenSocket listener = must(agent::open_listen_socket("127.0.0.1:0"));
    port_ = static_cast<std::uint16_t>(
        std::stoul(listener.address.substr(listener.address.rfind(':') + 1)));
    server_.emplace(must(agent::HttpServer::start(
        std::move(listener.socket), {.compression = compression}, service_, counts_)));
  }
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer() { service_.stop(); }

  // Processor time of the server for a page to each of the clients, which ask together.
  [[nodiscard]] double serve_ns(unsigned clients) const {
    std::barrier all_connected(static_cast<std::ptrdiff_t>(clients) + 1);
    std::vector<double> spent(clients);
    std::vector<std::thread> threads;
    const double begin = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    for (double& own : spent) {
      threads.emplace_back([&, this] {
        const UniqueFd socket = connect();
        all_connected.arrive_and_wait();
        fetch(socket);
        own = clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
      });
    }
    all_connected.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    return clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin -
           std::accumulate(spent.begin(), spent.end(), 0.0);
  }

 private:
  [[nodiscard]] UniqueFd connect() const {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    static_cast<void>(
        ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    return socket;
  }
  static void fetch(const UniqueFd& socket) {
    constexpr std::string_view kRequest =
        "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: zstd\r\nConnection: close\r\n\r\n";
    static_cast<void>(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL));
    std::vector<char> piece(std::size_t{256} << 10);
    while (::recv(socket.get(), piece.data(), piece.size(), 0) > 0) {
    }
  }

  const test::TemporaryDirectory own_directory_;
  Provider own_ = agent::make_own_provider(own_directory_.path());
  agent::PageCounts counts_{own_};
  agent::SnapshotService service_;
  std::optional<agent::HttpServer> server_;
  std::uint16_t port_ = 0;
};

}  // namespace

void scraper_rows(const std::string& directory, std::size_t series, const Effort& effort,
                  Table& table) {
  constexpr unsigned kRoundsMax = 9;
  for (const auto& [name, compression] :
       {std::pair{"zstd", agent::Compression::kAlways}, {"identity", agent::Compression::kNever}}) {
    const PageServer server(
        must(exposition::Snapshots::open({.catalog = {.directory = directory}})), compression);
    static_cast<void>(server.serve_ns(1));
    Rounds rounds;
    for (unsigned round = 0; round < std::min(effort.rounds, kRoundsMax); ++round) {
      const double one = server.serve_ns(1);
      rounds.add(server.serve_ns(8), one);
    }
    table.ratio_row(fmt::format("8 scrapers at once, {} series, {} (limit: one)", series, name),
                    rounds.comparison(), 1.3);
  }
}

}  // namespace meterbank::bench
