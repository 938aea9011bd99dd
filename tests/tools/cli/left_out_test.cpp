// SPDX-License-Identifier: Apache-2.0
//
// What cannot be read is named, with its cause and what helps.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "../../support/bare_provider.hpp"
#include "../../support/changed_child.hpp"
#include "../../support/comes_true.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::cli {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kStranger = 65534;

class CliLeftOut : public CliTest {
 protected:
  ~CliLeftOut() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  // A process with a bakery.
  pid_t start_bakery() {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      auto provider = Provider::create_or_disabled(
          {.name = "bakery", .directory = directory_, .heartbeat = 20ms});
      const auto ovens = provider.add(kBakery);
      const auto oven = ovens->create_instance("left");
      static_cast<void>(!::write(ready[1], "r", 1));
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    children_.push_back(child);
    return child;
  }
  // As another user sees it.
  [[nodiscard]] test::ChildOutcome as_stranger(std::vector<std::string> arguments) const {
    return test::run_in_changed_child(
        [] { return ::setresuid(kStranger, kStranger, kStranger) == 0; },
        [&] {
          const auto outcome = meterbank(std::move(arguments));
          return test::ChildOutcome{outcome.code, outcome.err};
        });
  }

 private:
  std::vector<pid_t> children_;
};

TEST_F(CliLeftOut, IsAFieldInJson) {
  open_shop();
  start_bakery();

  const auto outcome = meterbank({"get", "-f", "json", "--raw", "--providers-max", "1"});

  const auto document = nlohmann::json::parse(outcome.out);
  ASSERT_TRUE(document.contains("left_out")) << outcome.out;
  const auto& note = document["left_out"][0];
  EXPECT_EQ(note["reason"], "providers-max");
  EXPECT_EQ(note["providers"], 1);
  EXPECT_EQ(note["parts"], 0);
  EXPECT_EQ(note["try"], "--providers-max 2");
  EXPECT_EQ(outcome.err.find("meterbank: left out 1 of 2 providers: "), 0U) << outcome.err;
  const auto whole = meterbank({"get", "-f", "json", "--raw"});
  EXPECT_FALSE(nlohmann::json::parse(whole.out).contains("left_out"));
}

TEST_F(CliLeftOut, IsAnErrorWithStrictAlone) {
  open_shop();
  start_bakery();
  for (const char* const verb : {"list", "get"}) {
    const std::vector<std::string> words{verb, "*", "--providers-max", "1"};
    auto strict = words;
    strict.emplace_back("--strict");
    EXPECT_EQ(meterbank(words).code, kExitDone) << verb;
    EXPECT_EQ(meterbank(strict).code, kExitEnvironment) << verb;
  }
}

TEST_F(CliLeftOut, IsSaidByWatchToo) {
  open_shop();
  start_bakery();
  const std::vector<std::string> words{"watch",           "*", "-n", "1", "-f", "plain",
                                       "--providers-max", "1"};
  auto strict = words;
  strict.emplace_back("--strict");

  const auto outcome = meterbank(words);

  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_EQ(outcome.err.find("meterbank: left out 1 of 2 providers: "), 0U) << outcome.err;
  EXPECT_EQ(meterbank(strict).code, kExitEnvironment);
}

TEST_F(CliLeftOut, IsSaidWhereNothingCanBeReadInPlaceOfTheAdviceToPublish) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0755);
  open_shop();
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    ::chmod(entry.path().c_str(), 0600);
  }
  for (const char* const verb : {"list", "get", "watch"}) {
    const auto outcome = as_stranger({verb});
    EXPECT_NE(outcome.text.find("1 records that cannot be opened"), std::string::npos)
        << verb << outcome.text;
    EXPECT_EQ(outcome.text.find("meterbank demo"), std::string::npos) << verb << outcome.text;
  }
}

TEST_F(CliLeftOut, ADirectoryIsJudgedByTheEffectiveUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0700);
  open_shop();
  const auto outcome = test::run_in_changed_child([] { return ::setresuid(kStranger, 0, 0) == 0; },
                                                  [this] {
                                                    const auto seen = meterbank({"doctor"});
                                                    return test::ChildOutcome{seen.code, seen.out};
                                                  });
  EXPECT_EQ(outcome.code, kExitDone) << outcome.text;
  EXPECT_EQ(outcome.text.find("may not be read"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find(", writable"), std::string::npos) << outcome.text;
}

TEST_F(CliLeftOut, IsExplainedByDoctor) {
  open_shop();

  const auto outcome = meterbank({"doctor", "--user-bytes-max", "4K"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.out.find("limit of one user (4K)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("try: --user-bytes-max 8K"), std::string::npos) << outcome.out;
}

TEST_F(CliLeftOut, RefusesSizesThatAreNone) {
  for (const char* const size :
       {"", "x", "M", "1MM", "-1", "1.5G", "99999999999T", "18446744073709551616"}) {
    const auto outcome = meterbank({"get", "*", std::string("--segment-bytes-max=") + size});
    EXPECT_EQ(outcome.code, kExitUsage) << size << outcome.err;
  }
}

TEST_F(CliLeftOut, AStoppedProviderFailsAStrictGetAndIsCalledStopped) {
  const pid_t bakery = start_bakery();
  ASSERT_EQ(meterbank({"get", "bakery", "--strict"}).code, kExitDone);
  ::kill(bakery, SIGSTOP);
  ASSERT_TRUE(test::comes_true([&] {
    return meterbank({"doctor"}).out.find("hung: stopped by a signal") != std::string::npos;
  }));

  const auto plain = meterbank({"get", "bakery"});
  const auto strict = meterbank({"get", "bakery", "--strict"});

  EXPECT_EQ(plain.code, kExitDone) << plain.err;
  EXPECT_EQ(strict.code, kExitNo);
  EXPECT_NE(strict.err.find("is hung: stopped by a signal"), std::string::npos) << strict.err;
  EXPECT_NE(strict.err.find("try: kill -CONT " + std::to_string(bakery)), std::string::npos);
}

TEST_F(CliLeftOut, AUserWhomTheProviderDoesNotAdmitIsToldSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0755);
  open_shop();

  const auto outcome = as_stranger({"get"});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.text;
  EXPECT_NE(outcome.text.find("does not admit this user"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("METERBANK_READERS=everyone"), std::string::npos) << outcome.text;
}

TEST_F(CliLeftOut, AProcessOfAnotherUserWithoutADoorIsCalledThat) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0755);
  const auto provider = *Provider::create(
      {.name = "shop", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)});

  const auto outcome = as_stranger({"get"});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.text;
  EXPECT_NE(outcome.text.find("another user (uid 0)"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("try: run as uid 0 or as root"), std::string::npos) << outcome.text;
}

TEST_F(CliLeftOut, OfOneReasonFewAreNamedAndTheOthersCounted) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0755);
  std::vector<std::unique_ptr<test::BareProvider>> providers;
  for (int number = 0; number < 30; ++number) {
    providers.push_back(std::make_unique<test::BareProvider>("shop" + std::to_string(number)));
    ASSERT_TRUE(write_record(directory_, providers.back()->record()));
  }

  const auto outcome = as_stranger({"get"});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.text;
  EXPECT_EQ(std::ranges::count(outcome.text, '\n'), 11) << outcome.text;
  EXPECT_NE(outcome.text.find("meterbank: and 20 more providers [DENIED]; try: meterbank list "
                              "--providers\n"),
            std::string::npos)
      << outcome.text;
}

TEST_F(CliLeftOut, AProcessThatIsNotDumpableAndHasNoDoorIsCalledThat) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ::chmod(directory_.c_str(), 0755);
  ASSERT_EQ(::chown(directory_.c_str(), kStranger, kStranger), 0);
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::setresuid(kStranger, kStranger, kStranger) != 0) ::_exit(1);
    const auto provider = Provider::create_or_disabled(
        {.name = "setuid", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)});
    static_cast<void>(!::write(ready[1], "r", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  const auto outcome = as_stranger({"get"});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.text;
  EXPECT_NE(outcome.text.find("is not dumpable"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("prctl(PR_SET_DUMPABLE, 1)"), std::string::npos) << outcome.text;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(CliLeftOut, SeveralDirectoriesAreReadTogetherAndAMissingOneIsNamed) {
  open_shop();
  const std::string other = directory_ + "/other";
  ASSERT_EQ(::mkdir(other.c_str(), 0755), 0);
  auto second = Provider::create({.name = "second", .directory = other});
  ASSERT_TRUE(second);
  const auto both = run_plainly({"list", "--providers", "--dir", directory_, "--dir", other});
  EXPECT_EQ(both.code, kExitDone) << both.err;
  EXPECT_NE(both.out.find("shop@"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("second@"), std::string::npos) << both.out;
  const auto part =
      run_plainly({"list", "--providers", "--dir", directory_ + ":" + other + "/missing"});
  EXPECT_EQ(part.code, kExitEnvironment);
  EXPECT_NE(part.err.find("/other/missing"), std::string::npos) << part.err;
  EXPECT_NE(part.out.find("shop@"), std::string::npos) << part.out;
}

TEST_F(CliLeftOut, CountsProvidersThatWhereDoesNotChoose) {
  open_shop();
  const auto own = "pid=" + std::to_string(::getpid());
  EXPECT_EQ(meterbank({"get", "shop_sales/*/stock", "--where", own}).code, kExitDone);
  const auto none = meterbank({"list", "--where", "pid=1*", "--where", "uid=none"});
  EXPECT_EQ(none.code, kExitNo);
  EXPECT_NE(none.err.find("none of 1 providers matches --where"), std::string::npos) << none.err;
  EXPECT_EQ(meterbank({"list", "--where", "colour=red"}).code, kExitUsage);
}

TEST_F(CliLeftOut, ProvidersHaveTheLabelsOfTheOutsideInJson) {
  open_shop();
  const auto outcome = meterbank({"list", "--providers", "-f", "json"});
  const auto document = nlohmann::json::parse(outcome.out);
  for (const char* key : {"pid_here", "container", "pod", "unit", "cgroup"}) {
    EXPECT_TRUE(document[0].contains(key)) << key;
  }
  EXPECT_EQ(document[0]["pid_here"], ::getpid());
}

}  // namespace
}  // namespace meterbank::cli
