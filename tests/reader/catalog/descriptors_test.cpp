// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of a reader: how many it keeps, and what it says where it has none left.
#include <fcntl.h>
#include <sys/resource.h>

#include "../../support/changed_child.hpp"
#include "../../support/descriptors.hpp"
#include "catalog_fixture.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank {
namespace {

using test::ChildOutcome;
using test::kStranger;
using test::open_descriptors;
using test::state_of;
using test::states_of;

class CatalogDescriptors : public test::SharedDirectoryTest {
 protected:
  // What `look` says in a child whose soft limit is `limit`.
  static std::string at_limit(rlim_t limit, const std::function<std::string()>& look) {
    const auto outcome = test::run_in_changed_child(
        [limit] {
          rlimit files{};
          ::getrlimit(RLIMIT_NOFILE, &files);
          files.rlim_cur = limit;
          return ::setrlimit(RLIMIT_NOFILE, &files) == 0;
        },
        [&look] {
          return ChildOutcome{0, look()};
        });
    return outcome.text;
  }
  static std::string text_of(const std::map<std::string, int>& states) {
    std::string text;
    for (const auto& [state, count] : states) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
    }
    return text;
  }
};

TEST_F(CatalogDescriptors, AreNotKeptForMappedMemory) {
  start_providers("p", 300);
  const auto before = open_descriptors();
  const Catalog catalog = open();
  EXPECT_EQ(text_of(states_of(catalog)), "300 live");
  EXPECT_LE(open_descriptors(), before + 1);  // one process
}

TEST_F(CatalogDescriptors, AThousandRecordsOfOneProcessHideNoProviderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  start_providers("flood", 1023, kStranger);
  start_providers("healthy", 3);
  const auto said = at_limit(1024, [this] {
    const Catalog catalog = open({.user_bytes_max = std::uint64_t{1} << 30});
    return state_of(catalog, "healthy0") + " " + state_of(catalog, "healthy1") + " " +
           state_of(catalog, "healthy2") + ": " + text_of(states_of(catalog));
  });
  EXPECT_EQ(said, "live live live: 1026 live");
}

TEST_F(CatalogDescriptors, SufficeForManyMoreProcessesThanTheLimitHasFiles) {
  for (int i = 0; i < 300; ++i) start_providers("p" + std::to_string(i) + "-", 1);
  const auto said = at_limit(128, [this] {
    const auto before = open_descriptors();
    Catalog catalog = open();
    const std::string first = text_of(states_of(catalog));
    catalog.refresh();
    const bool few = open_descriptors() - before <= 128 / 4;
    return first + "; " + text_of(states_of(catalog)) + (few ? "; few" : "; many");
  });
  EXPECT_EQ(said, "300 live; 300 live; few");
}

TEST_F(CatalogDescriptors, TheLimitMakesNoProviderDead) {
  start_providers("p", 5);
  const pid_t mortal = start_providers("mortal", 1);
  Catalog before = open();
  const auto said = at_limit(64, [this, &before] {
    std::vector<UniqueFd> taken;
    for (;;) {
      UniqueFd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!next) break;
      taken.push_back(std::move(next));
    }
    std::string text;
    // With none free, one, two...: each step of attaching fails once.
    for (int free = 0; free < 6; ++free) {
      before.refresh();
      const auto fresh = Catalog::open({.directory = directory_.path()});
      auto states = fresh ? states_of(*fresh) : std::map<std::string, int>();
      if (states_of(before)["dead"] + states["dead"] > 0)
        text += "dead with " + std::to_string(free);
      if (states_of(before)["live"] != 6) text += "lost with " + std::to_string(free);
      taken.pop_back();
    }
    before.refresh();
    return text + text_of(states_of(before)) + ", fresh " + text_of(states_of(open()));
  });
  EXPECT_EQ(said, "6 live, fresh 6 live");
  end(mortal);
  before.refresh();  // the control: death is still seen
  EXPECT_EQ(state_of(before, "mortal0"), "dead");
}

TEST_F(CatalogDescriptors, BeyondTheBudgetOfAUserAreNotNeededToSeeDeath) {
  std::vector<pid_t> children;
  for (int i = 0; i < 20; ++i) {
    children.push_back(start_providers("p" + std::to_string(i) + "-", 1));
  }
  const auto said = at_limit(64, [&] {  // four pidfds for one user
    Catalog catalog = open();
    std::string text = text_of(states_of(catalog));
    for (const pid_t child : children) ::kill(child, SIGKILL);
    // They stay zombies: their parent is not this process.
    for (int i = 0; i < 10'000 && states_of(catalog)["dead"] < 20; ++i) {
      catalog.refresh();
      ::usleep(1000);
    }
    return text + ", then " + text_of(states_of(catalog));
  });
  EXPECT_EQ(said, "20 live, then 20 dead");
  for (const pid_t child : children) end(child);
}

}  // namespace
}  // namespace meterbank
