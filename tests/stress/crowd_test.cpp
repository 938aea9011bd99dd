// SPDX-License-Identifier: Apache-2.0
//
// Two thousand services, and five thousand in a campaign, each a process of its own with a keeper
// thread and a door, and a reader that may open 1,024 files: through procfs, and from another pid
// namespace through the doors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "limited_run.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using test::kFewFiles;
using test::run_with_few_files;
using test::runs_long;

constexpr std::uint32_t kInstances = 10;

std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count - 1;  // that of the iterator
}

// What a reader saw that may open kFewFiles files.
struct Seen {
  std::size_t live = 0, rows = 0;
  std::size_t files = 0;  // held at the end, beyond those at the beginning
  double seconds = 0;
};

class Crowd : public testing::Test {
 protected:
  ~Crowd() override {
    if (crowd_ <= 0) return;
    ::kill(-crowd_, SIGKILL);  // all of it: a process group
    while (::waitpid(-crowd_, nullptr, 0) > 0) {
    }
  }

  // False: no namespace may be made here.
  [[nodiscard]] bool start(std::size_t processes, bool in_namespace) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    crowd_ = ::fork();
    if (crowd_ == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (in_namespace && ::unshare(CLONE_NEWPID) != 0) ::_exit(1);
      // Process 1 of a pid namespace: all others end with it.
      if (in_namespace && ::fork() != 0) {
        for (;;) ::pause();
      }
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (std::size_t number = 1; number < processes; ++number) {
        if (::fork() == 0) be_provider(number, ready[1]);
      }
      be_provider(0, ready[1]);
    }
    ::setpgid(crowd_, crowd_);
    ::close(ready[1]);
    std::size_t started = 0;
    for (char byte = 0; started < processes && ::read(ready[0], &byte, 1) == 1 && byte == 'y';) {
      ++started;
    }
    ::close(ready[0]);
    return started == processes;
  }

  // As a child that may open kFewFiles files and cannot raise the limit.
  [[nodiscard]] Seen look() const {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit files{kFewFiles, kFewFiles};
      ::setrlimit(RLIMIT_NOFILE, &files);
      const Seen seen = look_here();
      static_cast<void>(!::write(ends[1], &seen, sizeof seen));
      ::_exit(0);
    }
    ::close(ends[1]);
    Seen seen;
    EXPECT_EQ(::read(ends[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
    ::close(ends[0]);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    std::cout << "  library: " << seen.live << " live, " << seen.rows << " instances, "
              << seen.files << " files, " << seen.seconds << " s\n";
    return seen;
  }

  // Looks again, some times: on a busy machine answers at doors come late, and a look leaves those
  // out for which it has no time left.
  template <typename Look, typename IsGood>
  static auto until(const Look& look, const IsGood& is_good) {
    auto seen = look();
    for (int again = 0; again < 20 && !is_good(seen); ++again) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      seen = look();
    }
    return seen;
  }

  // By the library and by the program.
  void expect_all() const {
    const Seen seen = until([this] { return look(); },
                            [this](const Seen& each) { return each.live == processes_; });
    EXPECT_EQ(seen.live, processes_);
    EXPECT_EQ(seen.rows, processes_ * kInstances);
    // One for a provider at most, and so few that others find room.
    EXPECT_LE(seen.files, std::min(processes_, kFewFiles / 16));

    const auto is_silent = [](const test::Outcome& run) { return run.errors.empty(); };
    // What it leaves out is said in few lines, and fails.
    const auto has_succeeded = [](const test::Outcome& run) {
      EXPECT_EQ(run.errors.empty(), run.code == 0) << run.errors;
      EXPECT_LE(std::count(run.errors.begin(), run.errors.end(), '\n'), 20) << run.errors;
      return run.code == 0;
    };
    const auto run = [this](std::vector<std::string> words) {
      return run_with_few_files(directory_.path(), std::move(words));
    };
    const auto listed = until(
        [&] {
          return run({"list", "--providers", "-f", "plain"});
        },
        is_silent);
    EXPECT_EQ(listed.code, 0);
    EXPECT_EQ(listed.errors, "");
    EXPECT_EQ(listed.lines, processes_);
    const auto got = until(
        [&] {
          return run({"get", "--raw", "--strict", "-f", "plain"});
        },
        has_succeeded);
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.errors, "");
    EXPECT_EQ(got.lines, processes_ * kInstances);
  }

  // The threads of five thousand keep two processors of some machines busy by waking once a second.
  const std::size_t processes_ = !runs_long() ? 200 : test::depth_factor() > 1 ? 5'000 : 2'000;
  test::TemporaryDirectory directory_{"/dev/shm"};

 private:
  [[noreturn]] void be_provider(std::size_t number, int ready) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr std::array kCounters{CounterSpec{
        .id = 1, .name = "Value", .symbol = "value", .type = CounterType::kLargeRawCount}};
    auto provider =
        Provider::create({.name = "p" + std::to_string(number), .directory = directory_.path()});
    std::vector<Instance> rows;
    if (provider) {
      const auto set =
          provider->add({.name = "Small Rows", .symbol = "small_rows", .counters = kCounters});
      for (std::uint32_t row = 0; set && row < kInstances; ++row) {
        auto instance = set->create_instance("r" + std::to_string(row));
        if (instance) rows.push_back(std::move(*instance));
      }
    }
    static_cast<void>(!::write(ready, rows.size() == kInstances ? "y" : "n", 1));
    for (;;) ::pause();
  }
  [[nodiscard]] Seen look_here() const {
    const std::size_t files = open_files();
    const auto begin = std::chrono::steady_clock::now();
    Seen seen;
    auto catalog = Catalog::open({.directory = directory_.path()});
    if (!catalog) return seen;
    catalog->refresh();
    seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (const auto& provider : catalog->providers()) {
      seen.live += provider->state == ProviderState::kLive ? 1U : 0U;
      for (const RegisteredSet& set : provider->sets) seen.rows += set.instances.size();
    }
    seen.files = open_files() - files;
    return seen;
  }

  pid_t crowd_ = -1;
};

TEST_F(Crowd, IsReadInFullWithin1024OpenFiles) {
  ASSERT_TRUE(start(processes_, false));
  expect_all();
}

TEST_F(Crowd, OfAnotherPidNamespaceIsReadThroughItsDoorsWithin1024OpenFiles) {
  if (!start(processes_, true)) GTEST_SKIP() << "no namespace may be made here";
  expect_all();
}

}  // namespace
}  // namespace meterbank
