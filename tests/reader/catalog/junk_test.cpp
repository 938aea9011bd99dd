// SPDX-License-Identifier: Apache-2.0
//
// What others leave in the directories costs them their own rows, and no one else's.
#include <fcntl.h>

#include "../../support/changed_child.hpp"
#include "../../support/descriptors.hpp"
#include "catalog/record_scan.hpp"
#include "catalog_fixture.hpp"

namespace meterbank {
namespace {

using test::kStranger;
using test::state_of;
using test::states_of;

std::uint64_t left_out(const Catalog& catalog, LeftOutReason reason, uid_t uid) {
  for (const LeftOut& each : catalog.left_out()) {
    if (each.reason == reason && each.uid == uid) return each.count;
  }
  return 0;
}

class CatalogJunk : public test::SharedDirectoryTest {
 protected:
  // Records of processes that have ended.
  void write_dead_records(int count) const {
    PointerRecord record = test::BareProvider("dead").record();
    record.pid = 0x7fffffff;
    for (int i = 0; i < count; ++i) {
      record.name = "dead" + std::to_string(i);
      record.inode = static_cast<std::uint64_t>(i) + 1;
      EXPECT_TRUE(write_record(directory_.path(), record));
    }
  }
  void make_files(int count, const std::string& suffix, uid_t owner = ::geteuid()) const {
    for (int i = 0; i < count; ++i) {
      const std::string path = directory_.path() + "/junk" + std::to_string(i) + suffix;
      const UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
      ASSERT_TRUE(file);
      ASSERT_EQ(::fchown(file.get(), owner, owner), 0);
    }
  }
};

TEST_F(CatalogJunk, DeadRecordsHideNoLiveProviderOfTheSameUser) {
  write_dead_records(2000);
  start_providers("healthy", 3);
  Catalog catalog = open({.providers_per_user_max = 1024});
  EXPECT_EQ(states_of(catalog)["live"], 3);
  EXPECT_EQ(states_of(catalog)["dead"], 1024);
  EXPECT_EQ(left_out(catalog, LeftOutReason::kRecordsMax, ::geteuid()), 2000U - 1024U);
  start_providers("later", 2);
  catalog.refresh();
  EXPECT_EQ(states_of(catalog)["live"], 5);
}

TEST_F(CatalogJunk, DeadRecordsAreListedOnceThereIsRoom) {
  write_dead_records(20);
  Catalog catalog = open({.providers_per_user_max = 5});
  EXPECT_EQ(states_of(catalog)["dead"], 5);
  for (int round = 0; round < 4; ++round) {
    for (const auto& provider : std::vector(catalog.providers()))
      ::unlink(provider->record.c_str());
    catalog.refresh();
    catalog.refresh();
  }
  EXPECT_EQ(directory_.files(), 0U);
}

TEST_F(CatalogJunk, HidesNoProvider) {
  make_files(70'000, ".txt");
  make_files(10'000, ".provider");
  start_providers("healthy", 1);
  Catalog catalog = open();
  EXPECT_EQ(state_of(catalog, "healthy0"), "live");
  EXPECT_EQ(left_out(catalog, LeftOutReason::kNotARecord, ::geteuid()), 10'000U);
  EXPECT_EQ(catalog.skipped(), 80'000U);
}

TEST_F(CatalogJunk, IsReadOnceUntilItChanges) {
  make_files(100, ".provider");
  // Nothing is left of the budget for a file that would be read again.
  RecordDirectory directory(directory_.path(), {.reads_per_user_max = 100});
  const auto knows_none = [](const std::string&, std::uint64_t) { return false; };
  const auto no_room = [](std::uint32_t, LeftOutReason) { return false; };
  ASSERT_TRUE(directory.scan(UserPolicy::kEveryone, knows_none, no_room));
  make_files(100, ".more.provider");
  ASSERT_TRUE(directory.scan(UserPolicy::kEveryone, knows_none, no_room));
  std::vector<LeftOut> sums;
  directory.count_left_out(sums);
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums.front().reason, LeftOutReason::kNotARecord);
  EXPECT_EQ(sums.front().count, 200U);

  const std::string text = test::BareProvider("late").record().text();
  write_file("junk0.provider", text);  // in place
  ::unlink((directory_.path() + "/junk1.provider").c_str());
  write_file("junk1.provider", text);  // under the same name
  const auto again = directory.scan(UserPolicy::kEveryone, knows_none, no_room);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->found.size(), 2U);
}

TEST_F(CatalogJunk, IsReadWithinABudgetAndTheRestByLaterWalks) {
  write_dead_records(50);
  RecordDirectory directory(directory_.path(), {.reads_per_user_max = 20});
  std::vector<std::string> known;
  const auto knows = [&known](const std::string& path, std::uint64_t) {
    return std::find(known.begin(), known.end(), path) != known.end();
  };
  const auto no_room = [](std::uint32_t, LeftOutReason) { return false; };
  for (const std::size_t expected : {20U, 40U, 50U, 50U}) {
    const auto scan = directory.scan(UserPolicy::kEveryone, knows, no_room);
    ASSERT_TRUE(scan);
    EXPECT_EQ(scan->walked, RecordScan::Walked::kAll);
    for (const auto& found : scan->found) {
      if (found.record) known.push_back(found.path);
    }
    EXPECT_EQ(known.size(), expected);
    std::vector<LeftOut> sums;
    directory.count_left_out(sums);
    ASSERT_EQ(sums.size(), expected < 50 ? 1U : 0U);
    if (!sums.empty()) {
      EXPECT_EQ(sums.front().reason, LeftOutReason::kNotRead);
      EXPECT_EQ(sums.front().count, 50 - expected);
      EXPECT_EQ(sums.front().uid, ::geteuid());
    }
  }
}

TEST_F(CatalogJunk, ALargeDirectoryIsWalkedInParts) {
  write_dead_records(100);
  make_files(300, ".txt");
  RecordDirectory directory(directory_.path(), {.objects_max = 64});
  const auto knows_none = [](const std::string&, std::uint64_t) { return false; };
  const auto no_room = [](std::uint32_t, LeftOutReason) { return false; };
  std::map<std::string, int> found;
  for (int walk = 0; walk < 7; ++walk) {
    const auto scan = directory.scan(UserPolicy::kEveryone, knows_none, no_room);
    ASSERT_TRUE(scan);
    EXPECT_EQ(scan->walked, RecordScan::Walked::kPart);
    for (const auto& each : scan->found) ++found[each.path];
    std::vector<LeftOut> sums;
    directory.count_left_out(sums);
    ASSERT_FALSE(sums.empty());
    EXPECT_EQ(sums.back().reason, LeftOutReason::kLargeDirectory);
  }
  EXPECT_EQ(found.size(), 100U);
}

TEST_F(CatalogJunk, ALargeDirectoryIsNotWalkedAgainAtOnce) {
  write_dead_records(10);
  RecordDirectory directory(directory_.path(), {.objects_without_rest = 5});
  const auto knows_none = [](const std::string&, std::uint64_t) { return false; };
  const auto no_room = [](std::uint32_t, LeftOutReason) { return false; };
  auto scan = directory.scan(UserPolicy::kEveryone, knows_none, no_room);
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->found.size(), 10U);
  // As long as the rest takes, nothing is known to be gone; then all is found anew.
  for (int i = 0; i < 100'000 && scan && scan->found.empty() == (i > 0); ++i) {
    scan = directory.scan(UserPolicy::kEveryone, knows_none, no_room);
    if (scan && scan->walked == RecordScan::Walked::kAll) break;
    EXPECT_EQ(scan->walked, RecordScan::Walked::kNone);
  }
  EXPECT_EQ(scan->found.size(), 10U);
}

TEST_F(CatalogJunk, CostsAnIdleRefreshNoDescriptorAndNoVersion) {
  make_files(100, ".provider");
  write_dead_records(10);
  start_providers("healthy", 1);
  Catalog catalog = open();
  const auto descriptors = test::open_descriptors();
  const std::uint64_t version = catalog.version();
  const auto providers = catalog.providers();
  catalog.refresh();
  EXPECT_EQ(catalog.version(), version);
  EXPECT_EQ(catalog.providers(), providers);
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

TEST_F(CatalogJunk, IsCountedByOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  make_files(30, ".provider", kStranger);
  start_providers("healthy", 1);
  const Catalog catalog = open();
  EXPECT_EQ(left_out(catalog, LeftOutReason::kNotARecord, kStranger), 30U);
  EXPECT_EQ(left_out(catalog, LeftOutReason::kNotARecord, 0), 0U);
  const Catalog own = open({.users = UserPolicy::kOwn});
  EXPECT_EQ(left_out(own, LeftOutReason::kPolicy, kStranger), 30U);
}

TEST_F(CatalogJunk, TooManyProvidersAreReportedAndHideNoneOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  start_providers("flood", 30, kStranger);
  start_providers("healthy", 3);
  const Catalog catalog = open({.providers_per_user_max = 10});
  EXPECT_EQ(states_of(catalog)["live"], 13);
  EXPECT_EQ(left_out(catalog, LeftOutReason::kProvidersMax, kStranger), 20U);
  EXPECT_TRUE(hides_providers(LeftOutReason::kProvidersMax));
}

// ---- Directories ----

class RuntimeDirectories : public testing::Test {
 protected:
  RuntimeDirectories() {
    ::unsetenv("METERBANK_DIR");
    roots_.system = directory_.path() + "/run-meterbank";
    roots_.sessions = directory_.path() + "/run-user";
    roots_.shared_memory = directory_.path() + "/shm";
    for (const auto& path : {roots_.sessions, roots_.shared_memory}) {
      EXPECT_EQ(::mkdir(path.c_str(), 0777), 0);
    }
  }
  // Where a process of this user publishes if the directory of the system is made like this.
  [[nodiscard]] std::string published_by(uid_t uid, mode_t mode, gid_t group = 0,
                                         uid_t owner = 0) const {
    ::rmdir(roots_.system.c_str());
    EXPECT_EQ(::mkdir(roots_.system.c_str(), 0755), 0);
    EXPECT_EQ(::chown(roots_.system.c_str(), owner, group), 0);
    EXPECT_EQ(::chmod(roots_.system.c_str(), mode), 0);
    EXPECT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    return test::run_in_changed_child(
               [uid] {
                 return ::unsetenv("XDG_RUNTIME_DIR") == 0 && ::setresuid(uid, uid, uid) == 0;
               },
               [this] {
                 return test::ChildOutcome{0, provider_directories(roots_).front()};
               })
        .text;
  }
  void make(const std::string& name, uid_t owner) const {
    const std::string path = roots_.shared_memory + "/" + name;
    ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
    ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
  }
  [[nodiscard]] bool is_listed(const std::string& name) const {
    const auto paths = segment_directories(true, roots_).paths;
    return std::find(paths.begin(), paths.end(), roots_.shared_memory + "/" + name) != paths.end();
  }

  test::TemporaryDirectory directory_{"/dev/shm"};
  DirectoryRoots roots_;
};

TEST_F(RuntimeDirectories, CountOnlyIfTheyBelongToTheUserThatTheyAreCalledAfter) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  make("meterbank-0", 0);
  make("meterbank-65534", kStranger);
  make("meterbank-1000", kStranger);
  make("meterbank-", kStranger);
  make("meterbank-x", kStranger);
  make("meterbank-065534", kStranger);
  make("meterbank-65534x", kStranger);
  make("meterbank-99999999999", kStranger);
  EXPECT_TRUE(is_listed("meterbank-0"));
  EXPECT_TRUE(is_listed("meterbank-65534"));
  for (const char* name : {"meterbank-1000", "meterbank-", "meterbank-x", "meterbank-065534",
                           "meterbank-65534x", "meterbank-99999999999"}) {
    EXPECT_FALSE(is_listed(name)) << name;
  }
  const auto found = segment_directories(true, roots_);
  EXPECT_EQ(found.squatted, (std::map<std::uint32_t, std::uint64_t>{{kStranger, 1}}));
}

TEST_F(RuntimeDirectories, TheSystemDirectoryIsUsedByThoseWhomRootLetsWriteThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  const std::string own = roots_.shared_memory + "/meterbank-65534";
  EXPECT_EQ(published_by(0, 0755), roots_.system);
  EXPECT_EQ(published_by(kStranger, 0755), own);
  EXPECT_EQ(published_by(kStranger, 01777), roots_.system);
  EXPECT_EQ(published_by(kStranger, 03775, ::getegid()), roots_.system);
  EXPECT_EQ(published_by(kStranger, 02775, ::getegid()), roots_.system);
  // Every user could remove the records of others.
  EXPECT_EQ(published_by(kStranger, 0777), own);
}

TEST_F(RuntimeDirectories, TheSystemDirectoryIsNotUsedIfAnotherUserMadeIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  EXPECT_EQ(published_by(kStranger, 01777, 0, 65533), roots_.shared_memory + "/meterbank-65534");
}

TEST_F(RuntimeDirectories, AreAListInTheEnvironment) {
  ::setenv("METERBANK_DIR", ":/a::/b:/a", 1);
  EXPECT_EQ(provider_directories(roots_), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(segment_directories(true, roots_).paths, (std::vector<std::string>{"/a", "/b"}));
  ::setenv("METERBANK_DIR", ":", 1);
  EXPECT_EQ(provider_directories(roots_).size(), 1U);
  ::unsetenv("METERBANK_DIR");
}

TEST_F(RuntimeDirectories, TheFirstThatCanBeUsedIsPrepared) {
  const std::string good = directory_.path() + "/good", bad = directory_.path() + "/missing/below";
  EXPECT_EQ(*prepare_first_directory({bad, good}), good);
  const auto refused = prepare_first_directory({bad, bad});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find(bad), std::string::npos);
  EXPECT_FALSE(prepare_first_directory({}));
}

TEST_F(RuntimeDirectories, AnErrorNamesWhoHasTakenOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  make("meterbank-0", kStranger);
  const auto refused = prepare_directory(roots_.shared_memory + "/meterbank-0");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("user 65534 has taken "), std::string::npos)
      << refused.error().what;
}

TEST_F(RuntimeDirectories, SeveralAreReadTogetherAndAMissingOneIsNamed) {
  const std::string left = directory_.path() + "/left", right = directory_.path() + "/right";
  const test::BareProvider first("first"), second("second");
  ASSERT_TRUE(prepare_directory(left));
  ASSERT_TRUE(prepare_directory(right));
  ASSERT_TRUE(write_record(left, first.record()));
  ASSERT_TRUE(write_record(right, second.record()));
  const auto catalog = Catalog::open({.directory = left + ":/not/there:" + right});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(catalog->providers().size(), 2U);
  ASSERT_EQ(catalog->directory_errors().size(), 1U);
  EXPECT_NE(catalog->directory_errors().front().what.find("/not/there"), std::string::npos);
  EXPECT_FALSE(Catalog::open({.directory = "/not/there:/nor/there"}));
}

TEST_F(RuntimeDirectories, ThoseOfThisUserAndRootComeFirstAndWithoutAWalk) {
  make("meterbank-" + std::to_string(::geteuid()), ::geteuid());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(::mkdir((roots_.shared_memory + "/meterbank-junk" + std::to_string(i)).c_str(), 0755),
              0);
  }
  const auto found = segment_directories(true, roots_);
  ASSERT_GE(found.paths.size(), 2U);
  EXPECT_EQ(found.paths[1], roots_.shared_memory + "/meterbank-" + std::to_string(::geteuid()));
  EXPECT_TRUE(found.is_whole);
  EXPECT_GE(found.objects, 1000U);
  EXPECT_EQ(found.paths.size(), 2U);
}

}  // namespace
}  // namespace meterbank
