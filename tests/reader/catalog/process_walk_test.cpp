// SPDX-License-Identifier: Apache-2.0
//
// Providers that are found by their memory, in the descriptors of their processes. Those of other
// tests are found too, so each has a name that no other test uses.
#include <sched.h>
#include <sys/mman.h>

#include "../../support/changed_child.hpp"
#include "catalog_fixture.hpp"

namespace meterbank {
namespace {

using test::kStranger;
using test::state_of;

class ProcessWalk : public test::SharedDirectoryTest {
 protected:
  // A process with a provider that has written no record.
  pid_t start_without_record(const std::string& name, uid_t uid = ::geteuid()) {
    return start_child([&] { static const test::BareProvider provider(name); }, uid);
  }
  // As start_without_record(), or with a record, as pid 1 of a pid namespace. Pid here; 0: such a
  // namespace may not be made.
  pid_t start_in_container(const std::string& name, bool with_record) {
    int numbers[2] = {};
    EXPECT_EQ(::pipe(numbers), 0);
    start_child([&] {
      pid_t inner = ::unshare(CLONE_NEWPID) == 0 ? ::fork() : -1;
      if (inner == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        static const test::BareProvider provider(name);
        if (with_record) static_cast<void>(write_record(directory_.path(), provider.record()));
        const pid_t self = -1;
        static_cast<void>(!::write(numbers[1], &self, sizeof self));
        for (;;) ::pause();
      }
      pid_t ready = inner;
      if (inner > 0) static_cast<void>(!::read(numbers[0], &ready, sizeof ready));
      if (inner < 0) inner = 0;
      static_cast<void>(!::write(numbers[1], &inner, sizeof inner));
    });
    pid_t inner = 0;
    EXPECT_EQ(::read(numbers[0], &inner, sizeof inner), static_cast<ssize_t>(sizeof inner));
    ::close(numbers[0]);
    ::close(numbers[1]);
    return inner;
  }
  [[nodiscard]] std::shared_ptr<const ProviderView> find(const Catalog& catalog,
                                                         const std::string& name) const {
    for (const auto& provider : catalog.providers()) {
      if (provider->name == name) return provider;
    }
    return nullptr;
  }
};

TEST_F(ProcessWalk, FindsAProviderThatHasNoRecord) {
  const pid_t pid = start_without_record("recordless");
  EXPECT_EQ(state_of(open(), "recordless"), "absent");
  Catalog catalog = open({.all_namespaces = true});
  const auto provider = find(catalog, "recordless");
  ASSERT_NE(provider, nullptr);
  EXPECT_EQ(provider->state, ProviderState::kLive) << provider->error.what;
  EXPECT_EQ(provider->pid_here, static_cast<std::uint32_t>(pid));
  EXPECT_EQ(provider->outside.pid, static_cast<std::uint32_t>(pid));
  EXPECT_GT(provider->bytes, 0U);
  end(pid);
  catalog.refresh();
  EXPECT_EQ(state_of(catalog, "recordless"), "absent");
}

TEST_F(ProcessWalk, ListsAProviderWithARecordOnce) {
  start_providers("twice", 1);
  const Catalog catalog = open({.all_namespaces = true});
  std::size_t count = 0;
  for (const auto& provider : catalog.providers()) count += provider->name == "twice0" ? 1U : 0U;
  EXPECT_EQ(count, 1U);
  for (const LeftOut& each : catalog.left_out()) EXPECT_NE(each.reason, LeftOutReason::kSameMemory);
}

TEST_F(ProcessWalk, TakesNoChildForAProviderThatHasItsParentsDescriptors) {
  const pid_t parent = start_child([] {
    static const test::BareProvider provider("parent");
    if (::fork() == 0) {
      for (;;) ::pause();  // goes on after its parent; ended with its process group below
    }
  });
  const auto child_of = [](pid_t of) {
    std::ifstream file("/proc/" + std::to_string(of) + "/task/" + std::to_string(of) + "/children");
    pid_t child = 0;
    file >> child;
    return child;
  };
  const pid_t child = child_of(parent);
  if (child == 0) GTEST_SKIP() << "this kernel does not list children";
  EXPECT_EQ(find(open({.all_namespaces = true}), "parent")->pid_here,
            static_cast<std::uint32_t>(parent));
  end(parent);
  EXPECT_EQ(state_of(open({.all_namespaces = true}), "parent"), "absent");
  ::kill(child, SIGKILL);
}

TEST_F(ProcessWalk, FindsProvidersOfOneNameAndPidInTwoContainersThatShareNothing) {
  const pid_t left = start_in_container("pod", false), right = start_in_container("pod", false);
  if (left == 0 || right == 0) GTEST_SKIP() << "no namespace may be made here";
  const Catalog catalog = open({.all_namespaces = true});
  std::map<std::uint32_t, std::uint32_t> own_by_here;
  for (const auto& provider : catalog.providers()) {
    if (provider->name != "pod") continue;
    EXPECT_EQ(provider->state, ProviderState::kLive) << provider->error.what;
    own_by_here[provider->pid_here] = provider->pid;
  }
  EXPECT_EQ(own_by_here,
            (std::map<std::uint32_t, std::uint32_t>{{static_cast<std::uint32_t>(left), 1U},
                                                    {static_cast<std::uint32_t>(right), 1U}}));
}

TEST_F(ProcessWalk, KnowsTheProcessOfARecordFromAContainer) {
  const pid_t inner = start_in_container("contained", true);
  if (inner == 0) GTEST_SKIP() << "no namespace may be made here";
  EXPECT_EQ(state_of(open(), "contained"), "foreign");
  const Catalog catalog = open({.all_namespaces = true});
  const auto provider = find(catalog, "contained");
  ASSERT_NE(provider, nullptr);
  EXPECT_EQ(provider->state, ProviderState::kLive) << provider->error.what;
  EXPECT_EQ(provider->pid_here, static_cast<std::uint32_t>(inner));
  EXPECT_EQ(provider->pid, 1U);
  EXPECT_EQ(provider->record.find(directory_.path()), 0U);
}

TEST_F(ProcessWalk, SaysWhichProcessesItMayNotLookInto) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  start_without_record("hidden");
  const auto outcome = test::run_in_changed_child(
      [] { return ::setresuid(kStranger, kStranger, kStranger) == 0; },
      [this] {
        const Catalog catalog = open({.all_namespaces = true});
        for (const LeftOut& each : catalog.left_out()) {
          if (each.reason == LeftOutReason::kProcess && each.uid == 0 && each.count > 0) {
            return test::ChildOutcome{0, state_of(catalog, "hidden")};
          }
        }
        return test::ChildOutcome{1, "not said"};
      });
  EXPECT_EQ(outcome.text, "absent");
  EXPECT_TRUE(hides_providers(LeftOutReason::kProcess));
}

TEST_F(ProcessWalk, BelievesNoFileThatIsOnlyCalledLikeMemoryOfAProvider) {
  start_child([] {
    const int empty = ::memfd_create("meterbank:empty", 0);
    const int zeros = ::memfd_create("meterbank:zeros", 0);
    static_cast<void>(empty);
    static_cast<void>(!::ftruncate(zeros, 1 << 20));
    int pipes[2];
    static_cast<void>(!::pipe(pipes));
  });
  const Catalog catalog = open({.all_namespaces = true});
  EXPECT_EQ(state_of(catalog, "empty"), "absent");
  EXPECT_EQ(state_of(catalog, "zeros"), "absent");
}

TEST_F(ProcessWalk, ChoosesProvidersByTheirLabels) {
  const pid_t wanted = start_without_record("wanted");
  start_without_record("other");
  const auto pattern = LabelPattern::parse("pid=" + std::to_string(wanted));
  const Catalog catalog = open({.all_namespaces = true, .where = {*pattern}});
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->name, "wanted");
  EXPECT_GE(catalog.unchosen(), 1U);
  EXPECT_FALSE(Catalog::open({.where = {{"colour", "red"}}}));
}

}  // namespace
}  // namespace meterbank
