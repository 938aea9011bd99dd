// SPDX-License-Identifier: Apache-2.0
#include "push/delivery/pusher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "push/otlp/otlp_encoder.hpp"
#include "push/remote_write/remote_write_encoder.hpp"

namespace meterbank::push {
namespace {

using std::chrono::steady_clock;

}  // namespace

struct Pusher::Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::shared_ptr<const exposition::Snapshot> snapshot;
  bool has_answer = false, is_closed = false;
};

std::unique_ptr<SnapshotEncoder> make_encoder(const ReceiverOptions& options, Protocol protocol) {
  if (protocol == Protocol::kOtlp) return std::make_unique<otlp::OtlpEncoder>(options.labels);
  const auto version =
      protocol == Protocol::kRemoteWrite ? remote_write::Version::k2 : remote_write::Version::k1;
  return std::make_unique<remote_write::RemoteWriteEncoder>(version, options.labels);
}

Result<std::unique_ptr<Pusher>> Pusher::start(ReceiverOptions options, Ask ask, PushEvents& events,
                                              Report report) {
  auto post = HttpPost::open(options.url, headers_of(options, options.protocol), options.ca_file);
  if (!post) return tl::make_unexpected(post.error());
  std::unique_ptr<Pusher> pusher(
      new Pusher(std::move(options), std::move(ask), events, std::move(report), std::move(*post)));
  try {
    pusher->snapshots_ = std::thread([&pusher = *pusher] { pusher.take_snapshots(); });
    pusher->sender_ = std::thread([&pusher = *pusher] { pusher.send_batches(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kSystem, "start a thread", "a larger limit of tasks",
                error.code().value());
  }
  return pusher;
}

Pusher::Pusher(ReceiverOptions options, Ask ask, PushEvents& events, Report report, HttpPost post)
    : options_(std::move(options)),
      ask_(std::move(ask)),
      events_(events),
      report_(std::move(report)),
      mailbox_(std::make_shared<Mailbox>()),
      queue_(options_.queue_bytes),
      post_(std::move(post)),
      backoff_(clock_ns(CLOCK_MONOTONIC)),
      encoder_(make_encoder(options_, options_.protocol)),
      encoder_protocol_(options_.protocol),
      protocol_(options_.protocol) {}

void Pusher::begin_stop(std::chrono::milliseconds time) {
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->is_closed = true;
    mailbox_->arrived.notify_all();
  }
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return;
  is_stopping_ = true;
  deadline_ = steady_clock::now() + time;
  changed_.notify_all();
}

Pusher::~Pusher() {
  begin_stop();
  if (snapshots_.joinable()) snapshots_.join();
  queue_.close();
  if (!sender_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline_, [this] { return has_sent_all_; })) post_.abort();
  }
  sender_.join();
}

bool Pusher::sleep_until(steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, until, [this] { return is_stopping_; });
}

void Pusher::take_snapshots() {
  steady_clock::time_point next = steady_clock::now();
  do {
    try {
      const auto snapshot = next_snapshot();
      if (snapshot != nullptr) encode(*snapshot);
    } catch (const std::bad_alloc&) {
      events_.left_out(1);
    }
    next += options_.interval;
    // Those that were missed are not made up for.
    const auto late = (steady_clock::now() - next) / options_.interval;
    if (late > 0) {
      events_.left_out(static_cast<std::uint64_t>(late));
      next += late * options_.interval;
    }
  } while (sleep_until(next));
}

// Null: there was no memory for one, or the pusher is ending.
std::shared_ptr<const exposition::Snapshot> Pusher::next_snapshot() {
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->has_answer = false;
  }
  ask_([mailbox = mailbox_](std::shared_ptr<const exposition::Snapshot> snapshot) {
    const std::lock_guard lock(mailbox->mutex);
    if (mailbox->is_closed) return;
    mailbox->snapshot = std::move(snapshot);
    mailbox->has_answer = true;
    mailbox->arrived.notify_all();
  });
  std::unique_lock lock(mailbox_->mutex);
  mailbox_->arrived.wait(lock, [this] { return mailbox_->has_answer || mailbox_->is_closed; });
  return std::exchange(mailbox_->snapshot, nullptr);
}

void Pusher::encode(const exposition::Snapshot& snapshot) {
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  use_older_protocol();
  encoder_->encode(snapshot, [this](Batch batch) { enqueue(std::move(batch)); });
  events_.encoded(clock_ns(CLOCK_MONOTONIC) - begin);
}

// The receiver may have turned out to be an older one.
void Pusher::use_older_protocol() {
  const std::lock_guard lock(mutex_);
  if (encoder_protocol_ == protocol_) return;
  encoder_ = make_encoder(options_, protocol_);
  encoder_protocol_ = protocol_;
}

void Pusher::enqueue(Batch batch) {
  batch.body = compressor_.compress(std::move(batch.body), coding_of(options_, encoder_protocol_));
  batch.protocol = encoder_protocol_;
  if (const std::size_t dropped = queue_.push(std::move(batch)); dropped != 0) {
    events_.dropped(dropped);
  }
  const SendQueue::Content content = queue_.content();
  events_.queued(content.batches, content.bytes);
}

void Pusher::send_batches() {
  while (const std::optional<Batch> batch = queue_.take()) {
    try {
      send(*batch);
    } catch (const std::bad_alloc&) {
      events_.dropped(batch->points);
    }
    queue_.done(*batch);
    const SendQueue::Content content = queue_.content();
    events_.queued(content.batches, content.bytes);
  }
  const std::lock_guard lock(mutex_);
  has_sent_all_ = true;
  changed_.notify_all();
}

void Pusher::send(const Batch& batch) {
  while (true) {
    const Outcome outcome = try_once(batch);
    switch (outcome.kind) {
      case Outcome::Kind::kSent:
        if (outcome.refused_points != 0) {
          report_failure("refused a part of a batch", outcome);
          events_.refused(outcome.refused_points);
        } else if (std::exchange(is_failing_, false)) {
          report_(fmt::format("{}: it takes batches again", options_.name));
        }
        events_.sent(batch.points - std::min<std::uint64_t>(batch.points, outcome.refused_points),
                     batch.body.size());
        backoff_.reset();
        return;
      case Outcome::Kind::kRefused:
        report_failure("refused a batch", outcome);
        events_.refused(batch.points);
        return;
      case Outcome::Kind::kAgain:
        break;
    }
    report_failure("takes nothing", outcome);
    events_.tried_in_vain();
    if (!sleep_until(steady_clock::now() + backoff_.next(outcome.retry_after))) {
      // The pusher ends, and this receiver is away.
      events_.dropped(batch.points + queue_.clear());
      return;
    }
  }
}

Outcome Pusher::try_once(const Batch& batch) {
  std::chrono::milliseconds timeout = options_.timeout;
  Protocol known;
  {
    const std::lock_guard lock(mutex_);
    known = protocol_;
    if (is_stopping_) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady_clock::now());
      timeout = std::clamp(left, std::chrono::milliseconds(1), timeout);
    }
  }
  // It was encoded before the receiver turned out to be older.
  if (batch.protocol != known) return {Outcome::Kind::kRefused, 0, "it knows 1.0 only", {}, true};
  Outcome outcome = judge(known, post_.post(batch.body, timeout));
  if (outcome.is_older_receiver) {
    post_.use_headers(headers_of(options_, Protocol::kRemoteWrite1));
    const std::lock_guard lock(mutex_);
    protocol_ = Protocol::kRemoteWrite1;
  }
  return outcome;
}

void Pusher::report_failure(std::string_view what, const Outcome& outcome) {
  constexpr std::chrono::minutes kPause{1};
  const auto now = steady_clock::now();
  const bool is_first = !std::exchange(is_failing_, true);
  if (outcome.is_older_receiver) {
    if (is_first) {
      report_(
          fmt::format("{}: it does not know remote write 2.0; going on with 1.0", options_.name));
    }
    return;
  }
  if (!is_first && now < next_report_) return;
  next_report_ = now + kPause;
  report_(fmt::format("{}: {} {}: {}", options_.name, printable_url(options_.url), what,
                      outcome.reason));
}

}  // namespace meterbank::push
