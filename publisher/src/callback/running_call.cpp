// SPDX-License-Identifier: Apache-2.0
#include "running_call.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "interest_counts.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace detail {
namespace {

// A reader that names no deadline gets the one of collections on Windows; none may be longer.
constexpr std::chrono::nanoseconds kDefaultTimeout = std::chrono::seconds(5);
constexpr std::chrono::nanoseconds kLongestTimeout = std::chrono::minutes(1);

std::chrono::nanoseconds timeout_of(const ChannelRequest& request) noexcept {
  if (request.timeout_ns == 0) return kDefaultTimeout;
  const auto max = static_cast<std::uint64_t>(kLongestTimeout.count());
  return std::chrono::nanoseconds(std::min(request.timeout_ns, max));
}

}  // namespace

RunningCall::RunningCall(ChannelRequest request, std::uint32_t counters, bool has_names)
    : request_(std::move(request)),
      counters_(counters),
      has_names_(has_names),
      deadline_(std::chrono::steady_clock::now() + timeout_of(request_)) {}

void RunningCall::run(const Callback& function) noexcept {
  const InsideCallback inside;
  CallbackRequest face(*this);
  try {
    try {
      code_ = function(face);
      if (code_ != 0) {
        outcome_ = CallbackOutcome::kFailed;
      } else if (is_cancelled()) {
        outcome_ = CallbackOutcome::kCancelled;  // it may have left rows out
      }
    } catch (const std::exception& thrown) {
      outcome_ = CallbackOutcome::kThrew;
      text_ = thrown.what();
      if (!is_valid_utf8(text_)) text_ = "an exception whose text is not UTF-8";
    } catch (...) {
      outcome_ = CallbackOutcome::kThrew;
      text_ = "an exception that is not a std::exception";
    }
  } catch (const std::bad_alloc&) {
    text_.clear();
  }
  if (outcome_ == CallbackOutcome::kFinished && incomplete_) outcome_ = CallbackOutcome::kNoMemory;
  finished_ns_ = clock_ns(CLOCK_MONOTONIC);
}

CallbackRequest::Added RunningCall::add(std::string_view name, std::uint32_t id,
                                        std::span<const std::uint64_t> values) noexcept {
  using Added = CallbackRequest::Added;
  const bool enumerates = request_.type == MessageType::kEnumerate;
  if (!enumerates && request_.type != MessageType::kCollect) return Added::kWrongReason;
  if (!enumerates && values.size() != counters_) return Added::kNoValues;
  if (id > kInstanceIdMax) return Added::kReservedId;
  if (has_names_ ? !check_name(name, NameKind::kInstance).ok() : !name.empty()) {
    return Added::kBadName;
  }
  if (!request_.collect_many && rows_.rows() != 0) return Added::kDropped;
  if (enumerates) values = {};
  const std::size_t bytes_before = rows_.bytes().size();
  if (bytes_before + sizeof(RowHead) + values.size_bytes() + name.size() > kAnswerBytesMax - 8) {
    incomplete_ = true;
    return Added::kNoMemory;
  }
  try {
    rows_.add(id, name, values);
  } catch (const std::bad_alloc&) {
    incomplete_ = true;
    return Added::kNoMemory;
  }
  if (rows_.bytes().size() <= kRowsInPacketMax) {
    packet_rows_ = rows_.rows();
    packet_bytes_ = rows_.bytes().size();
  }
  return Added::kYes;
}

ChannelAnswer RunningCall::answer() const noexcept {
  ChannelAnswer answer;
  const bool has_rows =
      request_.type == MessageType::kCollect || request_.type == MessageType::kEnumerate;
  answer.type = has_rows ? MessageType::kRows : MessageType::kDone;
  answer.id = request_.id;
  answer.outcome = outcome_;
  answer.code = code_;
  answer.rows = rows_.rows();
  answer.flags = incomplete_ ? kRowsIncomplete : 0;
  answer.rows_bytes = rows_.bytes().size();
  answer.finished_ns = finished_ns_;
  answer.text = text_;
  answer.bytes = rows_.bytes();
  return answer;
}

ChannelAnswer RunningCall::answer_cut_to_a_packet() const noexcept {
  ChannelAnswer answer = this->answer();
  if (answer.outcome == CallbackOutcome::kFinished) answer.outcome = CallbackOutcome::kNoMemory;
  answer.flags |= kRowsIncomplete;
  answer.rows = packet_rows_;
  answer.rows_bytes = packet_bytes_;
  answer.bytes = answer.bytes.first(packet_bytes_);
  return answer;
}

}  // namespace detail

CallbackReason CallbackRequest::reason() const noexcept {
  switch (call_->request().type) {
    case MessageType::kAddInterest:
      return CallbackReason::kAddInterest;
    case MessageType::kRemoveInterest:
      return CallbackReason::kRemoveInterest;
    case MessageType::kEnumerate:
      return CallbackReason::kEnumerate;
    default:
      return CallbackReason::kCollect;
  }
}

bool CallbackRequest::wants(std::uint32_t counter_id) const noexcept {
  return detail::is_in_mask(call_->request().counter_mask, counter_id);
}

std::span<const std::uint64_t> CallbackRequest::counter_mask() const noexcept {
  return call_->request().counter_mask;
}

std::uint32_t CallbackRequest::instance_id() const noexcept { return call_->request().instance_id; }

std::string_view CallbackRequest::instance_mask() const noexcept {
  const std::string& pattern = call_->request().pattern;
  return pattern.empty() ? std::string_view("*") : std::string_view(pattern);
}

bool CallbackRequest::collects_many() const noexcept { return call_->request().collect_many; }

bool CallbackRequest::is_cancelled() const noexcept { return call_->is_cancelled(); }

const std::atomic<std::uint32_t>& CallbackRequest::cancelled() const noexcept {
  return call_->cancelled();
}

std::chrono::steady_clock::time_point CallbackRequest::deadline() const noexcept {
  return call_->deadline();
}

CallbackRequest::Added CallbackRequest::add(std::string_view name, std::uint32_t id,
                                            std::span<const std::uint64_t> values) noexcept {
  return call_->add(name, id, values);
}

}  // namespace meterbank
