// SPDX-License-Identifier: Apache-2.0
//
// Providers and readers that do not see each other's processes: none of them is ever dead.
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>

#include "../../support/changed_child.hpp"
#include "catalog_fixture.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace meterbank {
namespace {

using test::ChildOutcome;
using test::kStranger;
using test::run_in_changed_child;
using test::state_of;

bool has_private_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_procfs(const char* options) {
  return ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0;
}

class CatalogNamespaces : public test::SharedDirectoryTest {
 protected:
  void SetUp() override {
    const auto allowed = run_in_changed_child([] { return ::unshare(CLONE_NEWPID) == 0; },
                                              [] { return ChildOutcome{}; });
    if (allowed.code != 0) GTEST_SKIP() << "no namespace may be made here";
  }
  // False in a chroot: its root is no mount point, so what is mounted could be seen outside.
  static bool may_mount() {
    return run_in_changed_child(has_private_mounts, [] { return ChildOutcome{}; }).code == 0;
  }
  [[nodiscard]] std::string state_from_here(const std::string& name) const {
    return state_of(open(), name);
  }
  // The state of "p0" as a child says it that prepared itself. `forks`: once more, so that a new
  // pid or time namespace is its own.
  [[nodiscard]] std::string state_from(
      const std::function<bool()>& prepare, bool forks = false,
      const std::function<bool()>& prepare_inner = [] { return true; }) const {
    const auto look = [this] { return ChildOutcome{0, state_from_here("p0")}; };
    const auto outcome = run_in_changed_child(
        prepare, [&] { return forks ? run_in_changed_child(prepare_inner, look) : look(); });
    return outcome.code == 0 ? outcome.text : "not prepared";
  }
};

TEST_F(CatalogNamespaces, ASharedNamespaceTellsLiveFromDead) {
  const pid_t provider = start_providers("p", 1);
  EXPECT_EQ(state_from([] { return true; }), "live");
  end(provider);
  EXPECT_EQ(state_from([] { return true; }), "dead");
}

TEST_F(CatalogNamespaces, ProvidersAreForeignInAnotherPidNamespace) {
  start_providers("p", 1);
  const auto enter = [] { return ::unshare(CLONE_NEWPID) == 0; };
  EXPECT_EQ(state_from(enter, true), "foreign");
  if (!may_mount()) GTEST_SKIP() << "mounts cannot be made private here";
  EXPECT_EQ(state_from(enter, true, [] { return has_private_mounts() && mount_procfs(nullptr); }),
            "foreign");
}

TEST_F(CatalogNamespaces, ProvidersInAContainerAreForeignFromOutside) {
  if (!may_mount()) GTEST_SKIP() << "mounts cannot be made private here";
  // Pid 1 of its own namespace; it ends with this test's child.
  const pid_t container = start_child([this] {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
    int ready[2] = {};
    if (::pipe(ready) != 0) ::_exit(1);
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool proc = has_private_mounts() && mount_procfs(nullptr);
      const test::BareProvider provider("p0");
      if (proc) static_cast<void>(write_record(directory_.path(), provider.record()));
      static_cast<void>(!::write(ready[1], "r", 1));
      for (;;) ::pause();
    }
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) ::_exit(1);
  });
  EXPECT_EQ(state_from_here("p0"), "foreign");
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->error.code, ErrorCode::kForeign);
  end(container);
  // Nothing proves its end from here: pid 1 is always taken.
  EXPECT_EQ(state_from_here("p0"), "foreign");
}

TEST_F(CatalogNamespaces, ProvidersOfOneNameInTwoContainersAreKeptApart) {
  PointerRecord other = test::BareProvider("p0").record();  // ended, in another pid namespace
  other.pid_namespace += 1;
  write_file("other.provider", other.text());
  other.pid_namespace += 1;
  write_file("third.provider", other.text());
  const pid_t own = start_providers("p", 1);
  Catalog catalog = open();
  EXPECT_EQ(test::states_of(catalog), (std::map<std::string, int>{{"foreign", 2}, {"live", 1}}));
  end(own);
  catalog.refresh();
  EXPECT_EQ(test::states_of(catalog), (std::map<std::string, int>{{"foreign", 2}, {"dead", 1}}));
}

TEST_F(CatalogNamespaces, WithoutProcfsMakeAProviderForeign) {
  if (!may_mount()) GTEST_SKIP() << "mounts cannot be made private here";
  start_providers("p", 1);
  EXPECT_EQ(state_from([] { return has_private_mounts() && ::umount2("/proc", MNT_DETACH) == 0; }),
            "foreign");
  const auto outcome = run_in_changed_child(
      [this] { return ::chroot(directory_.path().c_str()) == 0 && ::chdir("/") == 0; },
      [] {
        const auto catalog = Catalog::open({.directory = "/"});
        return ChildOutcome{0, catalog ? state_of(*catalog, "p0") : catalog.error().message()};
      });
  EXPECT_EQ(outcome.text, "foreign");
}

TEST_F(CatalogNamespaces, ProvidersOfOtherUsersAreForeignIfProcfsHidesThem) {
  if (!may_mount()) GTEST_SKIP() << "mounts cannot be made private here";
  start_providers("p", 1);
  for (const char* options : {"hidepid=2", "hidepid=1"}) {
    const auto prepare = [options] {
      return has_private_mounts() && mount_procfs(options) && ::setgroups(0, nullptr) == 0 &&
             ::setresgid(kStranger, kStranger, kStranger) == 0 &&
             ::setresuid(kStranger, kStranger, kStranger) == 0;
    };
    EXPECT_EQ(state_from(prepare), "foreign") << options;
  }
}

TEST_F(CatalogNamespaces, ATimeNamespaceMakesNoProviderDead) {
  start_providers("p", 1);
  const auto enter = [] {
    if (::unshare(CLONE_NEWTIME) != 0) return false;
    std::ofstream offsets("/proc/self/timens_offsets");
    offsets << "boottime 1000 0\n";
    offsets.flush();
    return offsets.good();
  };
  const auto state = state_from(enter, true);
  if (state == "not prepared") GTEST_SKIP() << "no time namespace may be made here";
  EXPECT_EQ(state, "foreign");
}

TEST_F(CatalogNamespaces, AreNotGuessedForRecordsOfVersion01) {
  // Their pid is of a process that never was, of another start time, or of this very process.
  const test::BareProvider provider("p");
  PointerRecord old = provider.record();
  old.pid_namespace = old.time_namespace = 0;
  old.name = "exact";
  write_file("exact.provider", old.text());
  old.start_time += 1;
  old.inode += 1;
  old.name = "reused";
  write_file("reused.provider", old.text());
  old.pid = 0x7fffffff;
  old.name = "none";
  write_file("none.provider", old.text());
  const Catalog catalog = open();
  EXPECT_EQ(state_of(catalog, "p"), "live");
  EXPECT_EQ(state_of(catalog, "reused"), "foreign");
  EXPECT_EQ(state_of(catalog, "none"), "foreign");
}

}  // namespace
}  // namespace meterbank
