// SPDX-License-Identifier: Apache-2.0
//
// Who may ask: the page that this program served, in a browser of the person who was told the
// token.
//
//   wrong Host           a name of another site that leads to this machine (DNS rebinding): 403
//   Origin, Sec-Fetch-*  another site, or another port of this machine, asks: 403
//   token                missing or wrong: 403; the document itself needs none, it holds no data
//   method               GET alone: 405
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meterbank/base/result.hpp"

namespace meterbank::page {

// 128 random bits as 32 hexadecimal digits.
class Token {
 public:
  // Errors: kSystem: the system has no random bytes.
  static Result<Token> make();
  explicit Token(std::string digits) : digits_(std::move(digits)) {}

  [[nodiscard]] const std::string& digits() const noexcept { return digits_; }
  // Takes the same time wherever the first wrong digit is.
  [[nodiscard]] bool is(std::string_view given) const noexcept;

 private:
  std::string digits_;
};

// What a request says of itself. A header that is missing is empty.
struct RequestWords {
  std::string_view method, path;
  std::string_view host, origin, authorization;
  std::string_view fetch_site, fetch_mode;  // Sec-Fetch-Site, Sec-Fetch-Mode
};

struct Refusal {
  unsigned status = 0;
  std::string text;  // a line
};

class Gate {
 public:
  Gate(Token token, std::uint16_t port) : token_(std::move(token)), port_(port) {}

  // Nothing: it is let in. The path "/" is the document.
  [[nodiscard]] std::optional<Refusal> refuse(const RequestWords& words) const;

 private:
  [[nodiscard]] bool is_own_host(std::string_view host) const;

  Token token_;
  std::uint16_t port_;
};

}  // namespace meterbank::page
