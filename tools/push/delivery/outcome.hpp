// SPDX-License-Identifier: Apache-2.0
//
// What an answer means for the batch that was sent.
//
//   answer                       OTLP                      remote write
//   2xx                          sent; the body may say    sent; 2.0: refused without the counts of
//                                that points were refused  what was written (an older receiver)
//   429                          again                     again
//   5xx                          again: 502, 503, 504      again
//   none, or broken off          again                     again
//   anything else                refused                   refused; 2.0: 415 is an older receiver
//
// Sources: OTLP specification 1.x, "Failures"; Remote-Write 2.0, "Retries & Backoff".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "push/delivery/http_post.hpp"
#include "push/delivery/receiver.hpp"

namespace meterbank::push {

struct Outcome {
  enum class Kind : std::uint8_t { kSent, kAgain, kRefused };
  Kind kind = Kind::kSent;
  std::uint64_t refused_points = 0;  // kSent: of a part of the batch
  std::string reason;                // why not, in words
  std::optional<std::chrono::seconds> retry_after;
  bool is_older_receiver = false;  // kRefused: it knows remote write 1.0 only
};

[[nodiscard]] Outcome judge(Protocol protocol, const HttpAnswer& answer);

// How long to wait before the next try of a batch: half a second, then twice as long each time, up
// to 30 s; one fifth more or less, so that agents do not come all at once. Longer if the receiver
// wants it, up to ten minutes.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::chrono::milliseconds next(
      std::optional<std::chrono::seconds> retry_after) noexcept;
  void reset() noexcept { tries_ = 0; }

 private:
  std::mt19937_64 random_;
  unsigned tries_ = 0;
};

}  // namespace meterbank::push
