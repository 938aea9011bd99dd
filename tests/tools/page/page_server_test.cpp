// SPDX-License-Identifier: Apache-2.0
//
// The server over sockets, with clients that do what browsers do not.
#include "page/server/page_server.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <optional>
#include <vector>

#include "../../support/comes_true.hpp"
#include "../agent/http_client.hpp"
#include "hand_made_scene.hpp"
#include "page/server/served_page.hpp"

namespace meterbank::page {
namespace {

using agent::HttpAnswer;
using agent::HttpClient;
using test::comes_true;

constexpr std::string_view kToken = "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n";

class PageServerTest : public ::testing::Test {
 protected:
  ~PageServerTest() override {
    if (service_) service_->stop();
  }
  void start(ServerLimits limits = {},
             std::chrono::milliseconds interval = std::chrono::milliseconds(20)) {
    auto listener = http::open_listen_socket("127.0.0.1:0");
    ASSERT_TRUE(listener) << listener.error().message();
    port_ = static_cast<std::uint16_t>(
        std::stoul(listener->address.substr(listener->address.rfind(':') + 1)));
    service_.emplace(scene_, interval);
    auto server = PageServer::start(std::move(listener->socket),
                                    Gate(Token("0123456789abcdef0123456789abcdef"), port_),
                                    *service_, limits);
    ASSERT_TRUE(server) << server.error().message();
    server_.emplace(std::move(*server));
  }
  [[nodiscard]] std::string request(std::string_view target, std::string_view more = kToken) const {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
           "\r\n" + std::string(more) + "\r\n";
  }
  [[nodiscard]] HttpAnswer get(std::string_view target, std::string_view more = kToken) const {
    const HttpClient client(port_);
    client.send(request(target, "Connection: close\r\n" + std::string(more)));
    return HttpClient::parse(client.read_all());
  }
  // What a stream has sent when it has `text` in it.
  static std::string read_until(const HttpClient& client, std::string_view text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      const std::string part = client.read_some();
      if (part.empty()) break;
      all += part;
    }
    return all;
  }

  HandMadeScene scene_;
  std::optional<PictureService> service_;
  std::optional<PageServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(PageServerTest, AnUnfinishedPictureIsFollowedByWholerOnesAtOnce) {
  HandMadeScene recorded(false);
  recorded.unfinished = 3;
  PictureService service(recorded, std::chrono::hours(1));
  const auto channel = service.join({});
  EXPECT_TRUE(comes_true([&] { return channel->next(2) != nullptr; }));
  service.stop();
  EXPECT_EQ(recorded.pictures, 3U);
}

TEST_F(PageServerTest, GivesTheDocumentAPolicyThatLetsNoOtherScriptRun) {
  start();
  const auto answer = get("/", "");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_TRUE(answer.has("Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
  EXPECT_TRUE(answer.has("frame-ancestors 'none'"));
  EXPECT_TRUE(answer.has("X-Content-Type-Options: nosniff"));
  EXPECT_TRUE(answer.has("Referrer-Policy: no-referrer"));
  EXPECT_FALSE(answer.has("unsafe"));
  EXPECT_FALSE(answer.has("Access-Control-Allow"));
  EXPECT_NE(answer.body.find("<!doctype html>"), std::string::npos);
}

TEST_F(PageServerTest, RefusesDataWithoutTheToken) {
  start();
  for (const std::string_view path : {"/picture", "/stream", "/series", "/moment", "/other"}) {
    const auto answer = get(path, "");
    EXPECT_EQ(answer.status(), 403) << path;
    EXPECT_NE(answer.body.find("the token is missing"), std::string::npos) << path;
    EXPECT_EQ(get(path, "Authorization: Bearer 0\r\n").status(), 403) << path;
  }
}

TEST_F(PageServerTest, AnswersPicturesSeriesAndMoments) {
  start();
  const auto picture = get("/picture?screen=set&set=orders");
  EXPECT_EQ(picture.status(), 200);
  EXPECT_NE(picture.body.find("\"link\":\"screen=set&set=orders\""), std::string::npos);
  EXPECT_EQ(get("/series?screen=set").body.substr(0, 4), "MBS2");
  EXPECT_EQ(get("/moment?at=1700000005&window.step=earlier").body,
            "screen=overview&at=1700000004.000000000");
  EXPECT_EQ(get("/moment?at=1700000000&window.step=earlier").status(), 204);
  EXPECT_EQ(get("/picture?screen=cellar").status(), 400);
  EXPECT_EQ(get("/elsewhere").status(), 404);
}

TEST_F(PageServerTest, StreamsAWholePictureAndThenWhatIsNew) {
  scene_.moments = 20;
  start();
  const HttpClient client(port_);
  client.send(request("/stream?screen=set"));
  const auto text = read_until(client, "event: tail");
  EXPECT_NE(text.find("text/event-stream"), std::string::npos);
  EXPECT_LT(text.find("event: picture"), text.find("event: tail"));
}

TEST_F(PageServerTest, MakesOnePictureAMomentForAllViewersOfAPlace) {
  start({}, std::chrono::milliseconds(100));
  std::vector<std::unique_ptr<HttpClient>> viewers;
  for (int i = 0; i < 50; ++i) {
    viewers.push_back(std::make_unique<HttpClient>(port_));
    viewers.back()->send(request("/stream?screen=set"));
  }
  for (const auto& viewer : viewers) {
    EXPECT_NE(read_until(*viewer, "event: ").find("event: "), std::string::npos);
  }
  const std::uint64_t moments = scene_.moments;
  const std::uint64_t pictures = scene_.pictures;
  ASSERT_TRUE(comes_true([&] { return scene_.moments >= moments + 5; }));
  EXPECT_LE(scene_.pictures - pictures, scene_.moments - moments + 1);
}

TEST_F(PageServerTest, RefusesMoreViewersThanAreAllowedAndTakesTheNextWhenOneLeaves) {
  start({.viewers = 2});
  std::optional<const HttpClient> first(port_);
  const HttpClient second(port_);
  for (const HttpClient* client : {&*first, &second}) {
    client->send(request("/stream?"));
    read_until(*client, "event: ");
  }
  const auto answer = get("/stream?");
  EXPECT_EQ(answer.status(), 503);
  EXPECT_NE(answer.body.find("as many viewers as are allowed"), std::string::npos);
  first.reset();
  EXPECT_TRUE(comes_true([&] { return server_->viewers() == 1; }));
}

TEST_F(PageServerTest, RefusesMoreDifferentPlacesThanAreAllowed) {
  start({}, std::chrono::milliseconds(500));
  std::vector<std::unique_ptr<HttpClient>> viewers;
  for (std::size_t i = 0; i < PictureService::kChannelsMax; ++i) {
    viewers.push_back(std::make_unique<HttpClient>(port_));
    viewers.back()->send(request("/stream?set=s" + std::to_string(i)));
    read_until(*viewers.back(), "200");
  }
  EXPECT_EQ(get("/stream?set=another").status(), 503);
  const HttpClient same(port_);
  same.send(request("/stream?set=s7"));
  EXPECT_NE(read_until(same, "event: ").find("200 OK"), std::string::npos);
}

TEST_F(PageServerTest, DropsAViewerThatStopsReadingWhileOthersSeeEachMoment) {
  scene_.padding.assign(200'000, 'x');
  start({.answer_time = std::chrono::milliseconds(300), .send_buffer = 16 << 10});
  const HttpClient stopped(port_);
  stopped.send(request("/stream?screen=set"));
  const HttpClient reader(port_);
  reader.send(request("/stream?screen=set"));
  ASSERT_TRUE(comes_true([&] { return server_->viewers() == 2; }));
  std::string seen;
  EXPECT_TRUE(comes_true([&] {
    seen += reader.read_some();
    return server_->viewers() == 1;
  }));
  EXPECT_NE(read_until(reader, "event: ").find("event: "), std::string::npos);
}

TEST_F(PageServerTest, KeepsAViewerOfWhatDoesNotChange) {
  start({.answer_time = std::chrono::milliseconds(200)}, std::chrono::seconds(100));
  const HttpClient viewer(port_);
  viewer.send(request("/stream?screen=set"));
  read_until(viewer, "event: ");
  // Longer than an answer may take: a viewer that has everything owes nothing.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(server_->viewers(), 1U);
}

TEST_F(PageServerTest, ServesAThousandViewers) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  constexpr rlim_t kNeeded = 2200;
  if (files.rlim_max < kNeeded) GTEST_SKIP() << "this process may open too few files";
  const rlimit before = files;
  files.rlim_cur = kNeeded;
  ::setrlimit(RLIMIT_NOFILE, &files);
  start({}, std::chrono::milliseconds(200));
  std::vector<std::unique_ptr<HttpClient>> viewers;
  for (int i = 0; i < 1000; ++i) {
    viewers.push_back(std::make_unique<HttpClient>(port_));
    viewers.back()->send(request("/stream?screen=set"));
  }
  for (const auto& viewer : viewers) {
    ASSERT_NE(read_until(*viewer, "event: ").find("event: "), std::string::npos);
  }
  EXPECT_EQ(server_->viewers(), 1000U);
  EXPECT_EQ(get("/stream?screen=set").status(), 503);
  EXPECT_EQ(get("/picture?screen=set").status(), 200);
  viewers.clear();
  EXPECT_TRUE(comes_true([&] { return server_->viewers() == 0; }));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(PageServerTest, EndsStreamsWhenItStops) {
  start();
  const HttpClient viewer(port_);
  viewer.send(request("/stream?screen=set"));
  read_until(viewer, "event: ");
  service_->stop();
  server_.reset();
  static_cast<void>(viewer.read_all());  // returns
  EXPECT_TRUE(viewer.is_closed());
}

TEST(ServedPage, IsRefusedWhereOtherMachinesReachIt) {
  HandMadeScene scene;
  for (const std::string address : {"0.0.0.0:0", "127.0.0.1:0"}) {
    auto listener = http::open_listen_socket(address);
    ASSERT_TRUE(listener) << listener.error().message();
    const auto page = ServedPage::start(std::move(*listener), scene, std::chrono::seconds(1));
    EXPECT_EQ(page.has_value(), address.starts_with("127.")) << address;
    if (!page) {
      EXPECT_EQ(page.error().code, ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace meterbank::page
