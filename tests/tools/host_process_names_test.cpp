// SPDX-License-Identifier: Apache-2.0
//
// The names of the rows of Process.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/process_names.hpp"

namespace meterbank::host {
namespace {

struct Running {
  std::uint32_t pid;
  std::string_view program;
  std::uint64_t start_ticks = 1;
};

class ProcessNamesTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> round(const std::vector<Running>& processes) {
    std::vector<std::string> names;
    for (const Running& running : processes) {
      ProcessReading process;
      process.pid = running.pid;
      process.start_ticks = running.start_ticks;
      process.name.append(running.program);
      names.emplace_back(names_.name_of(process));
    }
    names_.end_round();
    return names;
  }

  using Names = std::vector<std::string>;
  ProcessNames names_;
};

TEST_F(ProcessNamesTest, HaveThePidOfTheSecondAndLaterProcessesOfAProgram) {
  EXPECT_EQ(round({{1, "init"}, {5, "sh"}, {7, "sh"}, {9, "sh"}}),
            (Names{"init", "sh", "sh:7", "sh:9"}));
}

TEST_F(ProcessNamesTest, StayWithAProcessWhenOthersEnd) {
  static_cast<void>(round({{5, "sh"}, {7, "sh"}, {9, "sh"}}));
  EXPECT_EQ(round({{7, "sh"}, {9, "sh"}}), (Names{"sh:7", "sh:9"}));
}

TEST_F(ProcessNamesTest, WithoutAPidAreTakenByTheNextProcessOnceTheyAreFree) {
  static_cast<void>(round({{5, "sh"}, {7, "sh"}}));
  EXPECT_EQ(round({{7, "sh"}, {11, "sh"}, {12, "sh"}}), (Names{"sh:7", "sh", "sh:12"}));
}

TEST_F(ProcessNamesTest, AreFreeOnceTheProcessOfTheLargestPidHasEnded) {
  static_cast<void>(round({{5, "sh"}, {9, "cat"}}));
  static_cast<void>(round({{5, "sh"}}));
  EXPECT_EQ(round({{5, "sh"}, {10, "cat"}}), (Names{"sh", "cat"}));
}

TEST_F(ProcessNamesTest, ChangeWhenAProcessBecomesAnotherProgram) {
  EXPECT_EQ(round({{5, "sh"}, {7, "sh"}}), (Names{"sh", "sh:7"}));
  EXPECT_EQ(round({{5, "ls"}, {7, "sh"}, {8, "sh"}}), (Names{"ls", "sh:7", "sh"}));
}

TEST_F(ProcessNamesTest, AreThoseOfANewProcessWhereAPidIsUsedAgain) {
  EXPECT_EQ(round({{5, "sh"}, {7, "sh"}}), (Names{"sh", "sh:7"}));
  EXPECT_EQ(round({{5, "cat", 2}, {7, "sh", 2}, {8, "sh", 3}}), (Names{"cat", "sh", "sh:8"}));
}

TEST_F(ProcessNamesTest, DifferInMoreThanCase) {
  EXPECT_EQ(round({{5, "Xorg"}, {7, "xorg"}}), (Names{"Xorg", "xorg:7"}));
  EXPECT_EQ(round({{7, "xorg"}, {8, "XORG"}}), (Names{"xorg:7", "XORG"}));
}

TEST_F(ProcessNamesTest, AreTextAndNeverEmpty) {
  EXPECT_EQ(round({{8, ""}, {9, "b\n"}}), (Names{":8", "b_"}));
}

TEST_F(ProcessNamesTest, AreUniqueWhateverComesAndGoes) {
  std::vector<Running> processes;
  std::uint32_t next = 1;
  for (int step = 0; step < 200; ++step) {
    for (int i = 0; i < 5; ++i) {
      const bool is_even = next % 2 == 0;
      processes.push_back({next++, is_even ? "even" : "odd"});
    }
    std::vector<Running> left;
    for (const Running& process : processes) {
      if ((process.pid * 7 + static_cast<std::uint32_t>(step)) % 9 != 0) left.push_back(process);
    }
    processes = std::move(left);
    Names names = round(processes);
    std::sort(names.begin(), names.end());
    ASSERT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << step;
  }
}

}  // namespace
}  // namespace meterbank::host
