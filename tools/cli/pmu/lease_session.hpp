// SPDX-License-Identifier: Apache-2.0
//
// A lease that this program holds: asked for in a way that Ctrl-C and --timeout end, and what
// happens to it meanwhile.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "cli/invocation.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/session/console.hpp"
#include "cli/session/waiter.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pmu/connection.hpp"

namespace meterbank::cli {

// Notices of the library's thread for the thread that waits. Thread safety: any thread may call any
// function.
class NoticeBoard {
 public:
  NoticeBoard();
  void post(const pmu::LeaseNotice& notice);
  [[nodiscard]] std::optional<pmu::LeaseNotice> take();
  // Readable when there is something to take.
  [[nodiscard]] int descriptor() const noexcept { return bell_.get(); }

 private:
  std::mutex mutex_;
  std::deque<pmu::LeaseNotice> notices_;
  UniqueFd bell_;
};

class LeaseSession {
 public:
  // Says on the console what went wrong; the exit code is then in code().
  LeaseSession(const Invocation& invocation, Console& console, Waiter& waiter);

  // Waits as long as the request does. False: not granted, see code().
  bool acquire(const pmu::Request& request);
  [[nodiscard]] pmu::Lease& lease() { return *lease_; }

  // Says what happened to the lease. False: it is lost, or will be at once.
  bool look_at_notices();
  [[nodiscard]] int notice_descriptor() const noexcept { return board_->descriptor(); }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  void say_queued(const pmu::Queued& queued) const;

  Console* console_;
  Waiter* waiter_;
  bool is_quiet_;
  RefusalRemedies remedies_;
  std::shared_ptr<NoticeBoard> board_ = std::make_shared<NoticeBoard>();
  std::optional<pmu::Connection> connection_;
  std::optional<pmu::Lease> lease_;
  int code_ = 0;
};

}  // namespace meterbank::cli
