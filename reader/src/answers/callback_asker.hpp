// SPDX-License-Identifier: Apache-2.0
//
// Asks the providers that a query touches, all at once, and keeps what they answered. One
// connection a provider; destroying the object closes them, which takes all interest back and
// cancels what runs.
//
// An entry, which is one registration, in one call of ask():
//
//            +-- kBusy, or no room ----+
//            v                         |
//   ask -> to send -> sent, waiting ---+--> rows, kRefused, end of the connection: answered
//            |             |
//            +-------------+-- deadline: kTimeout or kBusy; what was sent is cancelled and stays
//                              `abandoned` until its answer comes, which is dropped
//
// An entry that did not answer in time is waited for a tenth of the timeout by the next ask(), so
// that a provider that hangs delays a sequence of samples about once. Each answer that came late
// doubles that again, and one in time makes it whole.
//
// There is at most one request of an entry under way, so a provider that hangs holds one of the
// places of its registration and not one a call.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "../plan/build_plan.hpp"
#include "answered_rows.hpp"
#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/query.hpp"
#include "provider_channel.hpp"

namespace meterbank {

class CallbackAsker final : public AnsweredSets {
 public:
  CallbackAsker();
  CallbackAsker(const CallbackAsker&) = delete;
  CallbackAsker& operator=(const CallbackAsker&) = delete;
  ~CallbackAsker();

  // The registrations of the plan to come. Tells providers what became of the interest; waits for
  // no answer.
  void adapt(std::vector<TouchedSet> touched);
  // What adapt() could not say then is said, what came since is read. Does not wait.
  void catch_up();

  // What the providers return for the interest that they were told of. Waits for those that were
  // not waited for before, to the last answer or the end of the timeout.
  [[nodiscard]] std::vector<InterestAnswer> hear_interest(std::chrono::nanoseconds timeout);

  // kEnumerate or kCollect to all of them, to the last answer or the end of the timeout.
  void ask(MessageType type, std::chrono::nanoseconds timeout);

  [[nodiscard]] bool asks() const noexcept;
  // Rows came or went since take_change().
  [[nodiscard]] bool has_changed() const noexcept { return changes_ != changes_taken_; }
  void take_change() noexcept { changes_taken_ = changes_; }
  // Of the last ask(); null before.
  [[nodiscard]] const std::shared_ptr<const std::vector<CallbackAnswer>>& answers() const noexcept {
    return answers_;
  }
  [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }
  [[nodiscard]] const AskCounts& counts() const noexcept { return counts_; }

  // What was answered for a registration of the catalog.
  [[nodiscard]] Rows rows_of(const std::shared_ptr<const ProviderView>& provider,
                             const RegisteredSet& set) override;

 private:
  using ProviderKey = std::array<std::uint64_t, 2>;  // segment_id
  using Mask = std::vector<std::uint64_t>;

  enum class Phase : std::uint8_t { kAnswered, kToSend, kWaiting };
  struct Entry {
    TouchedSet touched;
    ProviderChannel* channel = nullptr;
    std::unique_ptr<AnsweredRows> rows;  // of a registration with a callback
    bool is_touched = true;
    std::optional<Mask> told;     // the interest that the provider knows of
    std::uint32_t told_code = 0;  // what its callback returned then
    std::uint64_t under_way = 0;  // id of the request without an answer, 0: none
    bool is_abandoned = false;    // it belongs to an ask() before
    Phase phase = Phase::kAnswered;
    CallbackAnswer answer;
    std::uint64_t sent_ns = 0;
    std::uint64_t next_try_ns = 0;
    std::uint64_t pause_ns = 0;
    bool was_busy = false;
    std::uint64_t timeout_share = 1;  // it is waited for this part of the timeout
  };
  struct Sent {
    Entry* entry = nullptr;
    MessageType type = MessageType::kCollect;
  };

  [[nodiscard]] std::list<Entry>::iterator find(const TouchedSet& touched);
  void tell_interest(Entry& entry);
  [[nodiscard]] bool tell(Entry& entry, MessageType type);
  void forget(Entry& entry);
  [[nodiscard]] static bool may_be_asked(const Entry& entry) noexcept;

  void start(Entry& entry);
  void send_due(std::uint64_t now_ns);
  void try_send(Entry& entry, std::uint64_t now_ns);
  void try_later(Entry& entry, std::uint64_t now_ns, bool busy) noexcept;
  [[nodiscard]] std::uint64_t deadline_of(const Entry& entry) const noexcept;
  // Each entry has answered, or is not waited for any longer.
  [[nodiscard]] bool is_finished(std::uint64_t now_ns) const noexcept;
  void wait(std::uint64_t now_ns);
  // Until a message arrives, but no longer than that.
  void poll_channels(std::uint64_t nanoseconds);
  [[nodiscard]] bool is_worth_hearing(std::uint64_t id, const Sent& sent) const noexcept;
  void receive_all();
  void receive_from(ProviderChannel& channel);
  void take_answer(ProviderChannel& channel, const ChannelAnswer& answer, UniqueFd attached);
  // False: the answer breaks a rule.
  [[nodiscard]] bool take_interest_answer(Entry& entry, MessageType asked,
                                          const ChannelAnswer& answer);
  [[nodiscard]] bool take_ask_answer(Entry& entry, const ChannelAnswer& answer, UniqueFd attached);
  [[nodiscard]] bool take_rows(Entry& entry, const ChannelAnswer& answer, UniqueFd attached);
  void end(ProviderChannel& channel, AnswerOutcome why);
  void give_up();
  void settle(Entry& entry, AnswerOutcome outcome) noexcept;
  void publish();

  std::map<ProviderKey, ProviderChannel> channels_;
  std::list<Entry> entries_;  // in the order of the catalog
  std::unordered_map<std::uint64_t, Sent> sent_;
  std::uint64_t last_id_ = 0;   // never used twice, whatever becomes of the connection
  std::uint64_t heard_id_ = 0;  // hear_interest() has waited for requests up to this one
  MessageType type_ = MessageType::kCollect;
  std::uint64_t timeout_ns_ = 0;
  std::uint64_t asked_ns_ = 0;  // when the last ask() began
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t changes_ = 0;  // sum of the versions of all rows
  std::uint64_t changes_taken_ = 0;
  std::size_t unanswered_ = 0;
  AskCounts counts_;
  PacketBuffer packet_;
  std::shared_ptr<const std::vector<CallbackAnswer>> answers_;
};

}  // namespace meterbank
