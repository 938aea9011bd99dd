// SPDX-License-Identifier: Apache-2.0
#include "agent/receivers/receivers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace meterbank::agent {

Receivers::Receivers(SnapshotService& snapshots, PushSet& counts, push::Pusher::Report report)
    : snapshots_(snapshots), counts_(counts), report_(std::move(report)) {}

Receivers::~Receivers() { stop(); }

Result<void> Receivers::use(const std::vector<push::ReceiverOptions>& receivers) {
  are_several_.store(receivers.size() > 1, std::memory_order_relaxed);
  std::vector<Receiver> old = std::exchange(receivers_, {});
  std::vector<const push::ReceiverOptions*> added;
  for (const push::ReceiverOptions& wanted : receivers) {
    const auto same = std::find_if(old.begin(), old.end(), [&wanted](const Receiver& receiver) {
      return receiver.options == wanted;
    });
    if (same == old.end()) {
      added.push_back(&wanted);
    } else {
      receivers_.push_back(std::move(*same));
      old.erase(same);
    }
  }
  for (const Receiver& receiver : old) receiver.pusher->begin_stop();
  old.clear();  // before a new one takes over a name
  Result<void> result;
  for (const push::ReceiverOptions* const options : added) {
    auto started = start(*options);
    if (started) {
      receivers_.push_back(std::move(*started));
    } else if (result) {
      result = tl::make_unexpected(started.error());
    }
  }
  return result;
}

Result<Receivers::Receiver> Receivers::start(const push::ReceiverOptions& options) {
  Receiver receiver{options, counts_.add(options.name), nullptr};
  auto pusher = push::Pusher::start(
      options,
      [this](push::Pusher::Ready ready) {
        // relaxed: a snapshot more, or half a millisecond of waiting for none, does no harm.
        const bool are_several = are_several_.load(std::memory_order_relaxed);
        snapshots_.ask(
            [ready = std::move(ready)](std::shared_ptr<const exposition::Snapshot> snapshot,
                                       std::size_t /*requests*/) { ready(std::move(snapshot)); },
            are_several ? Others::kLikely : Others::kNone);
      },
      *receiver.events, report_);
  if (!pusher) return tl::make_unexpected(pusher.error());
  receiver.pusher = std::move(*pusher);
  return receiver;
}

void Receivers::stop() {
  for (const Receiver& receiver : receivers_) receiver.pusher->begin_stop();
  receivers_.clear();
}

}  // namespace meterbank::agent
