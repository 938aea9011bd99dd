// SPDX-License-Identifier: Apache-2.0
//
// The table of process_watch.hpp, row by row.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meterbank/shm/process_watch.hpp"

namespace meterbank {
namespace {

using Found = ProcessLook::Found;

constexpr std::uint64_t kHere = 4026531836, kElsewhere = 4026532001;
constexpr std::uint64_t kTimeHere = 4026531834, kTimeElsewhere = 4026532002;
constexpr std::array<std::uint64_t, 2> kBoot{1, 2}, kOtherBoot{3, 4}, kNoBoot{};
constexpr std::uint64_t kStart = 777;
constexpr std::array kAllFound{Found::kNone, Found::kRunning, Found::kEnded, Found::kHidden,
                               Found::kNotLooked};

PointerRecord record() {
  PointerRecord record;
  record.pid = 100;
  record.start_time = kStart;
  record.boot_id = kBoot;
  record.pid_namespace = kHere;
  record.time_namespace = kTimeHere;
  return record;
}
// As version 0.1 wrote it.
PointerRecord old_record() {
  PointerRecord old = record();
  old.pid_namespace = old.time_namespace = 0;
  return old;
}
Viewpoint viewpoint() {
  return {.boot_id = kBoot,
          .pid_namespace = kHere,
          .time_namespace = kTimeHere,
          .procfs = Viewpoint::Procfs::kOwnPids};
}
Life life(const PointerRecord& record, const Viewpoint& from, Found found,
          std::uint64_t start = kStart) {
  const Verdict verdict = judge(record, from, {.found = found, .start_time = start});
  const bool has_reason = verdict.life == Life::kForeign || verdict.life == Life::kNotLooked;
  EXPECT_EQ(verdict.why.empty(), !has_reason);
  return verdict.life;
}

TEST(ProcessVerdict, IsForeignForAReaderThatDoesNotKnowItsPidNamespace) {
  Viewpoint from = viewpoint();
  from.pid_namespace = 0;
  for (const Found found : kAllFound) {
    EXPECT_EQ(life(record(), from, found), Life::kForeign);
    EXPECT_EQ(life(old_record(), from, found), Life::kForeign);
  }
  EXPECT_FALSE(needs_look(record(), from));
}

TEST(ProcessVerdict, IsForeignFromAnotherPidNamespaceWhateverTheBootId) {
  Viewpoint from = viewpoint();
  from.pid_namespace = kElsewhere;
  for (const auto& boot : {kBoot, kOtherBoot, kNoBoot}) {
    from.boot_id = boot;
    for (const Found found : kAllFound) {
      EXPECT_EQ(life(record(), from, found), Life::kForeign);
      EXPECT_EQ(life(record(), from, found, kStart + 1), Life::kForeign);
    }
    EXPECT_FALSE(needs_look(record(), from));
  }
}

TEST(ProcessVerdict, OnARecordWithoutPidNamespaceTrustsAnExactMatchAlone) {
  const Viewpoint from = viewpoint();
  EXPECT_EQ(life(old_record(), from, Found::kRunning), Life::kAlive);
  EXPECT_EQ(life(old_record(), from, Found::kEnded), Life::kGone);
  EXPECT_EQ(life(old_record(), from, Found::kRunning, kStart + 1), Life::kForeign);
  EXPECT_EQ(life(old_record(), from, Found::kEnded, kStart + 1), Life::kForeign);
  EXPECT_EQ(life(old_record(), from, Found::kNone), Life::kForeign);
  EXPECT_EQ(life(old_record(), from, Found::kHidden), Life::kForeign);
  EXPECT_EQ(life(old_record(), from, Found::kNotLooked), Life::kNotLooked);
  PointerRecord other_boot = old_record();
  other_boot.boot_id = kOtherBoot;
  EXPECT_EQ(life(other_boot, from, Found::kRunning), Life::kForeign);
  EXPECT_EQ(life(other_boot, from, Found::kNone), Life::kForeign);
  PointerRecord without_start = old_record();
  without_start.start_time = 0;
  EXPECT_EQ(life(without_start, from, Found::kRunning, 0), Life::kForeign);
}

// After a reboot no process has the pid or the start time of before. A service in a container may
// see another boot id than its readers beside it.
TEST(ProcessVerdict, FollowsTheFindingsInTheSamePidNamespaceWhateverTheBootId) {
  const Viewpoint from = viewpoint();
  for (const auto& boot : {kBoot, kOtherBoot, kNoBoot}) {
    PointerRecord here = record();
    here.boot_id = boot;
    EXPECT_TRUE(needs_look(here, from));
    EXPECT_EQ(life(here, from, Found::kNone), Life::kGone);
    EXPECT_EQ(life(here, from, Found::kNotLooked), Life::kNotLooked);
    EXPECT_EQ(life(here, from, Found::kHidden), Life::kForeign);
    EXPECT_EQ(life(here, from, Found::kRunning), Life::kAlive);
    EXPECT_EQ(life(here, from, Found::kEnded), Life::kGone);
    EXPECT_EQ(life(here, from, Found::kRunning, kStart + 1), Life::kGone);
    EXPECT_EQ(life(here, from, Found::kEnded, kStart + 1), Life::kGone);
  }
}

TEST(ProcessVerdict, DoesNotCompareStartTimesThatAreMissingOrOfAnotherTimeNamespace) {
  const Viewpoint from = viewpoint();
  PointerRecord without_start = record();
  without_start.start_time = 0;
  PointerRecord shifted = record();
  shifted.time_namespace = kTimeElsewhere;
  PointerRecord unknown_time = record();
  unknown_time.time_namespace = 0;
  for (const PointerRecord& each : {without_start, shifted, unknown_time}) {
    for (const Found found : {Found::kRunning, Found::kEnded}) {
      EXPECT_EQ(life(each, from, found), Life::kForeign);
      EXPECT_EQ(life(each, from, found, 0), Life::kForeign);
    }
    EXPECT_EQ(life(each, from, Found::kNone), Life::kGone);  // no such pid needs no start time
  }
}

TEST(ProcessLook, FindsThisProcessAndNoProcessOfAnImpossiblePid) {
  const Viewpoint here = Viewpoint::of_this_process();
  ASSERT_TRUE(here.is_complete());
  const auto self = look_at_process(static_cast<std::uint32_t>(::getpid()), here);
  EXPECT_EQ(self.found, Found::kRunning);
  EXPECT_EQ(self.start_time, own_start_time());
  for (const std::uint32_t pid : {0U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(look_at_process(pid, here).found, Found::kNone) << pid;
  }
}

TEST(ProcessLook, TellsAZombieFromARunningProcess) {
  const Viewpoint here = Viewpoint::of_this_process();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(look_at_process(static_cast<std::uint32_t>(child), here).found, Found::kEnded);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(look_at_process(static_cast<std::uint32_t>(child), here).found, Found::kNone);
}

TEST(ProcessLook, TakesNothingFromAProcfsOfAnotherPidNamespace) {
  Viewpoint here = Viewpoint::of_this_process();
  const auto self = static_cast<std::uint32_t>(::getpid());
  here.procfs = Viewpoint::Procfs::kOtherPids;
  EXPECT_EQ(look_at_process(self, here).found, Found::kHidden);
  EXPECT_EQ(look_at_process(0x7fffffff, here).found, Found::kNone);
  here.procfs = Viewpoint::Procfs::kNotLooked;
  EXPECT_EQ(look_at_process(self, here).found, Found::kNotLooked);
  EXPECT_EQ(look_at_process(0x7fffffff, here).found, Found::kNone);
}

}  // namespace
}  // namespace meterbank
