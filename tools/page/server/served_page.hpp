// SPDX-License-Identifier: Apache-2.0
//
// The page of one scene at one address, with a token of its own, until it is destroyed.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "http/listen_socket.hpp"
#include "meterbank/base/result.hpp"
#include "page/feed/picture_service.hpp"
#include "page/server/page_server.hpp"

namespace meterbank::page {

class ServedPage {
 public:
  // The scene outlives it. Errors: kInvalidArgument: other machines reach the address; kSystem.
  static Result<std::unique_ptr<ServedPage>> start(http::ListenSocket listener, Scene& scene,
                                                   std::chrono::nanoseconds interval,
                                                   ServerLimits limits = {});
  ~ServedPage() { service_.stop(); }  // before the server ends
  ServedPage(const ServedPage&) = delete;
  ServedPage& operator=(const ServedPage&) = delete;

  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  // What a browser opens, with the token.
  [[nodiscard]] const std::string& link() const noexcept { return link_; }

 private:
  ServedPage(std::string address, const Token& token, Scene& scene,
             std::chrono::nanoseconds interval);

  std::string address_, link_;
  PictureService service_;
  std::unique_ptr<PageServer> server_;
};

}  // namespace meterbank::page
