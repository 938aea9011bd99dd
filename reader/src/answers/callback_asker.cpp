// SPDX-License-Identifier: Apache-2.0
//
// Which registrations are touched, and which providers are told about it. Asking is in ask.cpp.
#include "callback_asker.hpp"

#include <algorithm>
#include <utility>

namespace meterbank {
namespace {

bool is_same_registration(const TouchedSet& left, const TouchedSet& right) noexcept {
  return left.set->registration == right.set->registration &&
         left.set->generation == right.set->generation && left.set->set == right.set->set &&
         left.provider->segment_id == right.provider->segment_id;
}

}  // namespace

CallbackAsker::CallbackAsker() = default;
CallbackAsker::~CallbackAsker() = default;

std::list<CallbackAsker::Entry>::iterator CallbackAsker::find(const TouchedSet& touched) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return is_same_registration(entry.touched, touched);
  });
}

AnsweredSets::Rows CallbackAsker::rows_of(const std::shared_ptr<const ProviderView>& provider,
                                          const RegisteredSet& set) {
  const auto entry = find({provider, &set, {}});
  if (entry == entries_.end() || entry->rows == nullptr) return {};
  return {entry->rows->view(provider, set), entry->rows->status()};
}

void CallbackAsker::adapt(std::vector<TouchedSet> touched) {
  for (Entry& entry : entries_) entry.is_touched = false;
  for (TouchedSet& each : touched) {
    auto entry = find(each);
    if (entry == entries_.end()) {
      Entry fresh;
      const auto channel = channels_.try_emplace(each.provider->segment_id, each.provider->socket,
                                                 each.provider->uid);
      fresh.channel = &channel.first->second;
      if (has_callback(*each.set)) fresh.rows = std::make_unique<AnsweredRows>(*each.set);
      entries_.push_back(std::move(fresh));
      entry = std::prev(entries_.end());
    }
    entries_.splice(entries_.end(), entries_, entry);
    entry->touched = std::move(each);
    entry->is_touched = true;
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!entry->is_touched) forget(*entry);
    entry = entry->is_touched ? std::next(entry) : entries_.erase(entry);
  }
  std::erase_if(channels_, [this](const auto& channel) {
    return std::none_of(entries_.begin(), entries_.end(), [&channel](const Entry& entry) {
      return entry.channel == &channel.second;
    });
  });
  catch_up();
}

void CallbackAsker::forget(Entry& entry) {
  if (entry.told) static_cast<void>(tell(entry, MessageType::kRemoveInterest));
  if (entry.under_way != 0 && entry.channel->is_open()) {
    ChannelRequest cancel;
    cancel.type = MessageType::kCancel;
    cancel.id = entry.under_way;
    static_cast<void>(entry.channel->send(cancel));
  }
  std::erase_if(sent_, [&entry](const auto& sent) { return sent.second.entry == &entry; });
}

void CallbackAsker::catch_up() {
  if (!sent_.empty()) receive_all();
  for (Entry& entry : entries_) tell_interest(entry);
}

bool CallbackAsker::may_be_asked(const Entry& entry) noexcept {
  return is_alive(entry.touched.provider->state);
}

// One interest a connection and registration: another mask takes the place of the one before.
void CallbackAsker::tell_interest(Entry& entry) {
  if (!may_be_asked(entry) || entry.told == entry.touched.asked.counter_mask) return;
  // A callback that asks its own process would be counted by itself; that is harmless.
  if (entry.channel->connect()) return;  // there is a next time
  if (entry.told && !tell(entry, MessageType::kRemoveInterest)) return;
  entry.told.reset();
  entry.told_code = 0;
  if (tell(entry, MessageType::kAddInterest)) entry.told = entry.touched.asked.counter_mask;
}

bool CallbackAsker::tell(Entry& entry, MessageType type) {
  ChannelRequest request;
  request.type = type;
  request.id = ++last_id_;
  request.registration = entry.touched.set->registration;
  request.generation = entry.touched.set->generation;
  request.counter_mask = entry.touched.asked.counter_mask;
  request.instance_id = entry.touched.asked.instance_id;
  request.pattern = entry.touched.asked.pattern;
  request.collect_many = entry.touched.asked.collect_many;
  sent_.insert_or_assign(request.id, Sent{&entry, type});
  switch (entry.channel->is_open() ? entry.channel->send(request) : PacketSocket::Sent::kFull) {
    case PacketSocket::Sent::kAll:
      return true;
    case PacketSocket::Sent::kFull:
      break;
    case PacketSocket::Sent::kEnd:
      end(*entry.channel, AnswerOutcome::kGone);
      break;
  }
  sent_.erase(request.id);
  return false;
}

bool CallbackAsker::take_interest_answer(Entry& entry, MessageType asked,
                                         const ChannelAnswer& answer) {
  if (asked == MessageType::kAddInterest) {
    entry.told_code = answer.outcome == CallbackOutcome::kFailed ? answer.code : 0;
  }
  // A provider that has no room now is told again at the next occasion; one that refuses is not.
  if (answer.type == MessageType::kBusy) entry.told.reset();
  return answer.type != MessageType::kRows;
}

bool CallbackAsker::asks() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.rows != nullptr && may_be_asked(entry);
  });
}

}  // namespace meterbank
