// SPDX-License-Identifier: Apache-2.0
//
// One registration as its callers meet it: how many calls are under way, whether it takes more, who
// is interested.
//
// Rules
//   1. At most kOutstandingRequestsMax calls for rows at a time; the next is told to come again.
//   2. Told of interest in order, one at a time, each addition with one removal. What came and went
//      before it could be told is not told.
//   3. No lock is held while the callback runs.
//   4. close() refuses new calls, cancels those that run and waits for them. From inside a call it
//      cannot wait: then the last call to return ends what close() began.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "interest_counts.hpp"
#include "meterbank/publisher/callback.hpp"
#include "running_call.hpp"

namespace meterbank::detail {

class Callable {
 public:
  Callable(Callback function, CallbackOptions options, std::shared_ptr<InterestCounts> counts,
           bool has_names)
      : function_(std::move(function)),
        options_(options),
        counts_(std::move(counts)),
        has_names_(has_names) {}

  [[nodiscard]] bool computes_rows() const noexcept { return function_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<InterestCounts>& counts() const noexcept { return counts_; }

  enum class Admission : std::uint8_t { kYes, kBusy, kClosing };
  // A call for rows, made ready. Nothing unless kYes; then run() or give_up() follows.
  // `outstanding_max`: what this caller may see under way, itself included.
  Admission begin(ChannelRequest request, std::uint32_t outstanding_max,
                  std::shared_ptr<RunningCall>& call);
  // Runs it, on this thread. `answer` is called when the call no longer counts as outstanding.
  void run(const std::shared_ptr<RunningCall>& call,
           const std::function<void(const RunningCall&)>& answer) noexcept;
  void give_up(const std::shared_ptr<RunningCall>& call) noexcept;

  // Interest. `told` is called when the callback has been told, or at once where there is none.
  using Told = std::function<void(const RunningCall&)>;
  // Counted at once. False: it is closing.
  bool add_interest(ChannelRequest request, Told told);
  void remove_interest(ChannelRequest request, Told told);
  // A notification is pending and no thread is delivering it. Then any thread that may run
  // callbacks must call tell().
  [[nodiscard]] bool has_to_tell() const noexcept;
  void tell() noexcept;

  // From now on calls and interest are refused. close() follows.
  void refuse() noexcept;
  // `closed` is called once, with no lock held, when no call is under way: before this returns,
  // but from inside a call. Later calls wait as well and do nothing.
  void close(std::function<void()> closed) noexcept;

 private:
  struct Change {
    std::shared_ptr<RunningCall> call;
    Told told;
  };

  // kRefusing: readers may see that the registration closes, so no call is admitted any more.
  enum class Phase : std::uint8_t { kOpen, kRefusing, kClosing, kEnded };

  [[nodiscard]] std::shared_ptr<RunningCall> make_call(ChannelRequest request) const;
  void call(RunningCall& running) noexcept;
  void left_locked(std::unique_lock<std::mutex>& lock) noexcept;
  [[nodiscard]] std::size_t calls_of_this_thread() const noexcept;

  const Callback function_;
  const CallbackOptions options_;
  const std::shared_ptr<InterestCounts> counts_;
  const bool has_names_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::shared_ptr<RunningCall>> calls_;  // for rows
  std::deque<Change> untold_;
  bool telling_ = false;
  std::shared_ptr<RunningCall> told_now_;
  std::size_t inside_ = 0;  // calls under way, of both sorts
  Phase phase_ = Phase::kOpen;
  std::function<void()> closed_;
  std::mutex serial_;  // held during a call where only one may run
};

}  // namespace meterbank::detail
