// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/temporary_directory.hpp"
#include "meterbank/pmu.hpp"
#include "scripted_arbiter.hpp"

namespace meterbank::test {

// What a connection told, in order.
class Notices {
 public:
  [[nodiscard]] std::function<void(const pmu::LeaseNotice&)> listener() {
    return [this](const pmu::LeaseNotice& notice) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(notice);
      changed_.notify_all();
    };
  }
  // Waits for the first of this kind, and takes it and those before it away.
  std::optional<pmu::LeaseNotice> await(pmu::LeaseNotice::Kind kind) {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!notices_.empty()) {
        pmu::LeaseNotice first = std::move(notices_.front());
        notices_.erase(notices_.begin());
        if (first.kind == kind) return first;
      }
      if (changed_.wait_for(lock, std::chrono::seconds(30)) == std::cv_status::timeout) {
        return std::nullopt;
      }
    }
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return notices_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<pmu::LeaseNotice> notices_;
};

class PmuTest : public testing::Test {
 protected:
  using Script = ScriptedArbiter::Script;
  using Client = ScriptedArbiter::Client;

  [[nodiscard]] std::string socket() const { return directory_.path() + "/pmud.sock"; }
  ScriptedArbiter& arbiter(Script script = {}, std::uint16_t epoch = 1) {
    arbiter_.reset();
    arbiter_ = std::make_unique<ScriptedArbiter>(socket(), std::move(script), epoch);
    return *arbiter_;
  }
  [[nodiscard]] pmu::Connection connect(bool has_keeper = true) {
    auto connection = pmu::Connection::connect({.socket = socket(),
                                                .has_keeper = has_keeper,
                                                .on_notice = notices_.listener(),
                                                .timeout = std::chrono::seconds(20)});
    EXPECT_TRUE(connection) << connection.error().message();
    return std::move(*connection);
  }
  // connection_, and lease_ of it. The arbiter is the one that is there, or one that plays by the
  // rules.
  ScriptedArbiter& hold(const pmu::Request& request = cycles(), bool has_keeper = true) {
    if (arbiter_ == nullptr) arbiter();
    connection_.emplace(connect(has_keeper));
    auto lease = connection_->acquire(request);
    EXPECT_TRUE(lease) << lease.error().message();
    lease_.emplace(std::move(lease).value());
    return *arbiter_;
  }
  void crash() { arbiter_.reset(); }
  // In a child: whether neither lease nor connection work, and both may be dropped.
  [[nodiscard]] bool child_has_nothing() {
    bool good = !lease_->use();
    good = good && lease_->read().error().code == ErrorCode::kForked;
    const auto more = connection_->acquire(cycles());
    good = good && !more && more.error().error && more.error().error->code == ErrorCode::kForked;
    good = good && !connection_->is_connected();
    lease_->release();
    {
      const pmu::Lease gone = std::move(*lease_);
      const pmu::Connection closed = std::move(*connection_);
    }
    return good;
  }
  [[nodiscard]] static pmu::Request cycles() { return pmu::Request().event("cycles").cpus("0"); }

  const TemporaryDirectory directory_;
  Notices notices_;
  std::unique_ptr<ScriptedArbiter> arbiter_;
  std::optional<pmu::Connection> connection_;
  std::optional<pmu::Lease> lease_;
};

}  // namespace meterbank::test
