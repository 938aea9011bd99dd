// SPDX-License-Identifier: Apache-2.0
//
// Question: what do eight scrapers cost that ask at the same time?
// Limit: one of them, and the bytes of seven more through bare sockets: nothing can spare those.
// Question: how long does one scraper wait for the first byte of a page?
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
#include "http/listen_socket.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "other_processor.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

double clock_ns_of(clockid_t clock) noexcept {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

constexpr std::string_view kRequest =
    "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: zstd\r\nConnection: close\r\n\r\n";
constexpr std::size_t kSentAtOnce = std::size_t{64} << 10;
constexpr std::size_t kReceivedAtOnce = std::size_t{256} << 10;

// Returns the bytes until the other side closes.
std::size_t receive_all(const UniqueFd& socket) {
  std::vector<char> piece(kReceivedAtOnce);
  std::size_t all = 0;
  while (true) {
    const ssize_t bytes = ::recv(socket.get(), piece.data(), piece.size(), 0);
    if (bytes <= 0) return all;
    all += static_cast<std::size_t>(bytes);
  }
}

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static_cast<void>(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  return socket;
}

std::uint16_t port_of(const http::ListenSocket& listener) {
  return static_cast<std::uint16_t>(
      std::stoul(listener.address.substr(listener.address.rfind(':') + 1)));
}

// Processor time of one thread that sends so many bytes to each of the clients, a piece to one and
// then a piece to the next, as the server does.
double send_ns(std::size_t bytes, unsigned clients) {
  const http::ListenSocket listener = must(http::open_listen_socket("127.0.0.1:0"));
  const std::uint16_t port = port_of(listener);
  std::vector<UniqueFd> receivers, senders;
  for (unsigned client = 0; client < clients; ++client) {
    receivers.push_back(connect_to(port));
    senders.emplace_back(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  std::vector<std::thread> threads;
  threads.reserve(clients);
  for (const UniqueFd& receiver : receivers) {
    threads.emplace_back([&receiver] { receive_all(receiver); });
  }
  const std::string piece(kSentAtOnce, 'x');
  const double begin = clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
  for (std::size_t sent = 0; sent < bytes; sent += piece.size()) {
    for (const UniqueFd& sender : senders) {
      static_cast<void>(::send(sender.get(), piece.data(), piece.size(), MSG_NOSIGNAL));
    }
  }
  const double spent = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin;
  senders.clear();
  for (std::thread& thread : threads) thread.join();
  return spent;
}

class PageServer {
 public:
  PageServer(exposition::Snapshots snapshots, agent::Compression compression)
      : service_(std::move(snapshots), [](std::uint64_t, std::size_t) {}) {
    http::ListenSocket listener = must(http::open_listen_socket("127.0.0.1:0"));
    port_ = port_of(listener);
    server_.emplace(must(agent::HttpServer::start(
        std::move(listener.socket), {.compression = compression}, service_, counts_)));
  }
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer() { service_.stop(); }

  struct Served {
    double ns = 0;                    // processor time of the server
    std::size_t bytes_of_client = 0;  // which one of them got
  };
  // A page for each of the clients, which ask together.
  [[nodiscard]] Served serve(unsigned clients) const {
    std::barrier all_connected(static_cast<std::ptrdiff_t>(clients) + 1);
    std::vector<double> spent(clients);
    std::vector<std::size_t> bytes(clients);
    std::vector<std::thread> threads;
    threads.reserve(clients);
    const double begin = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned client = 0; client < clients; ++client) {
      threads.emplace_back([&, this, client] {
        const UniqueFd socket = connect_to(port_);
        all_connected.arrive_and_wait();
        bytes[client] = fetch(socket);
        spent[client] = clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
      });
    }
    all_connected.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    const double ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin -
                      std::accumulate(spent.begin(), spent.end(), 0.0);
    return {ns, bytes.front()};
  }

  // From the request to the first byte of the page, behind the headers.
  [[nodiscard]] double first_byte_ns() const {
    const UniqueFd socket = connect_to(port_);
    // The server has taken the connection, and sleeps.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double begin = now_ns(Clock::kWall);
    static_cast<void>(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL));
    std::vector<char> piece(kReceivedAtOnce);
    std::string answer;
    // The last chunk of a page ends as the headers do, and a short page may arrive whole.
    constexpr std::string_view kEndOfHeaders = "\r\n\r\n";
    const auto has_page = [&] {
      const std::size_t end = answer.find(kEndOfHeaders);
      return end != std::string::npos && end + kEndOfHeaders.size() < answer.size();
    };
    while (!has_page()) {
      const ssize_t bytes = ::recv(socket.get(), piece.data(), piece.size(), 0);
      if (bytes <= 0) give_up("the server ended the connection");
      answer.append(piece.data(), static_cast<std::size_t>(bytes));
    }
    const double spent = now_ns(Clock::kWall) - begin;
    receive_all(socket);
    return spent;
  }

 private:
  static std::size_t fetch(const UniqueFd& socket) {
    static_cast<void>(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL));
    return receive_all(socket);
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
    static_cast<void>(server.serve(1));
    Rounds rounds;
    for (unsigned round = 0; round < std::min(effort.rounds, kRoundsMax); ++round) {
      const PageServer::Served one = server.serve(1);
      const double seven = send_ns(one.bytes_of_client, 7);
      rounds.add(server.serve(8).ns, one.ns + seven);
    }
    table.ratio_row(
        fmt::format("8 scrapers at once, {} series, {} (limit: one, 7 x sent)", series, name),
        rounds.comparison(), 1.3);
    std::vector<double> first_bytes;
    // On the server's processor it would wait for the end of the server's time slice.
    std::thread client([&] {
      move_to_other_processor();
      for (unsigned round = 0; round < 2 * std::min(effort.rounds, kRoundsMax); ++round) {
        first_bytes.push_back(server.first_byte_ns());
      }
    });
    client.join();
    table.time_alone_row(fmt::format("first byte of {} series, {}", series, name),
                         Spread::of(std::move(first_bytes)), 2e6);
  }
}

}  // namespace meterbank::bench
