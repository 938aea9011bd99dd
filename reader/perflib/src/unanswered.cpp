// SPDX-License-Identifier: Apache-2.0
#include "unanswered.hpp"

namespace meterbank {
namespace {

// The status for a callback that ran and added no rows.
PerfError error_of_empty(const CallbackAnswer& answer) noexcept {
  if (is_for_consumers(answer.interest_code)) return PerfError{answer.interest_code};
  switch (answer.outcome) {
    case AnswerOutcome::kReturnedCode:
      return is_for_consumers(answer.code) ? PerfError{answer.code} : PerfError::kSuccess;
    case AnswerOutcome::kThrew:
      return PerfError::kInternalError;
    case AnswerOutcome::kNoMemory:
      return PerfError::kOutOfMemory;
    case AnswerOutcome::kCancelled:
      return PerfError::kTimeout;
    default:
      return PerfError::kSuccess;
  }
}

PerfError error_of(const CallbackAnswer& answer) noexcept {
  if (has_rows(answer.outcome)) {
    return answer.rows == 0 ? error_of_empty(answer) : PerfError::kSuccess;
  }
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

bool is_for_consumers(std::uint32_t code) noexcept {
  constexpr std::uint32_t kFirstOfStatuses = 0x4000'0000;
  return code != 0 && code < kFirstOfStatuses;
}

PerfError error_of_unanswered(const std::vector<CallbackAnswer>* answers, const Guid& set,
                              bool trusted_only) noexcept {
  if (answers == nullptr) return PerfError::kSuccess;
  for (const CallbackAnswer& answer : *answers) {
    if (trusted_only && !answer.provider->trusted) continue;
    if (answer.set->set->guid != set) continue;
    const PerfError error = error_of(answer);
    if (error != PerfError::kSuccess) return error;
  }
  return PerfError::kSuccess;
}

}  // namespace meterbank
