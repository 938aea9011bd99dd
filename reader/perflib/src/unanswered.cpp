// SPDX-License-Identifier: Apache-2.0
#include "unanswered.hpp"

namespace meterbank {
namespace {

PerfError error_of(const CallbackAnswer& answer) noexcept {
  switch (answer.outcome) {
    case AnswerOutcome::kTimeout:
      return PerfError::kTimeout;
    case AnswerOutcome::kBusy:
      return PerfError::kBusy;
    case AnswerOutcome::kDenied:
      return PerfError::kAccessDenied;
    case AnswerOutcome::kReentrant:
      return PerfError::kPossibleDeadlock;
    case AnswerOutcome::kRefused:
      return answer.refusal == ChannelRefusal::kRate ? PerfError::kBusy
                                                     : PerfError::kInstanceNotFound;
    case AnswerOutcome::kGone:
      return PerfError::kInstanceNotFound;
    default:
      return PerfError::kContradictsRegistration;
  }
}

}  // namespace

PerfError error_of_unanswered(const std::vector<CallbackAnswer>* answers, const Guid& set,
                              bool trusted_only) noexcept {
  if (answers == nullptr) return PerfError::kSuccess;
  for (const CallbackAnswer& answer : *answers) {
    if (trusted_only && !answer.provider->trusted) continue;
    if (answer.set->set->guid == set && !has_rows(answer.outcome)) return error_of(answer);
  }
  return PerfError::kSuccess;
}

}  // namespace meterbank
