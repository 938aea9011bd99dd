// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/lease_session.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "cli/session/exit_code.hpp"

namespace meterbank::cli {
namespace {

void ring(int bell) noexcept {
  const std::uint64_t once = 1;
  // Full only if it rings already.
  [[maybe_unused]] const auto written = ::write(bell, &once, sizeof(once));
}

void silence(int bell) noexcept {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto got = ::read(bell, &rings, sizeof(rings));
}

UniqueFd make_bell() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

}  // namespace

NoticeBoard::NoticeBoard() : bell_(make_bell()) {}

void NoticeBoard::post(const pmu::LeaseNotice& notice) {
  {
    const std::lock_guard lock(mutex_);
    notices_.push_back(notice);
  }
  ring(bell_.get());
}

std::optional<pmu::LeaseNotice> NoticeBoard::take() {
  const std::lock_guard lock(mutex_);
  if (notices_.empty()) {
    silence(bell_.get());
    return std::nullopt;
  }
  auto first = std::move(notices_.front());
  notices_.pop_front();
  return first;
}

LeaseSession::LeaseSession(const Invocation& invocation, Console& console, Waiter& waiter)
    : console_(&console),
      waiter_(&waiter),
      is_quiet_(invocation.quiet),
      remedies_(remedies_of(invocation.pmu)) {
  auto connection = connect_to_arbiter(
      invocation,
      {.on_notice = [board = board_](const pmu::LeaseNotice& notice) { board->post(notice); }});
  if (connection) {
    connection_.emplace(std::move(*connection));
    return;
  }
  complain(console, connection.error());
  code_ = kExitEnvironment;
}

void LeaseSession::say_queued(const pmu::Queued& queued) const {
  if (!is_quiet_) complain(*console_, queued_text(queued));
}

bool LeaseSession::acquire(const pmu::Request& request) {
  if (!connection_) return false;
  const UniqueFd done = make_bell();
  std::stop_source stop;
  std::optional<pmu::Asked<pmu::Lease>> answer;
  // Signals are this thread's, so another one waits for the answer.
  std::thread asking([&] {
    answer = connection_->acquire(
        request, {.stop = stop.get_token(),
                  .on_queued = [this](const pmu::Queued& queued) { say_queued(queued); }});
    ring(done.get());
  });
  if (waiter_->wait_until(Clock::time_point::max(), done.get()) != Wake::kInput) {
    stop.request_stop();
  }
  asking.join();
  if (*answer && waiter_->signal() == 0 && !waiter_->timed_out()) {
    lease_.emplace(std::move(**answer));
    return true;
  }
  if (waiter_->signal() != 0) {
    code_ = 128 + waiter_->signal();
  } else if (waiter_->timed_out()) {
    complain(*console_, "--timeout ran out before the counters could be had");
    code_ = kExitTimeout;
  } else {
    code_ = report_refusal(*console_, answer->error(), remedies_);
  }
  return false;
}

bool LeaseSession::look_at_notices() {
  using Kind = pmu::LeaseNotice::Kind;
  while (auto notice = board_->take()) {
    const auto cause = name_of(notice->cause);
    switch (notice->kind) {
      case Kind::kRevoking:
        complain(*console_, fmt::format("the lease is being revoked: {}", cause));
        break;
      case Kind::kLost:
        complain(*console_, fmt::format("the lease is lost: {}", cause));
        code_ = kExitNo;
        return false;
      case Kind::kSuspended:
        complain(*console_, fmt::format("counters are away for now: {}", cause));
        break;
      case Kind::kResumed:
        complain(*console_, "counters are back");
        break;
      case Kind::kAdrift:
        complain(*console_, "the arbiter is gone; the lease is claimed again when it is back");
        break;
      case Kind::kReclaimed:
        complain(*console_,
                 fmt::format("claimed again from a new arbiter: {}", token_text(notice->token)));
        break;
    }
  }
  return true;
}

}  // namespace meterbank::cli
