// SPDX-License-Identifier: Apache-2.0
//
// Registering sets with cuts: what is refused, and what a fork makes of their heartbeat.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "../support/forbidden_membarrier.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank {
namespace {

using test::forbid_membarrier;
using test::orders_with_cuts;
using test::Venue;

ProviderOptions beating(const std::string& directory) {
  return {.name = "orders", .directory = directory, .cut_period = std::chrono::milliseconds(1)};
}

// Runs `child` in a forked process; true if it returned true within 20 s.
template <typename F>
bool in_child(F&& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);
    ::_exit(child() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Cuts, AreRefusedForIndependentCounters) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create(beating(directory.path()));
  CountersetSpec spec = orders_with_cuts();
  spec.consistency = Consistency::kIndependent;
  const auto refused = provider.add(spec);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message().find("block consistency"), std::string::npos);
}

TEST(Cuts, AreRefusedWithoutAPeriod) {
  const test::TemporaryDirectory directory;
  ProviderOptions options = beating(directory.path());
  options.cut_period = {};
  auto provider = *Provider::create(options);
  EXPECT_EQ(provider.add(orders_with_cuts()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(provider.add(test::kOrders));
}

TEST(Cuts, AreRefusedWhereTheKernelRefusesTheBarrier) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(in_child([&] {
    if (!forbid_membarrier()) return true;
    auto provider = *Provider::create(beating(directory.path()));
    const auto refused = provider.add(orders_with_cuts());
    return !refused && refused.error().code == ErrorCode::kSystem &&
           refused.error().system_error == ENOSYS && provider.add(test::kOrders).has_value();
  }));
}

TEST(Cuts, LeaveWordsOutsideTheBlockIgnored) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create(beating(directory.path()));
  Instance eu = *provider.add(orders_with_cuts())->create_instance("eu");
  Counter accepted = eu.counter(Venue::kAccepted);
  eu.add(3, 1);
  eu.set(4096U, 1);
  eu.update([](Values& values) { values.set(7, 1); });
  eu.add(Venue::kAccepted, 1);
  accepted.add(1);
  eu.update([](Values& values) { values.add(Venue::kAccepted, 1); });
  EXPECT_EQ(eu.value(Venue::kAccepted), 3U);
  EXPECT_EQ(eu.value(Venue::kBytes), 0U);
}

TEST(Cuts, AChildOfAForkCountsIntoNothingAndMayHaveCutsOfItsOwn) {
  const test::TemporaryDirectory directory;
  auto provider = std::make_unique<Provider>(*Provider::create(beating(directory.path())));
  auto eu = std::make_unique<Instance>(*provider->add(orders_with_cuts())->create_instance("eu"));
  eu->add(Venue::kAccepted, 5);
  for (int fork = 0; fork < 20; ++fork) {
    ASSERT_TRUE(in_child([&] {
      for (int commit = 0; commit < 1000; ++commit) eu->add(Venue::kAccepted, 1);
      eu.reset();
      provider.reset();
      auto own = *Provider::create({.name = "child", .directory = directory.path()});
      return own.add(orders_with_cuts())->create_instance("us").has_value();
    }));
  }
  EXPECT_EQ(eu->value(Venue::kAccepted), 5U);
}

TEST(Cuts, EndWithTheirProviderWhileOthersGoOn) {
  const test::TemporaryDirectory directory;
  auto stays = *Provider::create(beating(directory.path()));
  Instance eu = *stays.add(orders_with_cuts())->create_instance("eu");
  for (int life = 0; life < 20; ++life) {
    auto ends = *Provider::create(beating(directory.path()));
    Instance us = *ends.add(orders_with_cuts())->create_instance("us");
    us.add(Venue::kAccepted, 1);
  }
  const std::uint64_t epoch = process_epoch.count.load(std::memory_order_seq_cst);
  while (process_epoch.count.load(std::memory_order_seq_cst) == epoch) std::this_thread::yield();
  eu.add(Venue::kAccepted, 1);
  EXPECT_EQ(eu.value(Venue::kAccepted), 1U);
}

}  // namespace
}  // namespace meterbank
