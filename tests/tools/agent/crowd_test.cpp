// SPDX-License-Identifier: Apache-2.0
//
// Pages of counters that never stand still, and far more clients than there are places.
#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <future>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "../../support/depth.hpp"
#include "../../support/sanitizers.hpp"
#include "server_fixture.hpp"

namespace meterbank::agent {
namespace {

using namespace std::chrono_literals;
using exposition::PageFormat;

constexpr std::array kGroupCounters{CounterSpec{.id = 1, .name = "First", .symbol = "first"},
                                    CounterSpec{.id = 2, .name = "Second", .symbol = "second"},
                                    CounterSpec{.id = 3, .name = "Third", .symbol = "third"}};
constexpr CountersetSpec kGroup{
    .name = "Group", .symbol = "group", .label = "row", .counters = kGroupCounters};

enum class Changes : bool { kTogether, kOneByOne };

// Adds one to each counter of each row as fast as it can, in a thread of its own.
class BusyGroups {
 public:
  BusyGroups(Provider& provider, Changes changes) : set_(*provider.add(kGroup)) {
    for (int row = 0; row < 4; ++row) {
      rows_.push_back(*set_.create_instance("row " + std::to_string(row)));
    }
    thread_ = std::thread([this, changes] { run(changes); });
  }
  BusyGroups(const BusyGroups&) = delete;
  BusyGroups& operator=(const BusyGroups&) = delete;
  ~BusyGroups() {
    stop_.store(true, std::memory_order_relaxed);  // relaxed: join() orders everything else
    thread_.join();
  }

 private:
  void run(Changes changes) {
    // relaxed: a late look at the flag costs a few more changes
    while (!stop_.load(std::memory_order_relaxed)) {
      for (Instance& row : rows_) change(row, changes);
    }
  }
  static void change(Instance& row, Changes changes) {
    if (changes == Changes::kTogether) {
      row.update([](Values& values) noexcept {
        for (std::uint32_t counter = 0; counter < kGroupCounters.size(); ++counter) {
          values.add(counter, 1U);
        }
      });
      return;
    }
    for (std::uint32_t counter = 0; counter < kGroupCounters.size(); ++counter) {
      row.add(counter, 1U);
    }
  }

  Registration set_;
  std::vector<Instance> rows_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Rows of the page whose counters are not equal.
std::size_t torn_rows(std::string_view page) {
  constexpr std::string_view kName = "\nmeterbank_group_";
  std::map<std::string_view, std::string_view> values;  // by labels
  std::size_t torn = 0, found = 0;
  for (std::size_t at = 0; (at = page.find(kName, at)) != std::string_view::npos;) {
    const std::size_t labels = page.find('{', at), end = page.find('}', labels);
    const std::string_view row = page.substr(labels, end - labels);
    at = page.find('\n', end);
    const std::string_view value = page.substr(end + 2, at - end - 2);
    const auto [known, is_first] = values.emplace(row, value);
    if (!is_first && known->second != value) ++torn;
    ++found;
  }
  EXPECT_EQ(found, 4 * kGroupCounters.size());
  return torn;
}

class PagesUnderLoad : public exposition::PageTest {
 protected:
  [[nodiscard]] std::size_t torn_on(std::uint64_t pages) const {
    exposition::Snapshots source = snapshots();
    exposition::PageOptions options;
    options.names = {Glob("meterbank_group_*")};
    std::size_t torn = 0;
    for (std::uint64_t number = 0; number < pages; ++number) {
      torn += torn_rows(page_of(source.take(), PageFormat::kText, options));
    }
    return torn;
  }
};

TEST_F(PagesUnderLoad, ShowEachUpdateWholeOrNotAtAll) {
  const BusyGroups groups(*provider_, Changes::kTogether);
  EXPECT_EQ(torn_on(test::depth(2'000, 200'000)), 0U);
}

TEST_F(PagesUnderLoad, AreTornWhereCountersDoNotMoveTogether) {
  const BusyGroups groups(*provider_, Changes::kOneByOne);
  std::size_t torn = 0;
  while (torn == 0) torn = torn_on(100);
}

// The first of them is often alone; the others share what it does not.
TEST_F(HttpServerTest, GivesClientsThatAskTogetherTheSameWholePage) {
  std::vector<Instance> aisles;
  for (int number = 0; number < 10'000; ++number) {
    aisles.push_back(*shop_.create_instance("aisle number " + std::to_string(number)));
  }
  start();
  const std::string expected = exposition::counters_of(get("/metrics").body);
  std::vector<std::future<HttpAnswer>> clients;
  for (int number = 0; number < 8; ++number) {
    clients.push_back(std::async(std::launch::async, [this] { return get("/metrics"); }));
  }
  for (auto& client : clients) {
    const HttpAnswer answer = client.get();
    EXPECT_TRUE(answer.is_whole);
    EXPECT_EQ(exposition::counters_of(answer.body), expected);
  }
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4096;
}

// Connections to the server from many addresses, none of which asks for anything.
class Crowd {
 public:
  Crowd(std::uint16_t port, std::size_t count) {
    for (std::size_t number = 0; number < count; ++number) open(port, number);
  }
  [[nodiscard]] std::size_t size() const noexcept { return sockets_.size(); }

 private:
  void open(std::uint16_t port, std::size_t number) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    // 127.1.0.1, 127.1.0.2 ...: the limit of one address does not help.
    constexpr std::uint32_t kFirst = 0x7f010001;
    address.sin_addr.s_addr = htonl(kFirst + static_cast<std::uint32_t>(number % 200));
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const int result =
        ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (result == 0 || errno == EINPROGRESS) sockets_.push_back(std::move(socket));
  }

  std::vector<UniqueFd> sockets_;
};

// None of them is kept out by the limit of one address.
TEST_F(HttpServerTest, ServesPagesBesideTenThousandConnectionsThatAskForNothing) {
  constexpr std::size_t kConnections = 10'000;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 2 * kConnections) GTEST_SKIP() << "too few descriptors for this test";
  const rlimit usual = files;
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  // Each place is free again after a tenth of it.
  start({.request_time = 2s});
  const std::size_t before = resident_bytes();

  {
    const Crowd crowd(port_, kConnections);
    EXPECT_GT(crowd.size(), kConnections / 2);
    // The client may have to wait for a place, and the server may refuse it: Prometheus asks again.
    HttpAnswer answer;
    while (!answer.is_whole || answer.status() != 200) answer = get("/metrics");
    EXPECT_NE(answer.body.find(kSold), std::string::npos);
    // A sanitizer keeps what is freed.
    constexpr std::size_t kMuch = std::size_t{64} << 20;
    if (!test::kHasSanitizer) {
      EXPECT_LT(resident_bytes(), before + kMuch);
    }
  }
  EXPECT_EQ(get("/metrics").status(), 200);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
}

}  // namespace
}  // namespace meterbank::agent
