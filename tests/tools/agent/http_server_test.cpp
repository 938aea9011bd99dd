// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "server_fixture.hpp"

namespace meterbank::agent {
namespace {

using namespace std::chrono_literals;
using exposition::kShop;
using exposition::Shop;

TEST_F(HttpServerTest, ServesPagesToOldAndNewClients) {
  start();
  const HttpAnswer answer = get("/metrics");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_TRUE(answer.is_whole);
  EXPECT_TRUE(answer.has("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_NE(answer.body.find(kSold), std::string::npos);

  const HttpClient old(port_);
  old.send("GET /metrics HTTP/1.0\r\n\r\n");
  const std::string text = old.read_all();
  EXPECT_EQ(text.find("chunked"), std::string::npos);
  EXPECT_NE(text.find(kSold), std::string::npos);
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  start();
  const HttpAnswer answer = get("/metrics", {}, "HEAD");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_TRUE(answer.has("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_EQ(answer.body, "");
}

TEST_F(HttpServerTest, AnswersRequestsThatWereSentTogetherInTheirOrder) {
  start();
  const HttpClient client(port_);
  client.send(
      "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /metrics?name[]=meterbank_shop_sold_total HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string text = client.read_all();
  const std::size_t healthy = text.find("healthy\n");
  const std::size_t page = text.find(kSold);
  const std::size_t nothing = text.find("404 Not Found");
  EXPECT_LT(healthy, page);
  EXPECT_LT(page, nothing);
  EXPECT_NE(nothing, std::string::npos);
}

TEST_F(HttpServerTest, RefusesWhatItDoesNotKnowWithAReason) {
  start();
  const HttpAnswer method = get("/metrics", "Content-Length: 0\r\n", "POST");
  EXPECT_EQ(method.status(), 405);
  EXPECT_TRUE(method.has("Allow: GET, HEAD\r\n"));
  EXPECT_EQ(get("/metricz").status(), 404);
  EXPECT_EQ(get("/metricz").body, "not found; / lists the paths\n");
  const HttpAnswer parameter = get("/metrics?shard=4/4");
  EXPECT_EQ(parameter.status(), 400);
  EXPECT_EQ(parameter.body, "invalid shard: 4/4; try: I/N, with I from 0 to N-1: shard=0/4\n");
  const HttpAnswer large = get("/metrics", "X: " + std::string(40'000, 'x') + "\r\n");
  EXPECT_EQ(large.status(), 431);
  const HttpAnswer huge = get("/metrics", "X: " + std::string(100'000, 'x') + "\r\n");
  EXPECT_NE(huge.status(), 200);
  EXPECT_EQ(get("/metrics").status(), 200);
}

TEST_F(HttpServerTest, ListsWhatItServes) {
  start();
  EXPECT_NE(get("/").body.find("/metrics/host"), std::string::npos);
  EXPECT_EQ(get("/-/healthy").body, "healthy\n");
  EXPECT_EQ(get("/-/ready").body, "ready\n");
  const HttpAnswer schema = get("/schema");
  EXPECT_TRUE(schema.has("Content-Type: application/json\r\n"));
  EXPECT_NE(schema.body.find("\"name\": \"meterbank_shop_sold_total\""), std::string::npos);
}

TEST_F(HttpServerTest, MakesRulesAndDashboardsOfTheSetsThatRun) {
  start();
  const HttpAnswer rules = get("/schema/rules?set=shop");
  EXPECT_EQ(rules.status(), 200);
  EXPECT_TRUE(rules.has("Content-Type: application/yaml\r\n"));
  EXPECT_NE(rules.body.find("record: provider:meterbank_shop_sold:rate5m\n"), std::string::npos);
  EXPECT_EQ(get("/schema/rules?provider=corner&set=Sho*").body, rules.body);
  const HttpAnswer dashboard = get("/schema/dashboard?set=shop");
  EXPECT_EQ(dashboard.status(), 200);
  EXPECT_TRUE(dashboard.has("Content-Type: application/json\r\n"));
  EXPECT_NE(dashboard.body.find("rate(meterbank_shop_sold_total{"), std::string::npos);
  const HttpAnswer head = get("/schema/rules?set=shop", {}, "HEAD");
  EXPECT_EQ(head.status(), 200);
  EXPECT_TRUE(head.has("Content-Type: application/yaml\r\n"));
  EXPECT_EQ(head.body, "");
}

TEST_F(HttpServerTest, RefusesRulesAndDashboardsOfNoSet) {
  start();
  for (const std::string path : {"/schema/rules", "/schema/dashboard"}) {
    for (const std::string query : {"?set=shops", "?provider=nowhere", "?set=shop&provider=host"}) {
      const HttpAnswer missing = get(path + query);
      EXPECT_EQ(missing.status(), 404) << path << query;
      EXPECT_EQ(missing.body, "no such counterset; /schema lists all\n");
    }
    EXPECT_EQ(get(path + "?shard=0/2").status(), 400);
    EXPECT_EQ(get(path + "/shop").status(), 404);
    EXPECT_EQ(get(path, "Content-Length: 0\r\n", "POST").status(), 405);
  }
}

TEST_F(HttpServerTest, CompressesForClientsThatAcceptIt) {
  start({.compression = Compression::kAlways});
  constexpr std::string_view kTarget = "/metrics?name[]=meterbank_shop*";
  const std::string plain = get(kTarget).body;
  const HttpAnswer zstd = get(kTarget, "Accept-Encoding: gzip, zstd\r\n");
  EXPECT_TRUE(zstd.has("Content-Encoding: zstd\r\n"));
  std::string text(1'000'000, '\0');
  text.resize(ZSTD_decompress(text.data(), text.size(), zstd.body.data(), zstd.body.size()));
  EXPECT_EQ(text, plain);

  HttpAnswer gzip = get(kTarget, "Accept-Encoding: gzip\r\n");
  EXPECT_TRUE(gzip.has("Content-Encoding: gzip\r\n"));
  text.resize(1'000'000);
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  ASSERT_EQ(inflateInit2(&stream, kGzipWindow), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(gzip.body.data());
  stream.avail_in = static_cast<uInt>(gzip.body.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(text, plain);
}

TEST_F(HttpServerTest, DoesNotCompressForTheSameMachineUnlessToldTo) {
  start();
  EXPECT_FALSE(get("/metrics", "Accept-Encoding: gzip\r\n").has("Content-Encoding"));
}

TEST_F(HttpServerTest, ClosesAConnectionThatSendsItsRequestByteByByte) {
  start({.request_time = 300ms});
  const HttpClient slow(port_);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + std::string(1000, 'x');
  // Others are served meanwhile.
  EXPECT_EQ(get("/-/healthy").status(), 200);
  std::size_t sent = 0;
  while (sent < request.size() && slow.send(request.substr(sent, 1)) && !slow.is_closed()) {
    ++sent;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_LT(sent, request.size());
}

TEST_F(HttpServerTest, BreaksOffAPageThatIsNotRead) {
  std::vector<Instance> aisles;
  for (int number = 0; number < 15'000; ++number) {
    aisles.push_back(*shop_.create_instance("aisle number " + std::to_string(number)));
  }
  start({.answer_time = 500ms});
  const HttpClient lazy(port_);
  lazy.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  // What the agent counts of itself is how one sees it from outside.
  exposition::Snapshots own =
      *exposition::Snapshots::open({.catalog = {.directory = own_directory_.path()}});
  constexpr std::string_view kBrokenOff =
      "meterbank_agent_exporter_broken_off_total{provider=\"agent\"} 1\n";
  while (page_of(own.take(), exposition::PageFormat::kText).find(kBrokenOff) == std::string::npos) {
    std::this_thread::sleep_for(5ms);
  }
  // How much of it came depends on the machine.
  const HttpAnswer part = HttpClient::parse(lazy.read_all());
  EXPECT_FALSE(part.is_whole);
  // With as much time as usual, a client that reads gets all.
  service_->stop();
  server_.reset();
  start();
  const HttpAnswer whole = get("/metrics");
  EXPECT_TRUE(whole.is_whole);
  EXPECT_GT(whole.body.size(), part.body.size());
}

constexpr std::array kLateCounters{CounterSpec{.id = 1, .name = "Late", .symbol = "late"}};
constexpr CountersetSpec kLate{.name = "Late", .symbol = "late", .counters = kLateCounters};

// A set whose rows do not come before they are released.
class LateSet {
 public:
  explicit LateSet(Provider& provider)
      : registration_(*provider.add(kLate, [this](CallbackRequest& request) -> std::uint32_t {
          if (request.reason() != CallbackReason::kCollect) return 0;
          // relaxed: of one thread
          if (!was_asked_.exchange(true, std::memory_order_relaxed)) asked_.set_value();
          release_.wait();
          return 0;
        })) {}
  // Waits for the callbacks that run, which use this object.
  ~LateSet() { registration_.close(); }
  LateSet(const LateSet&) = delete;
  LateSet& operator=(const LateSet&) = delete;

  void wait_until_asked() { asked_.get_future().wait(); }
  void release() { released_.set_value(); }

 private:
  std::promise<void> asked_, released_;
  std::shared_future<void> release_ = released_.get_future().share();
  std::atomic<bool> was_asked_{false};
  Registration registration_;
};

TEST_F(HttpServerTest, AnswersOthersWhileAPageWaitsForAProvider) {
  LateSet late(*provider_);
  start({}, 60s);
  std::future<HttpAnswer> page = std::async(std::launch::async, [this] { return get("/metrics"); });
  late.wait_until_asked();
  EXPECT_EQ(get("/-/healthy").status(), 200);
  late.release();
  EXPECT_NE(page.get().body.find(kSold), std::string::npos);
}

TEST_F(HttpServerTest, GoesOnWithoutTheRowsOfAProviderThatHangs) {
  LateSet late(*provider_);
  start();
  const HttpAnswer answer = get("/metrics");
  EXPECT_NE(answer.body.find(kSold), std::string::npos);
  EXPECT_TRUE(answer.is_whole);
  late.release();
}

TEST_F(HttpServerTest, EndsWhileRequestsWait) {
  LateSet late(*provider_);
  start();
  std::future<HttpAnswer> first =
      std::async(std::launch::async, [this] { return get("/metrics"); });
  late.wait_until_asked();
  std::future<HttpAnswer> second =
      std::async(std::launch::async, [this] { return get("/metrics"); });
  service_->stop();
  server_.reset();
  late.release();
  static_cast<void>(first.get());
  EXPECT_NE(second.get().status(), 200);
}

TEST_F(HttpServerTest, GivesOneSnapshotToAllRequestsThatWaitedForIt) {
  LateSet late(*provider_);
  std::vector<std::size_t>
      requests;  // how many shared each snapshot; written by the service's thread
  SnapshotService service(
      *exposition::Snapshots::open({.catalog = {.directory = directory_.path()}, .timeout = 60s}),
      [&requests](std::uint64_t /*duration_ns*/, std::size_t count) { requests.push_back(count); });
  std::promise<void> all_answered;
  std::vector<std::shared_ptr<const exposition::Snapshot>> snapshots;
  const auto ask = [&] {
    service.ask([&](std::shared_ptr<const exposition::Snapshot> snapshot, std::size_t count) {
      EXPECT_EQ(count, snapshots.empty() ? 1U : 5U);
      snapshots.push_back(std::move(snapshot));
      if (snapshots.size() == 6) all_answered.set_value();
    });
  };
  ask();
  late.wait_until_asked();
  // The first snapshot has begun, so these wait for the next one.
  for (int number = 0; number < 5; ++number) ask();
  late.release();
  all_answered.get_future().wait();
  EXPECT_EQ(requests, (std::vector<std::size_t>{1, 5}));
  EXPECT_NE(snapshots[0], snapshots[1]);
  for (std::size_t number = 2; number < 6; ++number) EXPECT_EQ(snapshots[number], snapshots[1]);
}

TEST_F(HttpServerTest, ServesManyClientsAtOnce) {
  start();
  std::vector<std::future<std::size_t>> clients;
  for (int number = 0; number < 16; ++number) {
    clients.push_back(std::async(std::launch::async, [this] {
      std::size_t served = 0;
      for (int page = 0; page < 20; ++page) {
        const HttpAnswer answer = get("/metrics");
        served += answer.is_whole && answer.body.find(kSold) != std::string::npos ? 1U : 0U;
      }
      return served;
    }));
  }
  for (auto& client : clients) EXPECT_EQ(client.get(), 20U);
}

TEST(ListenSocket, SaysWhatIsWrongWithAnAddress) {
  for (const std::string text :
       {"", "19400", ":19400", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
        "::1:19400", "[::1]", "no.such.name.invalid:1"}) {
    const auto socket = http::open_listen_socket(text);
    ASSERT_FALSE(socket) << text;
    EXPECT_EQ(socket.error().code, ErrorCode::kInvalidArgument) << text;
  }
  const auto taken = http::open_listen_socket("127.0.0.1:0");
  ASSERT_TRUE(taken);
  EXPECT_EQ(http::open_listen_socket(taken->address).error().code, ErrorCode::kExists);
}

}  // namespace
}  // namespace meterbank::agent
