// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "../support/orders_schema.hpp"
#include "../support/sanitizers.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank::fork_test {
namespace {

using test::Venue;

// Runs `child` in a forked process; true if it returned true.
template <typename F>
bool in_child(F&& child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child() ? 0 : 1);
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, AChildCountsIntoNothingAndTheParentStaysExact) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  auto venues = *provider.add(test::kOrders);
  Instance eu = *venues.create_instance("eu");
  Counter accepted = eu.counter(Venue::kAccepted);
  eu.add(Venue::kAccepted, 5);

  EXPECT_TRUE(in_child([&] {
    for (int i = 0; i < 100'000; ++i) {
      eu.add(Venue::kAccepted, 1);
      accepted.add(1);
      eu.update([](Values& values) { values.add(Venue::kBytes, 1); });
    }
    return venues.create_instance("us").error().code == ErrorCode::kForked;
  }));

  EXPECT_EQ(eu.value(Venue::kAccepted), 5U);
  EXPECT_EQ(eu.value(Venue::kBytes), 0U);
}

Counter counted_by_handler;
volatile sig_atomic_t handler_ran = 0;
bool interrupts_forks = false;

// Handlers of fork() run in the order in which they were installed, so this one, which stands
// before the first provider, runs in the child before the library has done anything there.
TEST(Fork, AHandlerThatCountsMayInterruptTheForkItself) {
  const auto interrupt = [] {
    if (interrupts_forks) ::raise(SIGUSR1);
  };
  ASSERT_EQ(::pthread_atfork(nullptr, nullptr, interrupt), 0);
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  Instance eu = *provider.add(test::kOrders)->create_instance("eu");
  counted_by_handler = eu.counter(Venue::kAccepted);
  const auto count = [](int) {
    counted_by_handler.add(1);
    handler_ran = 1;
  };
  ASSERT_NE(::signal(SIGUSR1, count), SIG_ERR);
  interrupts_forks = true;
  // In a child of threads, the thread sanitizer keeps signals for later and has no later.
  EXPECT_TRUE(in_child([] { return handler_ran == 1 || test::kHasThreadSanitizer; }));
  interrupts_forks = false;
  EXPECT_EQ(handler_ran, 0);
  ::raise(SIGUSR1);  // not blocked any more
  EXPECT_EQ(handler_ran, 1);
  EXPECT_EQ(eu.value(Venue::kAccepted), 1U);
  ASSERT_NE(::signal(SIGUSR1, SIG_DFL), SIG_ERR);
  counted_by_handler = {};
}

TEST(Fork, AChildCanDestroyWhatItInheritedWithoutHarmingTheParent) {
  const test::TemporaryDirectory directory;
  auto provider =
      std::make_unique<Provider>(*Provider::create({.name = "o", .directory = directory.path()}));
  auto venues = *provider->add(test::kOrders);
  auto eu = std::make_unique<Instance>(*venues.create_instance("eu"));
  EXPECT_TRUE(in_child([&] {
    eu.reset();
    provider.reset();
    return true;
  }));
  EXPECT_EQ(directory.files(), 2U);
  EXPECT_TRUE(venues.find("eu"));
}

TEST(Fork, AChildCanBecomeAProviderOfItsOwn) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  EXPECT_TRUE(in_child([&] {
    auto own = Provider::create({.name = "child", .directory = directory.path()});
    if (!own) return false;
    auto venues = own->add(test::kOrders);
    if (!venues) return false;
    Instance eu = *venues->create_instance("eu");
    eu.add(Venue::kAccepted, 1);
    return eu.value(Venue::kAccepted) == 1 && directory.files() == 4;
  }));
  EXPECT_EQ(directory.files(), 2U);
}

TEST(Fork, NoChildInheritsALockThatAnotherThreadHeld) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  auto venues = *provider.add(test::kOrders);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> churned{0};
  std::thread churn([&] {
    while (!stop.load(std::memory_order_seq_cst)) {
      static_cast<void>(venues.create_instance("churn"));
      churned.fetch_add(1, std::memory_order_seq_cst);
    }
  });
  int forks = 0;
  while (forks < 50 || churned.load(std::memory_order_seq_cst) < 1000) {
    ASSERT_TRUE(in_child([&] {
      ::alarm(20);  // a held lock would end here
      return !venues.create_instance("child") && !venues.find("churn");
    }));
    ++forks;
  }
  stop = true;
  churn.join();
}

}  // namespace
}  // namespace meterbank::fork_test
