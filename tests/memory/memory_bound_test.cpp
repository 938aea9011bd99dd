// SPDX-License-Identifier: Apache-2.0
//
// What readers take of memory beside providers that fill theirs with what costs readers most: at
// most twice what they map, and 32 MiB, whatever the shape. The providers have 16 MiB; with
// METERBANK_LONG they have 64 MiB, and 256 MiB in a campaign.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "../support/depth.hpp"
#include "../support/sanitizers.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

constexpr std::uint64_t kMebibyte = 1024 * 1024;

std::uint64_t mebibytes_published() {
  return test::runs_long() ? std::min<std::uint64_t>(64 * test::depth_factor(), 256) : 16;
}

std::uint64_t bound(std::uint64_t mapped) { return 2 * mapped + 32 * kMebibyte; }

// Private memory of a process; 0: it has ended.
std::uint64_t private_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;) {
    std::uint64_t kib = 0;
    if (word == "RssAnon:" && file >> kib) return kib * 1024;
  }
  return 0;
}

struct Outcome {
  int code = -1;
  std::uint64_t peak = 0;  // of its private memory
};

// Looks at the memory of a child until it ends.
Outcome watch(pid_t child) {
  Outcome outcome;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    outcome.peak = std::max(outcome.peak, private_bytes(child));
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Runs the program with what it prints going nowhere.
pid_t start(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  EXPECT_EQ(::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

// Providers that are there until this is destroyed.
class FullProviders {
 public:
  FullProviders(const std::string& directory, std::uint64_t mebibytes, const std::string& shape) {
    int to_child[2], from_child[2];
    EXPECT_EQ(::pipe2(to_child, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_child, O_CLOEXEC), 0);
    std::string size = std::to_string(mebibytes);
    std::array<const char*, 5> arguments{METERBANK_FULL_PROVIDER, directory.c_str(), size.c_str(),
                                         shape.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    EXPECT_EQ(::posix_spawn(&child_, arguments[0], &actions, nullptr,
                            const_cast<char**>(arguments.data()), environ),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    input_ = to_child[1];
    std::array<char, 64> said{};
    EXPECT_GT(::read(from_child[0], said.data(), said.size()), 0);
    EXPECT_EQ(std::string(said.data(), 5), "ready");
    ::close(from_child[0]);
  }
  FullProviders(const FullProviders&) = delete;
  FullProviders& operator=(const FullProviders&) = delete;
  ~FullProviders() {
    ::close(input_);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_ = -1;
  int input_ = -1;
};

class MemoryBound : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer's memory is not the program's";
    ::setenv("METERBANK_DIR", directory_.path().c_str(), 1);
    providers_.emplace(directory_.path(), mebibytes_published(), GetParam());
    const Catalog catalog = *Catalog::open({.directory = directory_.path()});
    for (const auto& provider : catalog.providers()) mapped_ += provider->bytes;
    EXPECT_GT(mapped_, mebibytes_published() * kMebibyte / 4);
  }
  void TearDown() override { ::unsetenv("METERBANK_DIR"); }
  [[nodiscard]] bool has_rows() const { return std::string(GetParam()) != "empty"; }
  void expect_bounded(const std::vector<std::string>& words) {
    std::vector<std::string> all{METERBANK_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = watch(start(all));
    std::string line;
    for (const std::string& word : words) line += word + " ";
    EXPECT_EQ(outcome.code, 0) << line;
    EXPECT_LE(outcome.peak, bound(mapped_)) << line;
    std::cout << "  " << GetParam() << ", " << line << "maps " << mapped_ / kMebibyte
              << " MiB and takes " << outcome.peak / kMebibyte << " MiB\n";
  }

  test::TemporaryDirectory directory_;
  std::optional<FullProviders> providers_;
  std::uint64_t mapped_ = 0;
};

INSTANTIATE_TEST_SUITE_P(OfEachShape, MemoryBound,
                         testing::Values("small", "sets", "names", "wide", "empty"),
                         [](const auto& made) { return std::string(made.param); });

TEST_P(MemoryBound, HoldsForEveryListing) {
  expect_bounded({"list"});
  expect_bounded({"list", "*"});
  expect_bounded({"list", "--instances"});
  expect_bounded({"list", "--instances", "-f", "json"});
}

TEST_P(MemoryBound, HoldsForGetInEveryFormat) {
  if (!has_rows()) GTEST_SKIP() << "there is nothing to get";
  expect_bounded({"get", "*", "-n", "2", "-i", "50ms"});
  for (const char* format : {"table", "plain", "csv", "jsonl", "json"}) {
    expect_bounded({"get", "*", "--raw", "-f", format});
  }
}

// The library alone: a catalog, a query, two samples that are cooked one by one, and once more
// after a change of the directory.
TEST_P(MemoryBound, HoldsForTheLibrary) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto catalog = Catalog::open({.directory = directory_.path()});
    if (!catalog) ::_exit(2);
    auto query = Query::compile(*catalog, {});
    if (!query) ::_exit(3);
    Sample older, newer;
    query->collect(older);
    query->collect(newer);
    std::size_t rows = 0;
    for (const Row& row : newer.since(older)) {
      for ([[maybe_unused]] const Value& value : row) ++rows;
    }
    if (rows == 0 && has_rows()) ::_exit(4);
    if (!catalog->refresh()) ::_exit(5);
    query->update(*catalog);
    ::_exit(0);
  }
  const Outcome outcome = watch(child);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LE(outcome.peak, bound(mapped_));
  std::cout << "  " << GetParam() << ", the library: maps " << mapped_ / kMebibyte
            << " MiB and takes " << outcome.peak / kMebibyte << " MiB\n";
}

// What runs out of memory says so in a line, whichever limit it meets.
TEST_P(MemoryBound, AProgramThatMayNotTakeSoMuchEndsInOrder) {
  bool any_failed = false, any_worked = false;
  for (std::uint64_t mebibytes = 24; mebibytes <= 1024; mebibytes += mebibytes / 4) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{mebibytes * kMebibyte, mebibytes * kMebibyte};
      ::setrlimit(RLIMIT_AS, &limit);
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      ::execl(METERBANK_PROGRAM, METERBANK_PROGRAM, "list", nullptr);
      ::_exit(127);
    }
    const Outcome outcome = watch(child);
    // 127: not even the program could be loaded.
    const bool in_order = outcome.code == 0 || outcome.code == 3 || outcome.code == 127;
    EXPECT_TRUE(in_order) << outcome.code << " with " << mebibytes << " MiB";
    any_failed = any_failed || outcome.code == 3;
    any_worked = any_worked || outcome.code == 0;
  }
  EXPECT_TRUE(any_failed);
  EXPECT_TRUE(any_worked);
}

// Control: a reader that keeps each row as it is handed out breaks the bound and is seen to.
TEST(MemoryBoundControl, SeesWhatAReaderTakes) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer's memory is not the program's";
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char> memory(64 * kMebibyte, 1);
    ::usleep(200'000);
    ::_exit(memory[kMebibyte] == 1 ? 0 : 1);
  }
  EXPECT_GT(watch(child).peak, 64 * kMebibyte);
}

}  // namespace
}  // namespace meterbank
