// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that an arbiter hands over: those that are what it says, and others.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "hostile_fixture.hpp"

namespace meterbank::pmu {
namespace {

using test::ScriptedArbiter;
using Client = ScriptedArbiter::Client;
using Kind = LeaseNotice::Kind;

UniqueFd software_event() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

std::uint64_t kernel_id(const UniqueFd& event) {
  std::uint64_t id = 0;
  EXPECT_EQ(::ioctl(event.get(), PERF_EVENT_IOC_ID, &id), 0);
  return id;
}

class DelegationTest : public test::HostileArbiter {
 protected:
  void SetUp() override {
    if (!software_event()) GTEST_SKIP() << "this process may not open events";
  }
  static Request delegated() { return Request().event("task-clock").this_thread().delegates(); }
};

TEST_F(DelegationTest, ADescriptorThatIsWhatItSaysIsRead) {
  arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        const auto* const asked = std::get_if<Allocate>(&message);
        if (asked == nullptr) return false;
        const UniqueFd event = software_event();
        Granted granted = self.grant_for(*asked);
        granted.head.descriptor_count = 1;
        granted.counters.front().kernel_id = kernel_id(event);
        self.send(client, id, granted);
        self.send(client, id, Counter{.token = granted.head.token, .position = 0}, event.get());
        return true;
      });
  hold(delegated());

  auto counter = lease_->local(0);
  ASSERT_TRUE(counter) << counter.error().message();
  EXPECT_TRUE(counter->read());
  EXPECT_EQ(lease_->local(1).error().code, ErrorCode::kNotFound);

  // The event counts on in the kernel, but not for this lease.
  lease_->release();
  EXPECT_EQ(counter->read().error().code, ErrorCode::kClosed);
}

TEST_F(DelegationTest, ALeaseThatIsGrantedAnewWantsItsCountersTakenAnew) {
  const auto delegating = [](ScriptedArbiter& self, Client& client, std::uint64_t id,
                             const ClientMessage& message) {
    const auto* const asked = std::get_if<Allocate>(&message);
    if (asked == nullptr) return false;
    const UniqueFd event = software_event();
    Granted granted = self.grant_for(*asked);
    granted.head.descriptor_count = 1;
    granted.counters.front().kernel_id = kernel_id(event);
    self.send(client, id, granted);
    self.send(client, id, Counter{.token = granted.head.token, .position = 0}, event.get());
    return true;
  };
  arbiter(delegating);
  hold(delegated());
  auto counter = lease_->local(0);
  ASSERT_TRUE(counter);
  const Token before = lease_->token();

  auto& next = arbiter(delegating, 2);
  ASSERT_TRUE(notices_.await(Kind::kReclaimed));

  EXPECT_EQ(counter->read().error().code, ErrorCode::kClosed);
  counter = lease_->local(0);
  ASSERT_TRUE(counter);
  EXPECT_TRUE(counter->read());
  const auto offers = next.received<Offer>();
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers.front().token, before);
}

TEST_F(DelegationTest, DescriptorsThatAreNotWhatTheySayAreNotBelieved) {
  struct False {
    std::uint32_t position = 0;
    Token token = 0;
    bool is_memory = false;
    bool is_other_event = false;
    int count = 1;
  };
  const auto tell = [this](const std::string& name, const False& how) {
    expect_drop(
        name,
        [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const Allocate& asked) {
          const UniqueFd event = software_event();
          const UniqueFd other = software_event();
          const UniqueFd lie = test::memory(4096);
          Granted granted = test::good_grant(self, asked);
          granted.counters.push_back(granted.counters.front());
          granted.head.descriptor_count = how.count == 0 ? 3 : 2;
          granted.counters.front().kernel_id = kernel_id(event);
          self.send(client, id, granted);
          const int sent = how.is_memory        ? lie.get()
                           : how.is_other_event ? other.get()
                                                : event.get();
          const Token token = how.token != 0 ? how.token : granted.head.token;
          for (int packet = 0; packet < how.count; ++packet) {
            self.send(client, id, Counter{.token = token, .position = how.position}, sent);
          }
        },
        delegated());
  };
  tell("memory", {.is_memory = true});
  tell("another event", {.is_other_event = true});
  tell("position beyond the counters", {.position = 2});
  tell("another lease", {.token = make_token(1, 1, 7)});
  tell("twice the same", {.count = 2});
  tell("more than counters", {.count = 0});
}

}  // namespace
}  // namespace meterbank::pmu
