// SPDX-License-Identifier: Apache-2.0
//
// What the example of a request server promises about its counters.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "cli/run.hpp"
#include "meterbank/reader.hpp"
#include "meters.hpp"
#include "served_client.hpp"
#include "server.hpp"

namespace request_server {
namespace {

template <typename Counts>
class Running {
 public:
  explicit Running(Counts& counts) : server_(counts, {}), thread_([this] { server_.run(); }) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { stop(); }

  [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
  void stop() noexcept { server_.stop(); }

 private:
  Server<Counts> server_;
  std::jthread thread_;
};

class RequestServer : public ::testing::Test {
 protected:
  // What `meterbank get` says, by path.
  [[nodiscard]] std::map<std::string, nlohmann::json> get(std::vector<std::string> words) const {
    words.insert(words.begin(), "get");
    words.insert(words.end(), {"--dir", directory_.path(), "--raw", "-f", "json"});
    std::ostringstream out, err;
    EXPECT_EQ(mb::cli::run(words, out, err), 0) << err.str();
    std::map<std::string, nlohmann::json> rows;
    const auto document = nlohmann::json::parse(out.str());
    for (const auto& row : document["samples"]) rows[row["path"]] = row;
    return rows;
  }
  [[nodiscard]] std::uint64_t raw(const std::string& path) const {
    return get({path}).at(path)["raw"];
  }

  mb::test::TemporaryDirectory directory_;
  mb::ProviderOptions options_{.name = "request_server", .directory = directory_.path()};
};

// What a client sent and got back, by kind.
struct Tally {
  std::uint64_t requests = 0, bytes_in = 0, bytes_out = 0, errors = 0;
};
using Tallies = std::array<Tally, 3>;

// A mix of all kinds, `together` requests in flight at a time.
void converse(std::uint16_t port, unsigned number, unsigned rounds, unsigned together,
              Tallies& tallies) {
  Client client(port);
  const std::string mine = "key" + std::to_string(number);
  const std::array<std::pair<Kind, std::string>, 5> script{{
      {Kind::kPut, "PUT " + mine + " a value of " + std::string(number * 100, 'x') + "\n"},
      {Kind::kGet, "GET " + mine + "\n"},
      {Kind::kOther, "GET two words\n"},
      {Kind::kGet, "GET absent\n"},
      {Kind::kOther, "DELETE " + mine + "\n"},
  }};
  for (unsigned turn = 0; turn < rounds * script.size(); turn += together) {
    std::string requests;
    for (unsigned i = 0; i < together; ++i) requests += script[(turn + i) % script.size()].second;
    client.say(requests);
    for (unsigned i = 0; i < together; ++i) {
      const auto& [kind, request] = script[(turn + i) % script.size()];
      const std::string reply = client.hear();
      Tally& tally = tallies[static_cast<std::size_t>(kind)];
      ++tally.requests;
      tally.bytes_in += request.size();
      tally.bytes_out += reply.size() + 1;
      if (reply == "NONE" || reply == "WHAT") ++tally.errors;
    }
  }
}

TEST_F(RequestServer, CountsExactlyWhatItsClientsSentAndGot) {
  Meters meters(options_);
  Running server(meters);
  constexpr unsigned kClients = 6;
  std::array<Tallies, kClients> tallies;
  {
    std::vector<std::jthread> clients;
    for (unsigned number = 0; number < kClients; ++number) {
      clients.emplace_back([&, number] {
        converse(server.port(), number, 200, std::array{1U, 5U, 50U}[number % 3], tallies[number]);
      });
    }
  }

  auto rows = get({"server_requests"});

  const std::array<std::string, 3> kinds{"get", "put", "other"};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Tally sum;
    for (const Tallies& of_client : tallies) {
      sum.requests += of_client[kind].requests;
      sum.bytes_in += of_client[kind].bytes_in;
      sum.bytes_out += of_client[kind].bytes_out;
      sum.errors += of_client[kind].errors;
    }
    const std::string path = "server_requests/" + kinds[kind] + "/";
    EXPECT_EQ(rows.at(path + "requests")["raw"], sum.requests);
    EXPECT_EQ(rows.at(path + "bytes_in")["raw"], sum.bytes_in);
    EXPECT_EQ(rows.at(path + "bytes_out")["raw"], sum.bytes_out);
    EXPECT_EQ(rows.at(path + "errors")["raw"], sum.errors);
    EXPECT_EQ(rows.at(path + "latency")["raw"], sum.requests);
    EXPECT_GT(sum.requests, 0U);
  }
  EXPECT_EQ(rows.at("server_requests/put/errors")["raw"], 0U);
}

TEST_F(RequestServer, RecordsTheLatencyOfEachRequest) {
  Meters meters(options_);
  Running server(meters);
  Client client(server.port());
  constexpr std::uint64_t kRequests = 500;
  for (std::uint64_t i = 0; i < kRequests; ++i) client.ask("GET absent");

  std::ostringstream out, err;
  const std::vector<std::string> words{"get",
                                       "server_requests/get/latency",
                                       "-p",
                                       "50,99,99.9",
                                       "--hist",
                                       "-f",
                                       "json",
                                       "--dir",
                                       directory_.path(),
                                       "-n",
                                       "2",
                                       "-i",
                                       "10ms"};
  ASSERT_EQ(mb::cli::run(words, out, err), 0) << err.str();

  const auto row = nlohmann::json::parse(out.str())["samples"][0]["distribution"];
  EXPECT_EQ(row["count"], kRequests);
  std::uint64_t in_buckets = row["below"].get<std::uint64_t>() + row["above"].get<std::uint64_t>();
  for (const auto& bucket : row["buckets"]) in_buckets += bucket[2].get<std::uint64_t>();
  EXPECT_EQ(in_buckets, kRequests);
  const double p50 = row["percentiles"]["50"], p99 = row["percentiles"]["99"];
  const double p999 = row["percentiles"]["99.9"];
  EXPECT_GT(p50, 0);
  EXPECT_LE(p50, p99);
  EXPECT_LE(p99, p999);
  EXPECT_LE(p999, row["max"]);
}

TEST_F(RequestServer, HasCountedWhatAClientHasTheAnswerTo) {
  Meters meters(options_);
  Running server(meters);
  auto catalog = mb::Catalog::open({.directory = directory_.path()});
  ASSERT_TRUE(catalog) << catalog.error().message();
  auto query = mb::Query::compile(*catalog, {"server_requests/get/requests"});
  ASSERT_TRUE(query) << query.error().message();
  mb::Sample sample;
  std::array<std::optional<Client>, 2> clients;  // one a worker
  for (auto& client : clients) client.emplace(server.port());

  for (std::uint64_t turn = 1; turn <= 2000; ++turn) {
    ASSERT_EQ(clients[turn % clients.size()]->ask("GET absent"), "NONE");
    query->collect(sample);
    ASSERT_EQ(content_of(sample).row(0)[0], turn);
  }
}

TEST_F(RequestServer, ShowsItsConnectionsAndItsState) {
  std::optional<Meters> meters(options_);
  EXPECT_EQ(get({"request_server/state"}).at("request_server/state")["text"], "starting");
  std::optional<Running<Meters>> server(*meters);
  EXPECT_EQ(raw("request_server/port"), server->port());
  const auto connections = [this] {
    return raw("server_threads/worker 0/connections") + raw("server_threads/worker 1/connections");
  };
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (std::uint64_t open = 1; open <= 5; ++open) {
      clients.push_back(std::make_unique<Client>(server->port()));
      EXPECT_EQ(clients.back()->ask("GET absent"), "NONE");
      EXPECT_EQ(connections(), open);
    }
    auto state = get({"request_server/state"}).at("request_server/state");
    EXPECT_EQ(state["text"], "serving");
    EXPECT_TRUE(state.contains("set_age_s"));
    for (auto& client : clients) {
      client->end();
      EXPECT_EQ(client->hear(), "");  // closed
    }
  }
  EXPECT_EQ(connections(), 0U);
  EXPECT_EQ(raw("server_threads/acceptor/opened"), 5U);
  EXPECT_EQ(raw("server_threads/worker 0/closed") + raw("server_threads/worker 1/closed"), 5U);

  server.reset();

  EXPECT_EQ(get({"request_server/state"}).at("request_server/state")["text"], "stopped");
}

TEST_F(RequestServer, CountsALineThatDoesNotEndAndHangsUp) {
  Meters meters(options_);
  Running server(meters);
  Client client(server.port());

  client.say(std::string(100'000, 'x'));

  EXPECT_EQ(client.hear(), "");
  EXPECT_EQ(raw("server_faults/requests_too_long"), 1U);
  EXPECT_EQ(raw("server_requests/other/requests"), 0U);
}

// Opened is counted by the acceptor, closed by workers. Threads that are read one after the other
// can show the second without the first; a cut cannot.
TEST_F(RequestServer, ACutShowsNoConnectionClosedThatWasNotOpened) {
  options_.cut_period = std::chrono::microseconds(500);
  Meters meters(options_);
  Running server(meters);
  auto catalog = mb::Catalog::open({.directory = directory_.path()});
  ASSERT_TRUE(catalog) << catalog.error().message();
  auto query = mb::Query::compile(*catalog, {"server_threads/*/opened", "server_threads/*/closed"});
  ASSERT_TRUE(query) << query.error().message();
  std::atomic<bool> over{false};
  std::jthread visitors([&] {
    // relaxed: any time will do
    while (!over.load(std::memory_order_relaxed)) Client(server.port()).ask("GET absent");
  });

  mb::Sample sample;
  std::uint64_t cuts = 0, opened_before = 0, moved = 0;
  while (cuts < 2000 || moved < 100) {
    const mb::CollectSummary summary = query->collect(sample, mb::Cut::kEpoch);
    ASSERT_EQ(content_of(sample).plan->rows, 3U);
    if (summary.cut == mb::CutQuality::kPerBlock) continue;
    std::uint64_t opened = 0, closed = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      opened +=
          content_of(sample).row(row)[static_cast<std::size_t>(ServerThreadsCounter::kOpened)];
      closed +=
          content_of(sample).row(row)[static_cast<std::size_t>(ServerThreadsCounter::kClosed)];
    }
    ASSERT_LE(closed, opened);
    if (opened != opened_before) ++moved;
    opened_before = opened;
    ++cuts;
  }
  over.store(true, std::memory_order_relaxed);  // relaxed: as above
}

TEST_F(RequestServer, AnswersWhatHasArrivedBeforeItEnds) {
  Meters meters(options_);
  std::optional<Running<Meters>> server(meters);
  Client client(server->port());
  const std::string value(30'000, 'v');
  ASSERT_EQ(client.ask("PUT key " + value), "OK");  // a worker has it
  constexpr unsigned kRequests = 500;               // 15 MB of answers, more than sockets hold
  std::string requests;
  for (unsigned i = 0; i < kRequests; ++i) requests += "GET key\n";
  client.say(requests);
  client.await_arrival();

  server->stop();

  for (unsigned i = 0; i < kRequests; ++i) ASSERT_EQ(client.hear(), "VALUE " + value);
  EXPECT_EQ(client.hear(), "");
  server.reset();
  EXPECT_EQ(raw("server_requests/get/requests"), kRequests);
}

TEST_F(RequestServer, ServesAClientThatSendsMuchBeforeItListens) {
  Meters meters(options_);
  Running server(meters);
  Client client(server.port());
  const std::string value(30'000, 'v');
  ASSERT_EQ(client.ask("PUT key " + value), "OK");
  constexpr unsigned kRequests = 2000;  // 60 MB of answers, more than sockets hold
  std::jthread speaker([&client] {
    for (unsigned i = 0; i < kRequests; ++i) client.say("GET key\n");
  });

  for (unsigned i = 0; i < kRequests; ++i) ASSERT_EQ(client.hear(), "VALUE " + value);
}

TEST_F(RequestServer, SaysTheSameWithoutMeters) {
  const auto transcript = [](auto& counts) {
    Running server(counts);
    Client client(server.port());
    std::string all;
    for (const char* line : {"GET a", "PUT a 1 2", "GET a", "PUT a", "GETa", "", "GET a b"}) {
      all += client.ask(line) + "|";
    }
    return all;
  };
  Meters meters(options_);
  NoMeters none;

  const std::string counted = transcript(meters);

  EXPECT_EQ(counted, "NONE|OK|VALUE 1 2|WHAT|WHAT|WHAT|WHAT|");
  EXPECT_EQ(transcript(none), counted);
}

}  // namespace
}  // namespace request_server
