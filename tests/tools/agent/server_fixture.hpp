// SPDX-License-Identifier: Apache-2.0
//
// A server of pages about a shop that has sold seven fruits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../exposition/exposition_fixture.hpp"
#include "agent/counts/own_provider.hpp"
#include "agent/http/http_server.hpp"
#include "http/listen_socket.hpp"
#include "http_client.hpp"

namespace meterbank::agent {

class HttpServerTest : public exposition::PageTest {
 protected:
  HttpServerTest()
      : shop_(*provider_->add(exposition::kShop)), fruit_(*shop_.create_instance("fruit")) {
    fruit_.add(exposition::Shop::kSold, 7U);
  }
  ~HttpServerTest() override {
    if (service_) service_->stop();
  }

  void start(ServerOptions options = {},
             std::chrono::milliseconds timeout = std::chrono::milliseconds(300)) {
    auto listener = http::open_listen_socket("127.0.0.1:0");
    ASSERT_TRUE(listener) << listener.error().message();
    port_ = static_cast<std::uint16_t>(
        std::stoul(listener->address.substr(listener->address.rfind(':') + 1)));
    service_.emplace(*exposition::Snapshots::open(
                         {.catalog = {.directory = directory_.path()}, .timeout = timeout}),
                     [](std::uint64_t /*duration_ns*/, std::size_t /*requests*/) {});
    auto server = HttpServer::start(std::move(listener->socket), options, *service_, counts_);
    ASSERT_TRUE(server) << server.error().message();
    server_.emplace(std::move(*server));
  }
  [[nodiscard]] HttpAnswer get(std::string_view target, std::string_view more = {},
                               std::string_view method = "GET") const {
    return HttpClient::get(port_, target, more, method);
  }

  test::TemporaryDirectory own_directory_;
  Registration shop_;
  Instance fruit_;
  Provider own_ = make_own_provider(own_directory_.path());
  PageCounts counts_{own_};
  std::optional<SnapshotService> service_;
  std::optional<HttpServer> server_;  // ends after the service has been stopped
  std::uint16_t port_ = 0;
};

inline constexpr std::string_view kSold =
    "meterbank_shop_sold_total{provider=\"corner\",aisle=\"fruit\"} 7\n";

}  // namespace meterbank::agent
