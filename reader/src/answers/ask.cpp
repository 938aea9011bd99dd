// SPDX-License-Identifier: Apache-2.0
//
// One call of CallbackAsker::ask() or hear_interest().
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "callback_asker.hpp"
#include "meterbank/base/clock.hpp"
#include "read_rows.hpp"

namespace meterbank {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::uint64_t kFirstPauseNs = 500'000;
constexpr std::uint64_t kLongestPauseNs = 20'000'000;
constexpr std::uint64_t kTimeoutMaxNs = 86'400 * kNanosecondsPerSecond;
// Of one connection, before the clock and the others have their turn.
constexpr int kPacketsInARow = 16;
constexpr std::uint64_t kShareOfTheLate = 10;

std::uint64_t monotonic_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

AnswerOutcome outcome_of(const ChannelAnswer& answer, bool is_cut) noexcept {
  switch (answer.outcome) {
    case CallbackOutcome::kFailed:
      return AnswerOutcome::kReturnedCode;
    case CallbackOutcome::kThrew:
      return AnswerOutcome::kThrew;
    case CallbackOutcome::kCancelled:
      return AnswerOutcome::kCancelled;
    case CallbackOutcome::kNoMemory:
      return AnswerOutcome::kNoMemory;
    case CallbackOutcome::kFinished:
      break;
  }
  const bool is_whole = (answer.flags & kRowsIncomplete) == 0 && !is_cut;
  return is_whole ? AnswerOutcome::kAnswered : AnswerOutcome::kIncomplete;
}

bool is_of_this_process(const ProviderView& provider) noexcept {
  return provider.named_pid() == static_cast<std::uint32_t>(::getpid());
}

RowStatus status_of(AnswerOutcome outcome) noexcept {
  if (has_rows(outcome)) return RowStatus::kFresh;
  if (outcome == AnswerOutcome::kTimeout) return RowStatus::kTimeout;
  return outcome == AnswerOutcome::kBusy ? RowStatus::kOverloaded : RowStatus::kUnanswered;
}

}  // namespace

void CallbackAsker::ask(MessageType type, std::chrono::nanoseconds timeout) {
  const auto asked_ns = timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count()) : 0;
  type_ = type;
  timeout_ns_ = std::min(asked_ns, kTimeoutMaxNs);
  asked_ns_ = monotonic_ns();
  deadline_ns_ = asked_ns_ + timeout_ns_;
  catch_up();
  for (Entry& entry : entries_) {
    if (entry.rows != nullptr && may_be_asked(entry)) start(entry);
  }
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    send_due(now);
    if (is_finished(now)) break;
    wait(now);
    receive_all();
  }
  if (!is_finished(0)) receive_all();  // what came at the last moment came in time
  give_up();
  publish();
}

void CallbackAsker::start(Entry& entry) {
  entry.is_abandoned = entry.under_way != 0;
  entry.answer = {};
  entry.answer.provider = entry.touched.provider;
  entry.answer.set = entry.touched.set;
  entry.answer.timeout_ns = timeout_ns_;
  entry.phase = Phase::kToSend;
  entry.next_try_ns = 0;
  entry.pause_ns = kFirstPauseNs;
  entry.was_busy = false;
  if (is_inside_callback() && is_of_this_process(*entry.touched.provider)) {
    settle(entry, AnswerOutcome::kReentrant);
  }
}

std::vector<InterestAnswer> CallbackAsker::hear_interest(std::chrono::nanoseconds timeout) {
  const auto limit_ns = timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count()) : 0;
  const std::uint64_t deadline_ns = monotonic_ns() + std::min(limit_ns, kTimeoutMaxNs);
  const auto is_waited_for = [this](const auto& sent) {
    return is_worth_hearing(sent.first, sent.second);
  };
  while (std::any_of(sent_.begin(), sent_.end(), is_waited_for)) {
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline_ns) break;
    poll_channels(deadline_ns - now);
    receive_all();
  }
  heard_id_ = last_id_;
  std::vector<InterestAnswer> answers;
  for (const Entry& entry : entries_) {
    if (!entry.told) continue;
    answers.push_back({entry.touched.provider, entry.touched.set, entry.told_code});
  }
  return answers;
}

// A callback that asks its own process could wait for itself.
bool CallbackAsker::is_worth_hearing(std::uint64_t id, const Sent& sent) const noexcept {
  if (sent.type != MessageType::kAddInterest || id <= heard_id_) return false;
  return !is_inside_callback() || !is_of_this_process(*sent.entry->touched.provider);
}

void CallbackAsker::send_due(std::uint64_t now_ns) {
  for (Entry& entry : entries_) {
    const bool is_due = entry.phase == Phase::kToSend && entry.next_try_ns <= now_ns;
    if (is_due && entry.under_way == 0) try_send(entry, now_ns);
  }
}

void CallbackAsker::try_send(Entry& entry, std::uint64_t now_ns) {
  if (const auto failed = entry.channel->connect()) {
    if (*failed != AnswerOutcome::kBusy) return settle(entry, *failed);
    return try_later(entry, now_ns, true);
  }
  tell_interest(entry);
  ChannelRequest request;
  request.type = type_;
  request.id = ++last_id_;
  request.registration = entry.touched.set->registration;
  request.generation = entry.touched.set->generation;
  request.timeout_ns = std::max<std::uint64_t>(1, deadline_ns_ - std::min(now_ns, deadline_ns_));
  request.counter_mask = entry.touched.asked.counter_mask;
  request.instance_id = entry.touched.asked.instance_id;
  request.pattern = entry.touched.asked.pattern;
  request.collect_many = entry.touched.asked.collect_many;
  sent_.insert_or_assign(request.id, Sent{&entry, type_});
  entry.under_way = request.id;
  entry.is_abandoned = false;
  entry.phase = Phase::kWaiting;
  entry.sent_ns = now_ns;
  const auto sent =
      entry.channel->is_open() ? entry.channel->send(request) : PacketSocket::Sent::kEnd;
  if (sent == PacketSocket::Sent::kEnd) return end(*entry.channel, AnswerOutcome::kGone);
  if (sent == PacketSocket::Sent::kAll) return;
  sent_.erase(request.id);
  entry.under_way = 0;
  entry.phase = Phase::kToSend;
  try_later(entry, now_ns, false);
}

void CallbackAsker::try_later(Entry& entry, std::uint64_t now_ns, bool busy) noexcept {
  entry.was_busy = busy;
  entry.next_try_ns = now_ns + entry.pause_ns;
  entry.pause_ns = std::min(2 * entry.pause_ns, kLongestPauseNs);
}

std::uint64_t CallbackAsker::deadline_of(const Entry& entry) const noexcept {
  return asked_ns_ + timeout_ns_ / entry.timeout_share;
}

bool CallbackAsker::is_finished(std::uint64_t now_ns) const noexcept {
  return std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.phase == Phase::kAnswered || now_ns >= deadline_of(entry);
  });
}

// Waits until a message arrives, an entry may be tried again, or the timeout expires.
void CallbackAsker::wait(std::uint64_t now_ns) {
  std::uint64_t until = now_ns;
  for (const Entry& entry : entries_) {
    if (entry.phase != Phase::kAnswered) until = std::max(until, deadline_of(entry));
  }
  for (const Entry& entry : entries_) {
    const bool is_paused = entry.phase == Phase::kToSend && entry.under_way == 0;
    if (is_paused) until = std::min(until, std::max(now_ns, entry.next_try_ns));
  }
  poll_channels(until - std::min(until, now_ns));
}

void CallbackAsker::poll_channels(std::uint64_t nanoseconds) {
  std::vector<pollfd> sockets;
  sockets.reserve(channels_.size());
  for (const auto& [key, channel] : channels_) {
    if (channel.is_open()) sockets.push_back({channel.descriptor(), POLLIN, 0});
  }
  const timespec limit{static_cast<time_t>(nanoseconds / kNanosecondsPerSecond),
                       static_cast<long>(nanoseconds % kNanosecondsPerSecond)};
  static_cast<void>(::ppoll(sockets.data(), sockets.size(), &limit, nullptr));
}

void CallbackAsker::receive_all() {
  for (auto& [key, channel] : channels_) receive_from(channel);
}

void CallbackAsker::receive_from(ProviderChannel& channel) {
  for (int count = 0; count < kPacketsInARow && channel.is_open(); ++count) {
    ChannelAnswer answer;
    UniqueFd attached;
    switch (channel.receive(packet_, answer, attached)) {
      case ProviderChannel::Got::kNothing:
        return;
      case ProviderChannel::Got::kEnd:
        return end(channel, AnswerOutcome::kGone);
      case ProviderChannel::Got::kMalformed:
        ++counts_.malformed;
        return end(channel, AnswerOutcome::kMalformed);
      case ProviderChannel::Got::kAnswer:
        take_answer(channel, answer, std::move(attached));
        // A query of nothing else need not find out that there is nothing else.
        if (sent_.empty()) return;
        break;
    }
  }
}

void CallbackAsker::take_answer(ProviderChannel& channel, const ChannelAnswer& answer,
                                UniqueFd attached) {
  const auto found = sent_.find(answer.id);
  // Never asked on this connection, or answered before.
  if (found == sent_.end() || found->second.entry->channel != &channel) {
    ++counts_.dropped;
    return;
  }
  Entry& entry = *found->second.entry;
  const MessageType asked = found->second.type;
  sent_.erase(found);
  const bool is_interest =
      asked == MessageType::kAddInterest || asked == MessageType::kRemoveInterest;
  const bool is_sound = is_interest ? take_interest_answer(entry, asked, answer)
                                    : take_ask_answer(entry, answer, std::move(attached));
  if (is_sound) return;
  ++counts_.malformed;
  if (!is_interest) settle(entry, AnswerOutcome::kMalformed);
  end(channel, AnswerOutcome::kGone);
}

bool CallbackAsker::take_ask_answer(Entry& entry, const ChannelAnswer& answer, UniqueFd attached) {
  entry.under_way = 0;
  if (std::exchange(entry.is_abandoned, false)) {
    ++counts_.dropped;
    entry.timeout_share = std::max<std::uint64_t>(1, entry.timeout_share / 2);
    return true;
  }
  switch (answer.type) {
    case MessageType::kRows:
      return take_rows(entry, answer, std::move(attached));
    case MessageType::kBusy:
      entry.phase = Phase::kToSend;
      try_later(entry, monotonic_ns(), true);
      return true;
    case MessageType::kRefused:
      entry.answer.refusal = answer.refusal;
      settle(entry, AnswerOutcome::kRefused);
      return true;
    default:
      return false;
  }
}

bool CallbackAsker::take_rows(Entry& entry, const ChannelAnswer& answer, UniqueFd attached) {
  std::span<const std::byte> bytes = answer.bytes;
  std::vector<std::uint64_t> copy;
  if ((answer.flags & kRowsInMemory) != 0) {
    auto copied = copy_of_memory(std::move(attached), answer.rows_bytes);
    if (!copied) return false;
    copy = *std::move(copied);
    bytes = std::as_bytes(std::span(copy));
  }
  const auto read =
      read_rows(bytes, answer.rows, type_, entry.touched.asked, *entry.touched.set->set);
  if (!read) return false;
  const std::uint64_t true_at =
      std::clamp(answer.finished_ns, entry.sent_ns, std::max(entry.sent_ns, monotonic_ns()));
  const std::uint64_t version = entry.rows->version();
  entry.answer.rows = entry.rows->take(read->rows, true_at);
  changes_ += entry.rows->version() - version;
  entry.answer.code = answer.outcome == CallbackOutcome::kFailed ? answer.code : 0;
  entry.answer.text = answer.text;
  entry.timeout_share = 1;
  settle(entry, outcome_of(answer, read->is_cut));
  return true;
}

// All that the connection carried ends with it: requests, and interest in what it was told.
void CallbackAsker::end(ProviderChannel& channel, AnswerOutcome why) {
  channel.close();
  for (Entry& entry : entries_) {
    if (entry.channel != &channel) continue;
    entry.told.reset();
    entry.told_code = 0;
    entry.under_way = 0;
    entry.is_abandoned = false;
    if (entry.phase == Phase::kWaiting) settle(entry, why);
  }
  std::erase_if(sent_,
                [&channel](const auto& sent) { return sent.second.entry->channel == &channel; });
}

void CallbackAsker::give_up() {
  for (Entry& entry : entries_) {
    if (entry.phase == Phase::kAnswered) continue;
    if (entry.phase == Phase::kWaiting) {
      ChannelRequest cancel;
      cancel.type = MessageType::kCancel;
      cancel.id = entry.under_way;
      entry.is_abandoned = true;
      // Where there is no room for it either, the provider's own limit has to do.
      static_cast<void>(entry.channel->send(cancel));
    }
    entry.timeout_share = kShareOfTheLate;
    settle(entry, entry.was_busy ? AnswerOutcome::kBusy : AnswerOutcome::kTimeout);
  }
}

void CallbackAsker::settle(Entry& entry, AnswerOutcome outcome) noexcept {
  entry.phase = Phase::kAnswered;
  entry.answer.outcome = outcome;
}

void CallbackAsker::publish() {
  auto answers = std::make_shared<std::vector<CallbackAnswer>>();
  std::size_t unanswered = 0;
  for (Entry& entry : entries_) {
    if (entry.rows == nullptr || !may_be_asked(entry)) continue;
    entry.rows->set_status(status_of(entry.answer.outcome));
    if (!has_rows(entry.answer.outcome)) ++unanswered;
    entry.answer.interest_code = entry.told_code;
    answers->push_back(entry.answer);
  }
  answers_ = std::move(answers);
  unanswered_ = unanswered;
}

}  // namespace meterbank
