// SPDX-License-Identifier: Apache-2.0
//
// Sends snapshots to one receiver, one each interval.
//
//   every interval             queue, bounded              one after the other
//   +--------------------+     +---+---+---+     +----------------------------------+
//   | ask for a snapshot |     | b | b | b |     | post; again later, if the        |
//   | encode, compress   |---->|   |   |   |---->| receiver is away or asks for it  |
//   +--------------------+     +---+---+---+     +----------------------------------+
//
// Each of the two has a thread, so that a receiver that is away delays no snapshot. A batch that
// was refused is not sent again. While the receiver is away the queue drops its oldest batches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "meterbank/base/result.hpp"
#include "push/batch/batch.hpp"
#include "push/batch/compression.hpp"
#include "push/delivery/http_post.hpp"
#include "push/delivery/outcome.hpp"
#include "push/delivery/receiver.hpp"
#include "push/delivery/send_queue.hpp"

namespace meterbank::push {

// What happens, for who counts it. Called by the pusher's threads; must not throw or wait.
class PushEvents {
 public:
  virtual ~PushEvents() = default;
  virtual void encoded(std::uint64_t duration_ns) noexcept = 0;
  virtual void sent(std::uint64_t points, std::uint64_t bytes) noexcept = 0;
  virtual void refused(std::uint64_t points) noexcept = 0;      // by the receiver
  virtual void dropped(std::uint64_t points) noexcept = 0;      // by the queue, or without memory
  virtual void tried_in_vain() noexcept = 0;                    // the batch will be sent again
  virtual void left_out(std::uint64_t snapshots) noexcept = 0;  // they would have come too late
  virtual void queued(std::uint64_t batches, std::uint64_t bytes) noexcept = 0;
};

class Pusher {
 public:
  using Ready = std::function<void(std::shared_ptr<const exposition::Snapshot>)>;
  using Ask = std::function<void(Ready)>;
  // Takes one line without its end; at most one a minute while a receiver fails.
  using Report = std::function<void(const std::string&)>;

  // Errors: kInvalidArgument, kNoSpace. The first snapshot is sent at once. `events` must outlive
  // the pusher; a Ready may be called after its end.
  static Result<std::unique_ptr<Pusher>> start(ReceiverOptions options, Ask ask, PushEvents& events,
                                               Report report);
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  // No snapshot is sent any more. What waits is sent as far as that is done within `time`; the
  // rest is dropped. Returns at once; the destructor waits. Idempotent.
  void begin_stop(std::chrono::milliseconds time = std::chrono::milliseconds(800));

 private:
  // Where a snapshot arrives. It outlives the pusher if the snapshot comes too late.
  struct Mailbox;

  Pusher(ReceiverOptions options, Ask ask, PushEvents& events, Report report, HttpPost post);
  void take_snapshots();
  [[nodiscard]] std::shared_ptr<const exposition::Snapshot> next_snapshot();
  void encode(const exposition::Snapshot& snapshot);
  void enqueue(Batch batch);
  void send_batches();
  void send(const Batch& batch);
  [[nodiscard]] Outcome try_once(const Batch& batch);
  void use_older_protocol();
  void report_failure(std::string_view what, const Outcome& outcome);
  // False: the pusher is ending.
  [[nodiscard]] bool sleep_until(std::chrono::steady_clock::time_point until);

  const ReceiverOptions options_;
  const Ask ask_;
  PushEvents& events_;
  const Report report_;
  const std::shared_ptr<Mailbox> mailbox_;
  SendQueue queue_;
  // The sender's thread, but for abort().
  HttpPost post_;
  Backoff backoff_;
  bool is_failing_ = false;
  std::chrono::steady_clock::time_point next_report_;
  // The protocol that the receiver knows, and how to encode for it; of the thread of snapshots.
  std::unique_ptr<SnapshotEncoder> encoder_;
  Protocol encoder_protocol_;
  Compressor compressor_;  // of the thread of snapshots

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;   // both threads
  bool has_sent_all_ = false;  // the sender has ended
  Protocol protocol_;          // what the receiver knows
  // When the sender gives up; set together with is_stopping_.
  std::chrono::steady_clock::time_point deadline_;
  std::thread snapshots_, sender_;
};

[[nodiscard]] std::unique_ptr<SnapshotEncoder> make_encoder(const ReceiverOptions& options,
                                                            Protocol protocol);

}  // namespace meterbank::push
