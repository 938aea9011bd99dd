// SPDX-License-Identifier: Apache-2.0
//
// As many providers and instances as one machine has, read by the program under a limit of 1,024
// open files that it cannot raise: everything is there, or it says exactly what is not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "limited_run.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

using test::run_with_few_files;
using test::runs_long;

constexpr std::uint32_t kCounters = 10;

class WholeMachine : public testing::Test {
 protected:
  ~WholeMachine() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

  // A process with `providers` providers of `instances` instances of ten counters each.
  void start(const std::string& name, std::uint32_t providers, std::uint32_t instances) {
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      rlimit files{};
      ::getrlimit(RLIMIT_NOFILE, &files);
      files.rlim_cur = files.rlim_max;
      ::setrlimit(RLIMIT_NOFILE, &files);
      const bool good = publish(name, providers, instances);
      static_cast<void>(!::write(ready[1], good ? "y" : "n", 1));
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 'n';
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y') << name;
    ::close(ready[0]);
    children_.push_back(child);
  }

  test::TemporaryDirectory directory_{"/dev/shm"};

 private:
  bool publish(const std::string& name, std::uint32_t providers, std::uint32_t instances) const {
    static std::vector<std::string> names;
    static std::vector<CounterSpec> counters;
    names.reserve(kCounters);  // the specs point at them
    static std::vector<Provider> kept;
    static std::vector<Instance> rows;
    for (std::uint32_t i = 0; i < kCounters; ++i) names.push_back("c" + std::to_string(i));
    for (std::uint32_t i = 0; i < kCounters; ++i) {
      counters.push_back(
          {.id = i, .name = names[i], .symbol = names[i], .type = CounterType::kLargeRawCount});
    }
    const bool is_large = instances > 10;
    rows.reserve(std::size_t{providers} * instances);
    for (std::uint32_t number = 0; number < providers; ++number) {
      auto provider = Provider::create({.name = name + std::to_string(number),
                                        .directory = directory_.path(),
                                        .bytes_max = std::uint64_t{2} << 30,
                                        .instances_max = instances,
                                        .heartbeat = std::chrono::milliseconds(0)});
      if (!provider) {
        std::cerr << provider.error().message() << "\n";
        return false;
      }
      const auto set =
          provider->add(CountersetSpec{.name = is_large ? "Large Rows" : "Small Rows",
                                       .symbol = is_large ? "large_rows" : "small_rows",
                                       .counters = counters});
      if (!set) {
        std::cerr << set.error().message() << "\n";
        return false;
      }
      for (std::uint32_t row = 0; row < instances; ++row) {
        auto instance = set->create_instance("r" + std::to_string(row));
        if (!instance) {
          std::cerr << instance.error().message() << "\n";
          return false;
        }
        rows.push_back(std::move(*instance));
      }
      kept.push_back(std::move(*provider));
    }
    return true;
  }

  std::vector<pid_t> children_;
};

TEST_F(WholeMachine, IsListedAndReadInFullWithin1024OpenFiles) {
  const std::uint32_t processes = runs_long() ? 50 : 4, each = 100;
  const std::uint32_t large = runs_long() ? 1'000'000 : 20'000;
  for (std::uint32_t i = 0; i < processes; ++i) start("p" + std::to_string(i) + "-", each, 10);
  start("large", 1, large);
  const std::size_t providers = std::size_t{processes} * each + 1;

  const auto listed = run_with_few_files(directory_.path(), {"list", "--providers", "-f", "plain"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_EQ(listed.errors, "");
  EXPECT_EQ(listed.lines, providers);

  const auto got =
      run_with_few_files(directory_.path(), {"get", "--raw", "--strict", "-f", "plain"});
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.errors, "");
  EXPECT_EQ(got.lines, (providers - 1) * 10 * kCounters + std::size_t{large} * kCounters);
}

TEST_F(WholeMachine, SaysWhatALimitLeavesOut) {
  start("p", 20, 10);
  start("large", 1, 20'000);

  const auto few = run_with_few_files(
      directory_.path(), {"get", "--raw", "-f", "plain", "--providers-max", "5", "--strict"});
  EXPECT_EQ(few.code, 3);
  EXPECT_EQ(few.errors.find("meterbank: left out 16 of 21 providers: "), 0U) << few.errors;
  EXPECT_NE(few.errors.find("try: --providers-max 21"), std::string::npos) << few.errors;

  const auto small = run_with_few_files(
      directory_.path(),
      {"get", "--raw", "-f", "json", "--segment-bytes-max", "4M", "large_rows/*/c0"});
  EXPECT_EQ(small.code, 0);
  EXPECT_EQ(small.errors.find("meterbank: left out parts of 1 of 21 providers: "), 0U)
      << small.errors;
  EXPECT_NE(small.errors.find("try: --segment-bytes-max 8M"), std::string::npos) << small.errors;
  EXPECT_GT(small.lines, 1'000U);
  EXPECT_LT(small.lines, 20'000U);

  const auto one = run_with_few_files(
      directory_.path(), {"list", "--providers", "-f", "plain", "--segment-bytes-max", "64K",
                          "--user-bytes-max", "1M"});
  EXPECT_EQ(one.code, 3);
  EXPECT_EQ(one.errors.find("CORRUPT"), std::string::npos) << one.errors;
  EXPECT_EQ(one.errors.find("demo"), std::string::npos) << one.errors;
  EXPECT_NE(one.errors.find("--user-bytes-max 2M"), std::string::npos) << one.errors;
}

}  // namespace
}  // namespace meterbank
