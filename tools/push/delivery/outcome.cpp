// SPDX-License-Identifier: Apache-2.0
#include "push/delivery/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exposition/page/labels.hpp"
#include "push/otlp/otlp_answer.hpp"

namespace meterbank::push {
namespace {

constexpr std::uint32_t kTooManyRequests = 429;
constexpr std::uint32_t kUnsupportedMediaType = 415;
constexpr std::uint32_t kBadGateway = 502, kGatewayTimeout = 504;
constexpr std::uint32_t kServerErrors = 500, kBehindServerErrors = 600;

bool is_again(Protocol protocol, std::uint32_t status) noexcept {
  if (status == 0 || status == kTooManyRequests) return true;
  if (protocol == Protocol::kOtlp) return status >= kBadGateway && status <= kGatewayTimeout;
  return status >= kServerErrors && status < kBehindServerErrors;
}

// The first line of what the receiver says, if it is text.
std::string first_line(const std::string& body) {
  constexpr std::size_t kBytesMax = 200;
  const std::string clean = exposition::clean_text(body.substr(0, body.find('\n')));
  if (clean.find("\xEF\xBF\xBD") != std::string::npos) return {};  // U+FFFD: bytes, no text
  return clean.size() > kBytesMax ? std::string() : clean;
}

std::string reason_of(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.error;
  const std::string line = first_line(answer.body);
  return line.empty() ? fmt::format("status {}", answer.status)
                      : fmt::format("status {}: {}", answer.status, line);
}

}  // namespace

Outcome judge(Protocol protocol, const HttpAnswer& answer) {
  constexpr std::uint32_t kOk = 200, kBehindOk = 300;
  using Kind = Outcome::Kind;
  const bool is_ok = answer.status >= kOk && answer.status < kBehindOk;
  const bool is_2 = protocol == Protocol::kRemoteWrite;
  if (is_2 && (answer.status == kUnsupportedMediaType || (is_ok && !answer.has_written_counts))) {
    return {Kind::kRefused, 0, "it does not know remote write 2.0", {}, true};
  }
  if (is_ok) {
    if (protocol != Protocol::kOtlp) return {};
    otlp::PartialSuccess part = otlp::parse_answer(answer.body);
    return {Kind::kSent, part.rejected_points, std::move(part.message), {}, false};
  }
  if (is_again(protocol, answer.status)) {
    return {Kind::kAgain, 0, reason_of(answer), answer.retry_after, false};
  }
  return {Kind::kRefused, 0, reason_of(answer), {}, false};
}

std::chrono::milliseconds Backoff::next(std::optional<std::chrono::seconds> retry_after) noexcept {
  constexpr std::int64_t kFirstMs = 500, kMostMs = 30'000, kSpread = 5;
  constexpr unsigned kDoublings = 6;
  constexpr std::chrono::seconds kWishMax{600};
  const std::int64_t base = std::min(kFirstMs << std::min(tries_, kDoublings), kMostMs);
  ++tries_;
  std::uniform_int_distribution<std::int64_t> spread(base - base / kSpread, base + base / kSpread);
  const std::chrono::milliseconds waits(spread(random_));
  return retry_after ? std::max<std::chrono::milliseconds>(waits, std::min(*retry_after, kWishMax))
                     : waits;
}

}  // namespace meterbank::push
