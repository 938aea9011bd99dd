// SPDX-License-Identifier: Apache-2.0
//
// Sends bodies to one address, by HTTP or HTTPS, over a connection that is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::push {

// The answer of a receiver, none of which is trusted.
struct HttpAnswer {
  std::uint32_t status = 0;  // 0: there was none; `error` says why
  std::string error;
  std::string body;  // the first 16 KiB
  std::optional<std::chrono::seconds> retry_after;
  // Remote write 2.0: an X-Prometheus-Remote-Write-*-Written header was there.
  bool has_written_counts = false;
};

class HttpPost {
 public:
  // `headers`: lines, of every request. `ca_file`: the authorities that may vouch for a receiver,
  // in PEM; empty: those of this machine. The program must ignore SIGPIPE: the library that
  // encrypts may write to a connection that has ended. Errors: kInvalidArgument, kNoSpace.
  static Result<HttpPost> open(const std::string& url, const std::vector<std::string>& headers,
                               const std::string& ca_file = {});
  HttpPost(HttpPost&&) noexcept;
  HttpPost& operator=(HttpPost&&) noexcept;
  ~HttpPost();

  // One thread at a time. Progress: returns within `timeout`. Follows no redirect.
  [[nodiscard]] HttpAnswer post(std::string_view body, std::chrono::milliseconds timeout);
  // From the next post() on. The thread of post(). Throws std::bad_alloc.
  void use_headers(const std::vector<std::string>& headers);
  // By any thread: a post() that runs, and every one from now on, returns at once.
  void abort() noexcept;

 private:
  struct State;
  explicit HttpPost(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

// http:// or https:// and a host. Errors: kInvalidArgument.
[[nodiscard]] Result<void> check_url(const std::string& url);
// The same without a name and password that may be in it.
[[nodiscard]] std::string printable_url(const std::string& url);

}  // namespace meterbank::push
