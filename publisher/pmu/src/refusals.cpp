// SPDX-License-Identifier: Apache-2.0
#include "refusals.hpp"

#include <utility>

namespace meterbank::pmu {

std::string Refusal::message() const {
  if (error) return error->message();
  if (!sentence.empty()) return sentence;
  return std::string(name_of(answer)) + ": " + std::string(name_of(reason));
}

Refusal refusal_of(const Refused& refused) {
  Refusal refusal;
  refusal.answer = refused.head.answer;
  refusal.reason = refused.head.reason;
  if (refused.head.item != RefusedHead::kNoItem) refusal.item = refused.head.item;
  if (refused.head.cpu != kNoCpu) refusal.cpu = refused.head.cpu;
  refusal.earliest_ns = refused.head.earliest_ns;
  refusal.ahead = refused.head.ahead;
  refusal.blockers = refused.blockers;
  refusal.blockers_left_out = refused.head.blockers_left_out;
  refusal.sentence = refused.sentence;
  return refusal;
}

namespace detail {

Error error_of(const Rejected& rejected) {
  Error error{ErrorCode::kInvalidArgument, 0,
              "the arbiter threw the message out: " + std::string(name_of(rejected.reason)), ""};
  if (rejected.reason == Rejection::kNotAllowed) error.code = ErrorCode::kDenied;
  if (rejected.reason == Rejection::kRate || rejected.reason == Rejection::kTooMany) {
    error.code = ErrorCode::kLimit;
  }
  return error;
}

tl::unexpected<Refusal> not_decided(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return tl::make_unexpected(std::move(refusal));
}

}  // namespace detail
}  // namespace meterbank::pmu
