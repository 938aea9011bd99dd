// SPDX-License-Identifier: Apache-2.0
#include "page/server/served_page.hpp"

#include <fmt/format.h>

#include <utility>

#include "page/server/gate.hpp"

namespace meterbank::page {

ServedPage::ServedPage(std::string address, const Token& token, Scene& scene,
                       std::chrono::nanoseconds interval)
    : address_(std::move(address)),
      link_(fmt::format("http://{}/#{}", address_, token.digits())),
      service_(scene, interval) {}

Result<std::unique_ptr<ServedPage>> ServedPage::start(http::ListenSocket listener, Scene& scene,
                                                      std::chrono::nanoseconds interval,
                                                      ServerLimits limits) {
  // The token would travel in plain text.
  if (!listener.is_loopback()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("other machines reach {}", listener.address), "127.0.0.1");
  }
  auto token = Token::make();
  if (!token) return tl::make_unexpected(std::move(token.error()));
  const auto port = listener.port();
  auto page = std::unique_ptr<ServedPage>(
      new ServedPage(std::move(listener.address), *token, scene, interval));
  auto server = PageServer::start(std::move(listener.socket), Gate(std::move(*token), port),
                                  page->service_, limits);
  if (!server) return tl::make_unexpected(std::move(server.error()));
  page->server_ = std::make_unique<PageServer>(std::move(*server));
  return page;
}

}  // namespace meterbank::page
