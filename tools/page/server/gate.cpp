// SPDX-License-Identifier: Apache-2.0
#include "page/server/gate.hpp"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

namespace meterbank::page {
namespace {

constexpr std::string_view kDocumentPath = "/";
constexpr std::string_view kScheme = "Bearer ";

Refusal forbid(std::string text) { return {MHD_HTTP_FORBIDDEN, std::move(text) + '\n'}; }

}  // namespace

Result<Token> Token::make() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail(ErrorCode::kSystem, "get random bytes for the token", {}, errno);
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return Token(std::move(digits));
}

bool Token::is(std::string_view given) const noexcept {
  unsigned differences = given.size() == digits_.size() ? 0 : 1;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    differences |= static_cast<unsigned>(static_cast<unsigned char>(digits_[i] ^ other));
  }
  return differences == 0;
}

bool Gate::is_own_host(std::string_view host) const {
  constexpr std::array<std::string_view, 3> kNames{"127.0.0.1", "localhost", "[::1]"};
  for (const std::string_view name : kNames) {
    if (host == fmt::format("{}:{}", name, port_)) return true;
    constexpr std::uint16_t kUsualPort = 80;  // which browsers leave out
    if (port_ == kUsualPort && host == name) return true;
  }
  return false;
}

std::optional<Refusal> Gate::refuse(const RequestWords& words) const {
  if (!is_own_host(words.host)) {
    return forbid("this host name is not served; use the address that meterbank view printed");
  }
  if (words.method != MHD_HTTP_METHOD_GET) {
    return Refusal{MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is allowed\n"};
  }
  if (!words.origin.empty() && words.origin != "http://" + std::string(words.host)) {
    return forbid("requests of other sites are not answered");
  }
  // A person who follows a link gets the document, which holds no data.
  const bool is_visit = words.path == kDocumentPath && words.fetch_mode == "navigate";
  const bool is_of_another_site =
      !words.fetch_site.empty() && words.fetch_site != "same-origin" && words.fetch_site != "none";
  if (is_of_another_site && !is_visit) return forbid("requests of other sites are not answered");
  if (words.path == kDocumentPath) return std::nullopt;
  const std::string_view given = words.authorization.starts_with(kScheme)
                                     ? words.authorization.substr(kScheme.size())
                                     : std::string_view();
  if (given.empty()) {
    return forbid("the token is missing: open the address that meterbank view printed");
  }
  if (!token_.is(given)) {
    return forbid("the token is wrong: open the address that meterbank view printed last");
  }
  return std::nullopt;
}

}  // namespace meterbank::page
