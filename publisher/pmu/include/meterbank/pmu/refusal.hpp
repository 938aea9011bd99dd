// SPDX-License-Identifier: Apache-2.0
//
// Why a request was not served: which clients stand in the way, and until when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu {

struct Refusal {
  Answer answer = Answer::kInsufficientResources;
  Reason reason = Reason::kNone;
  std::optional<std::uint32_t> item;  // position in the request
  std::optional<std::uint32_t> cpu;   // the first one on which it failed
  std::uint64_t earliest_ns = 0;      // CLOCK_MONOTONIC; 0: not known
  std::uint32_t ahead = 0;            // waiters before it
  std::vector<Blocker> blockers;
  std::uint32_t blockers_left_out = 0;
  std::string sentence;  // of the arbiter, for people

  // Set if no arbiter decided: there is none (kGone), it did not answer, or it rejected the message
  // because that breaks a rule of the protocol. The fields above then have no meaning.
  std::optional<Error> error;

  // One line: the sentence or the error.
  [[nodiscard]] std::string message() const;
};

// What an arbiter's message of refusal says, for clients that speak the protocol themselves.
// Positions and CPUs that it leaves open are absent here; `error` is never set. The message has
// been checked by decode_arbiter_message(). Any thread; throws only where memory has run out.
[[nodiscard]] Refusal refusal_of(const Refused& refused);

template <typename T>
using Asked = tl::expected<T, Refusal>;

}  // namespace meterbank::pmu
