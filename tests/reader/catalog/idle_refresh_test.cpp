// SPDX-License-Identifier: Apache-2.0
//
// A refresh leaves out what cannot have changed, and nothing else.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "../../support/allocation_count.hpp"
#include "../../support/changed_child.hpp"
#include "../../support/comes_true.hpp"
#include "../../support/orders_schema.hpp"
#include "catalog/record_scan.hpp"
#include "catalog_fixture.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/process_facts.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

using test::states_of;

class UnchangedDirectory : public test::SharedDirectoryTest {
 protected:
  // The path of what it writes.
  [[nodiscard]] std::string write_dead_record(int number) const {
    PointerRecord record = test::BareProvider("dead").record();
    record.pid = 0x7fffffff;
    record.name = "dead" + std::to_string(number);
    record.inode = static_cast<std::uint64_t>(number) + 1;
    return *write_record(directory_.path(), record);
  }
  RecordScan scan() {
    const auto knows_none = [](const std::string&, std::uint64_t) { return false; };
    const auto no_room = [](std::uint32_t, LeftOutReason) { return false; };
    auto scan = records_.scan(UserPolicy::kEveryone, knows_none, no_room);
    EXPECT_TRUE(scan);
    return scan ? *std::move(scan) : RecordScan{};
  }
  // What the first walk finds that nothing can follow unseen.
  std::size_t found_once_settled() {
    std::size_t found = 0;
    const bool is_settled = test::comes_true([&] {
      const RecordScan next = scan();
      if (next.walked == RecordScan::Walked::kNone) return true;
      found = next.found.size();
      return false;
    });
    EXPECT_TRUE(is_settled);
    return found;
  }

  RecordDirectory records_{directory_.path()};
};

TEST_F(UnchangedDirectory, IsWalkedThroughAgainAfterEachChange) {
  static_cast<void>(write_dead_record(0));
  EXPECT_EQ(found_once_settled(), 1U);
  const std::string path = write_dead_record(1);
  EXPECT_EQ(scan().found.size(), 2U);
  EXPECT_EQ(found_once_settled(), 2U);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(scan().found.size(), 1U);
  EXPECT_EQ(found_once_settled(), 1U);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01770), 0);
  EXPECT_EQ(scan().walked, RecordScan::Walked::kAll);
}

TEST_F(UnchangedDirectory, IsWalkedThroughAgainWhereNoUseWasMadeOfAWalk) {
  static_cast<void>(write_dead_record(0));
  EXPECT_EQ(found_once_settled(), 1U);
  records_.walk_again();
  EXPECT_EQ(scan().found.size(), 1U);
}

TEST_F(UnchangedDirectory, HidesNothingThatCameWithinATickOfTheClock) {
  for (int number = 0; number < 300; ++number) {
    static_cast<void>(scan());
    static_cast<void>(write_dead_record(number));
    ASSERT_EQ(scan().found.size(), static_cast<std::size_t>(number) + 1);
  }
}

TEST_F(UnchangedDirectory, HidesNoFileThatBecomesARecordInPlace) {
  write_file("junk.provider", "");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(scan().found.size(), 0U);
  EXPECT_EQ(scan().walked, RecordScan::Walked::kAll);
  write_file("junk.provider", test::BareProvider("late").record().text());
  EXPECT_EQ(scan().found.size(), 1U);
}

// Four processes, of which a reader may hold one at most.
class UnheldProcesses : public test::SharedDirectoryTest {
 protected:
  static constexpr int kProcesses = 4;
  static constexpr int kHeld = 1;
  static constexpr std::uint64_t kRarestBeatNs = 10'000'000'000;

  // Does `look` in a process that may keep one pidfd for each user.
  static std::string with_one_pidfd(const std::function<std::string()>& look) {
    return test::run_in_changed_child(
               [] {
                 rlimit files{};
                 ::getrlimit(RLIMIT_NOFILE, &files);
                 files.rlim_cur = 15;
                 return ::setrlimit(RLIMIT_NOFILE, &files) == 0;
               },
               [&look] {
                 return test::ChildOutcome{0, look()};
               })
        .text;
  }
  void start(const std::function<void()>& publish) {
    for (int i = 0; i < kProcesses; ++i) children_.push_back(start_child(publish));
  }
  // Providers that no kernel marks as dead, and what they say of their beats.
  struct Beats {
    std::uint64_t period_ns = 0;
    std::uint64_t ahead_ns = 0;
  };
  void start_forgers(Beats beats) {
    start([this, beats] {
      static test::BareProvider forger("forger");
      auto* const header = reinterpret_cast<SegmentHeader*>(forger.memory().data());
      header->owner_mutex[0] = 1;
      // relaxed: the pipe to the parent orders them.
      header->heartbeat_ns.store(clock_ns(CLOCK_MONOTONIC) + beats.ahead_ns,
                                 std::memory_order_relaxed);
      header->heartbeat_period_ns.store(beats.period_ns, std::memory_order_relaxed);
      if (!write_record(directory_.path(), forger.record())) ::_exit(1);
    });
  }
  // Until the kernel has ended them. They stay zombies for a reader that is not their parent.
  void kill_all() const {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    const auto is_zombie = [](pid_t child) {
      const auto facts = read_process_stat(static_cast<std::uint32_t>(child));
      return facts && facts->state == 'Z' && facts->threads <= 1;
    };
    EXPECT_TRUE(test::comes_true(
        [&] { return std::all_of(children_.begin(), children_.end(), is_zombie); }));
  }
  void end_all() {
    for (const pid_t child : children_) end(child);
  }
  // How many are in this state now.
  int refreshed(const std::string& state) {
    EXPECT_TRUE(catalog_->refresh());
    return states_of(*catalog_)[state];
  }

  // Of the forgers, once they are dead: how many are in this state.
  std::string state_after_death(const std::string& state) {
    std::string said = with_one_pidfd([&] {
      catalog_ = open();
      kill_all();
      return std::to_string(refreshed(state)) + " " + state;
    });
    end_all();
    return said;
  }

  std::vector<pid_t> children_;
  std::optional<Catalog> catalog_;
};

TEST_F(UnheldProcesses, AreSeenToDieByTheNextRefresh) {
  start([this] {
    static auto provider = Provider::create({.name = "orders", .directory = directory_.path()});
    static auto set = provider->add(test::kOrders);
  });
  const auto said = with_one_pidfd([&] {
    catalog_ = open();
    std::string text = std::to_string(refreshed("live")) + " live, ";
    kill_all();
    return text + std::to_string(refreshed("dead")) + " dead";
  });
  EXPECT_EQ(said, "4 live, 4 dead");
  end_all();
}

TEST_F(UnheldProcesses, ThatForgeSignsOfLifeAreDeadOnceTheirBeatsAreLate) {
  start_forgers({.period_ns = 1'000'000'000});
  const auto said = with_one_pidfd([&] {
    catalog_ = open();
    std::string text = std::to_string(states_of(*catalog_)["live"]) + " live, ";
    kill_all();
    const bool are_seen = test::comes_true([&] { return refreshed("dead") == kProcesses; });
    return text + (are_seen ? "dead" : "undead");
  });
  EXPECT_EQ(said, "4 live, dead");
  end_all();
}

TEST_F(UnheldProcesses, ThatBeatOftenEnoughAreNotLookedAt) {
  start_forgers({.period_ns = kRarestBeatNs});
  EXPECT_EQ(state_after_death("live"), std::to_string(kProcesses - kHeld) + " live");
}

TEST_F(UnheldProcesses, ThatBeatTooRarelyAreLookedAtEachTime) {
  start_forgers({.period_ns = kRarestBeatNs + 1});
  EXPECT_EQ(state_after_death("dead"), "4 dead");
}

TEST_F(UnheldProcesses, ThatBeatInTheFutureAreLookedAtEachTime) {
  start_forgers({.period_ns = kRarestBeatNs, .ahead_ns = 60'000'000'000});
  EXPECT_EQ(state_after_death("dead"), "4 dead");
}

TEST_F(UnheldProcesses, WhereTheyAreHeldAreBelievedByTheKernelAlone) {
  start_forgers({.period_ns = kRarestBeatNs});
  catalog_ = open();
  EXPECT_EQ(refreshed("live"), kProcesses);
  end_all();
  EXPECT_EQ(refreshed("dead"), kProcesses);
}

TEST(IdleRefresh, SeesThatTheThreadOfAKeeperAloneHasEnded) {
  const test::TemporaryDirectory directory;
  const test::BareProvider orders("orders");
  ASSERT_TRUE(write_record(directory.path(), orders.record()));
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  ASSERT_TRUE(catalog.refresh());
  EXPECT_EQ(test::state_of(catalog, "orders"), "live");
  reinterpret_cast<SegmentHeader*>(orders.memory().data())->owner_mutex[0] = kOwnerDied;
  ASSERT_TRUE(catalog.refresh());
  EXPECT_EQ(test::state_of(catalog, "orders"), "hung");
}

// Each catalog runs out of memory at another allocation of the refresh that finds them.
TEST(IdleRefresh, ThatRanOutOfMemoryIsFollowedByOneThatFindsEveryNewProvider) {
  const test::TemporaryDirectory first, second;
  const std::string both = first.path() + ":" + second.path();
  std::vector<Catalog> catalogs;
  for (int i = 0; i < 400; ++i) catalogs.push_back(*Catalog::open({.directory = both}));
  const test::BareProvider left("left"), right("right");
  ASSERT_TRUE(write_record(first.path(), left.record()));
  ASSERT_TRUE(write_record(second.path(), right.record()));
  // So that one walk is enough, if it is made use of.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::size_t failed = 1, refreshes = 0;
  for (; failed != 0 && refreshes < catalogs.size(); ++refreshes) {
    {
      const test::FailingAllocations failing(refreshes, 1);
      static_cast<void>(catalogs[refreshes].refresh());
      failed = failing.failed();
    }
    ASSERT_TRUE(catalogs[refreshes].refresh());
    ASSERT_EQ(catalogs[refreshes].providers().size(), 2U) << "after allocation " << refreshes;
  }
  EXPECT_EQ(failed, 0U) << "no refresh had all the memory that it needs";
  EXPECT_GT(refreshes, 10U);
}

TEST(IdleRefresh, OfOneChangedProviderReplacesItsViewAlone) {
  const test::TemporaryDirectory directory;
  const auto start = [&directory](const std::string& name) {
    return *Provider::create({.name = name, .directory = directory.path()});
  };
  const Provider first = start("a"), third = start("c");
  Provider second = start("b");
  auto set = *second.add(test::kOrders);
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  ASSERT_TRUE(catalog.refresh());
  const auto before = catalog.providers();
  const auto version = catalog.version();
  ASSERT_TRUE(catalog.refresh());
  EXPECT_EQ(catalog.version(), version);
  EXPECT_EQ(catalog.providers(), before);

  const auto instance = *set.create_instance("eu");
  ASSERT_TRUE(catalog.refresh());
  EXPECT_GT(catalog.version(), version);
  ASSERT_EQ(catalog.providers().size(), 3U);
  EXPECT_EQ(catalog.providers()[0], before[0]);
  EXPECT_NE(catalog.providers()[1], before[1]);
  EXPECT_EQ(catalog.providers()[2], before[2]);
  EXPECT_EQ(catalog.providers()[1]->sets.front().instances.size(), 1U);
}

}  // namespace
}  // namespace meterbank
