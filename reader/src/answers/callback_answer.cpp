// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/callback_answer.hpp"

#include <array>
#include <cstdio>

namespace meterbank {
namespace {

std::string_view reason_of(ChannelRefusal refusal) noexcept {
  switch (refusal) {
    case ChannelRefusal::kMalformed:
      return "the provider could not read the request";
    case ChannelRefusal::kUnknownType:
      return "the provider does not know this kind of request";
    case ChannelRefusal::kVersion:
      return "the provider speaks another version of the channel";
    case ChannelRefusal::kNoRegistration:
      return "the registration is another by now";
    case ChannelRefusal::kNoCallback:
      return "the registration has no callback";
    case ChannelRefusal::kClosing:
      return "the registration is being closed";
    case ChannelRefusal::kRate:
      return "this user asks too often";
  }
  return "the provider refused";
}

std::string seconds(std::uint64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g s", static_cast<double>(nanoseconds) / 1e9);
  return text.data();
}

}  // namespace

std::string_view name_of(AnswerOutcome outcome) noexcept {
  switch (outcome) {
    case AnswerOutcome::kAnswered:
      return "answered";
    case AnswerOutcome::kReturnedCode:
      return "returned-code";
    case AnswerOutcome::kThrew:
      return "threw";
    case AnswerOutcome::kCancelled:
      return "cancelled";
    case AnswerOutcome::kNoMemory:
      return "no-memory";
    case AnswerOutcome::kIncomplete:
      return "incomplete";
    case AnswerOutcome::kTimeout:
      return "timeout";
    case AnswerOutcome::kBusy:
      return "overloaded";
    case AnswerOutcome::kGone:
      return "gone";
    case AnswerOutcome::kRefused:
      return "refused";
    case AnswerOutcome::kMalformed:
      return "malformed";
    case AnswerOutcome::kDenied:
      return "denied";
    case AnswerOutcome::kReentrant:
      return "reentrant";
  }
  return "unknown";
}

std::string CallbackAnswer::reason() const {
  switch (outcome) {
    case AnswerOutcome::kAnswered:
      return "answered";
    case AnswerOutcome::kReturnedCode:
      return "the callback returned " + std::to_string(code);
    case AnswerOutcome::kThrew:
      return text.empty() ? "the callback threw" : "the callback threw: " + text;
    case AnswerOutcome::kCancelled:
      return "the callback was cancelled";
    case AnswerOutcome::kNoMemory:
      return "the provider had no memory for the answer";
    case AnswerOutcome::kIncomplete:
      return "more rows than an answer can hold";
    case AnswerOutcome::kTimeout:
      return "no answer within " + seconds(timeout_ns);
    case AnswerOutcome::kBusy:
      return "too many readers were asking for " + seconds(timeout_ns);
    case AnswerOutcome::kGone:
      return "the provider is gone, or no process listens at its socket";
    case AnswerOutcome::kRefused:
      return std::string(reason_of(refusal));
    case AnswerOutcome::kMalformed:
      return "the answer was malformed";
    case AnswerOutcome::kDenied:
      return "no permission to ask, or another user listens in the provider's place";
    case AnswerOutcome::kReentrant:
      return "asked from inside a callback of this process";
  }
  return "unknown";
}

}  // namespace meterbank
