// SPDX-License-Identifier: Apache-2.0
//
// What PerfQueryCounterData gives, by the rows of docs/windows-compatibility.md.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stop_token>
#include <thread>

#include "meterbank/perflib/scan_interval.hpp"
#include "perf_fixture.hpp"

namespace meterbank::test::read_rules_test {
namespace {

constexpr ULONG kInstanceNotFound = ERROR_WMI_INSTANCE_NOT_FOUND;

using Numbers = std::map<std::uint32_t, std::uint64_t>;

class PerfRead : public WavesTest {};

TEST_F(PerfRead, ReportsAnAbsentInstanceAndReadsItWhenItAppears) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Giant Wave", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].status, kInstanceNotFound);
  Instance giant = *geometric_.create_instance("Giant Wave");
  giant.set(0, 7);
  auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].status, kSuccess);
  EXPECT_EQ(blocks[0].rows, (Rows{{"", {{0, 7}}}}));
  { const Instance ended = std::move(giant); }
  EXPECT_EQ(seen(handle)[0].status, kInstanceNotFound);
}

TEST_F(PerfRead, ReadsAProviderThatStartsLater) {
  set_scan_interval(std::chrono::nanoseconds(0));
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows.size(), 3U);
  Provider other = provider("more waves");
  const Registration set = *other.add(kGeometric);
  const Instance wave = *set.create_instance("Other Wave");
  EXPECT_EQ(seen(handle)[0].rows.size(), 4U);
  set_scan_interval(std::chrono::seconds(1));
}

TEST_F(PerfRead, ChoosesTheShapeByTheQueryNotByTheRowsFound) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Small Wave", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Small Wave"}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Small*", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Small*"}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"None", .counter = 1}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 5U);
  EXPECT_EQ(static_cast<int>(blocks[0].shape), PERF_SINGLE_COUNTER);
  EXPECT_EQ(static_cast<int>(blocks[1].shape), PERF_MULTIPLE_COUNTERS);
  EXPECT_EQ(static_cast<int>(blocks[2].shape), PERF_MULTIPLE_INSTANCES);
  EXPECT_EQ(static_cast<int>(blocks[3].shape), PERF_COUNTERSET);
  EXPECT_EQ(static_cast<int>(blocks[4].shape), PERF_ERROR_RETURN);
  EXPECT_EQ(blocks[2].rows.size(), 1U);
}

TEST_F(PerfRead, ReadsBasesWithTheirNumerators) {
  static constexpr std::array kCounters{CounterSpec{.id = 9,
                                                    .name = "Share",
                                                    .symbol = "share",
                                                    .type = CounterType::kAverageBulk,
                                                    .base = 10},
                                        CounterSpec{.id = 10, .type = CounterType::kAverageBase}};
  const Registration set =
      *provider_.add({.name = "Bases", .symbol = "bases", .counters = kCounters});
  Instance row = *set.create_instance("row");
  row.set(0, 5);
  row.set(1, 0x1'0000'0007);
  Handle handle;
  const Guid guid = Guid::from_name("waves", "Bases");
  ASSERT_EQ(handle.add({guid, u"*"}), kSuccess);
  ASSERT_EQ(handle.add({guid, u"row", 10}), kSuccess);
  const auto blocks = seen(handle);
  // A 32-bit value has 32 bits, whatever its writer keeps above them.
  EXPECT_EQ(blocks[0].rows, (Rows{{"row", {{9, 5}, {10, 7}}}}));
  EXPECT_EQ(blocks[1].rows, (Rows{{"", {{0, 7}}}}));
}

TEST_F(PerfRead, StampsTheResultWithTheClocksOfWindows) {
  const Handle handle;
  PERF_DATA_HEADER first;
  PERF_DATA_HEADER second;
  FILETIME now;
  LARGE_INTEGER frequency;
  LARGE_INTEGER count;
  DWORD needed = 0;
  ASSERT_EQ(PerfQueryCounterData(handle.get(), &first, sizeof first, &needed), kSuccess);
  GetSystemTimeAsFileTime(&now);
  QueryPerformanceCounter(&count);
  ASSERT_EQ(PerfQueryCounterData(handle.get(), &second, sizeof second, &needed), kSuccess);
  QueryPerformanceFrequency(&frequency);
  EXPECT_EQ(first.PerfFreq, frequency.QuadPart);
  EXPECT_EQ(second.PerfFreq, first.PerfFreq);
  EXPECT_LE(first.PerfTimeStamp, count.QuadPart);
  EXPECT_LE(count.QuadPart, second.PerfTimeStamp);
  const LONGLONG between = static_cast<LONGLONG>(now.dwHighDateTime) << 32 | now.dwLowDateTime;
  EXPECT_LE(first.PerfTime100NSec, between);
  EXPECT_LE(between, second.PerfTime100NSec);
  FILETIME of_parts;
  ASSERT_TRUE(SystemTimeToFileTime(&first.SystemTime, &of_parts));
  const LONGLONG parts =
      static_cast<LONGLONG>(of_parts.dwHighDateTime) << 32 | of_parts.dwLowDateTime;
  EXPECT_EQ(parts, first.PerfTime100NSec / 10'000 * 10'000);
}

TEST_F(PerfRead, AsksForMoreRoomWhenRowsWereAddedInBetween) {
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  DWORD needed = 0;
  ASSERT_EQ(PerfQueryCounterData(handle.get(), nullptr, 0, &needed), kTooSmall);
  EXPECT_EQ(needed, 216U);
  Bytes bytes(needed, std::byte{0xee});
  const Instance added = *geometric_.create_instance("Added Wave");
  const Bytes before = bytes;
  auto* const block = reinterpret_cast<PPERF_DATA_HEADER>(bytes.data());
  EXPECT_EQ(PerfQueryCounterData(handle.get(), block, 216, &needed), kTooSmall);
  EXPECT_EQ(needed, 264U);
  EXPECT_EQ(bytes, before);  // nothing was stored
  EXPECT_EQ(handle.read().size(), 264U);
}

TEST_F(PerfRead, StoresNothingWhereOneByteIsMissingAndNothingBehindTheEnd) {
  Handle handle;
  ASSERT_EQ(handle.add({}), kSuccess);
  DWORD needed = 0;
  Bytes bytes(281, std::byte{0xee});
  auto* const block = reinterpret_cast<PPERF_DATA_HEADER>(bytes.data());
  EXPECT_EQ(PerfQueryCounterData(handle.get(), block, 279, &needed), kTooSmall);
  EXPECT_EQ(bytes, Bytes(281, std::byte{0xee}));
  EXPECT_EQ(PerfQueryCounterData(handle.get(), block, 280, &needed), kSuccess);
  EXPECT_EQ(bytes[280], std::byte{0xee});
  EXPECT_EQ(PerfQueryCounterInfo(handle.get(), as_identifiers(bytes), 47, &needed), kTooSmall);
  EXPECT_EQ(needed, 48U);
}

TEST_F(PerfRead, LosesOneBlockAndKeepsTheOthers) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Small Wave", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Medium Wave", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Large Wave", .counter = 1}), kSuccess);
  waves_.erase(waves_.begin() + 1);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].rows, (Rows{{"", {{0, 11}}}}));
  EXPECT_EQ(blocks[1].status, kInstanceNotFound);
  EXPECT_EQ(blocks[2].rows, (Rows{{"", {{0, 31}}}}));
}

TEST_F(PerfRead, HasAnEmptyListOfRowsWhileAProviderLivesAndAnErrorAfterwards) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*"}), kSuccess);
  waves_.clear();
  auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].status, kSuccess);
  EXPECT_EQ(static_cast<int>(blocks[0].shape), PERF_COUNTERSET);
  EXPECT_TRUE(blocks[0].rows.empty());
  { const Provider ended = std::move(provider_); }
  blocks = seen(handle);
  EXPECT_EQ(blocks[0].status, kInstanceNotFound);
}

TEST_F(PerfRead, LosesTheRowsOfAProviderThatWasKilled) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // With a heartbeat, so that its end shows in memory.
    auto other = *Provider::create({.name = "victim", .directory = directory_.path()});
    const auto set = other.add(kGeometric);
    const auto wave = set->create_instance("Victim");
    for (;;) ::pause();
  }
  ASSERT_GT(pid, 0);
  Handle handle;
  const auto wait_for = [&](std::size_t rows) {
    for (int turn = 0; turn < 2000; ++turn) {
      // A look at the directory each time: adding looks.
      handle.remove({.counter = 1});
      EXPECT_EQ(handle.add({.counter = 1}), kSuccess);
      if (seen(handle)[0].rows.size() == rows) return true;
      ::usleep(5000);
    }
    return false;
  };
  EXPECT_TRUE(wait_for(4));
  ::kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(seen(handle)[0].rows.size(), 3U);
}

TEST_F(PerfRead, MergesProvidersOfOneSetAndKeepsRowsOfOneName) {
  Provider other = provider("more waves");
  const Registration set = *other.add(kGeometric);
  Instance small = *set.create_instance("Small Wave");
  small.set(0, 500);
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Small Wave", .counter = 1}), kSuccess);
  const auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].rows.size(), 4U);
  EXPECT_EQ(blocks[0].rows.count("Small Wave"), 2U);
  EXPECT_EQ(blocks[1].rows, (Rows{{"", {{0, 11}}}}));  // one row fits; it is the first one
}

TEST_F(PerfRead, RefusesToChooseBetweenTwoRowsOfASingleInstance) {
  Provider other = provider("more waves");
  const Registration set = *other.add(kTrigonometric);
  Handle handle;
  ASSERT_EQ(handle.add({kTrigonometric.guid, u"", 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].status, kSuccess);
  const Instance second = *set.create_instance("");
  EXPECT_EQ(handle.add({kTrigonometric.guid, u"", 2}), kSuccess);
  EXPECT_EQ(seen(handle)[0].status, static_cast<ULONG>(ERROR_WMI_INVALID_REGINFO));
}

TEST_F(PerfRead, GivesAColumnWithoutBytesWhereAProviderLacksTheCounter) {
  Provider other = provider("older waves");
  CountersetSpec older = kGeometric;
  older.counters = std::span(kGeometricCounters).first(1);
  const Registration set = *other.add(older);
  Instance row = *set.create_instance("Older Wave");
  row.set(0, 3);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*"}), kSuccess);
  const auto rows = seen(handle)[0].rows;
  EXPECT_EQ(rows.find("Older Wave")->second, (Numbers{{1, 3}}));
  EXPECT_EQ(rows.find("Small Wave")->second, (Numbers{{1, 11}, {2, 12}}));
}

TEST_F(PerfRead, AggregatesASetThatSaysSo) {
  CountersetSpec spec = kGeometric;
  spec.name = "Aggregated";
  spec.symbol = "aggregated";
  spec.guid = {};
  spec.instances = InstanceKind::kMultipleAggregate;
  const Registration set = *provider_.add(spec);
  Instance one = *set.create_instance("one");
  Instance two = *set.create_instance("two");
  one.set(0, 5);
  two.set(0, 6);
  one.set(1, 50);
  two.set(1, 60);
  Handle handle;
  const Guid guid = Guid::from_name("waves", "Aggregated");
  ASSERT_EQ(handle.add({guid, u"*"}), kSuccess);
  ASSERT_EQ(handle.add({guid, u"_total", 2}), kSuccess);
  ASSERT_EQ(handle.add({guid, u"o*", 1}), kSuccess);
  const auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].rows, (Rows{{"_Total", {{1, 11}, {2, 60}}},
                                  {"one", {{1, 5}, {2, 50}}},
                                  {"two", {{1, 6}, {2, 60}}}}));
  EXPECT_EQ(blocks[1].rows, (Rows{{"", {{0, 60}}}}));
  EXPECT_EQ(blocks[2].rows, (Rows{{"one", {{0, 5}}}}));
}

TEST_F(PerfRead, GoesOnCountingProvidersThatAreGoneWhereTheSetKeepsHistory) {
  CountersetSpec spec = kGeometric;
  spec.name = "Remembered";
  spec.symbol = "remembered";
  spec.guid = {};
  spec.instances = InstanceKind::kGlobalAggregateHistory;
  const Guid guid = Guid::from_name("waves", "Remembered");
  spec.guid = guid;
  const Registration set = *provider_.add(spec);
  Instance here = *set.create_instance("");
  here.set(0, 5);
  Handle handle;
  std::optional<Provider> other = *Provider::create({.name = "other"});
  {
    const Registration theirs = *other->add(spec);
    Instance there = *theirs.create_instance("");
    there.set(0, 6);
    ASSERT_EQ(handle.add({guid, u"", 1}), kSuccess);
    EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 11}}}}));
  }
  other.reset();
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 11}}}}));
  here.set(0, 7);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 13}}}}));
}

TEST_F(PerfRead, ReadsWithoutResetting) {
  Handle first;
  Handle second;
  ASSERT_EQ(first.add({.counter = 1}), kSuccess);
  ASSERT_EQ(second.add({.counter = 1}), kSuccess);
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    waves_[0].add(0, turn);
    static_cast<void>(first.read());
  }
  EXPECT_EQ(seen(first)[0].rows, seen(second)[0].rows);
  EXPECT_EQ(seen(first)[0].rows.find("Small Wave")->second.at(0), 11U + 45U);
}

TEST_F(PerfRead, ServesThreadsOfOneHandleInTurn) {
  Handle handle;
  ASSERT_EQ(handle.add({}), kSuccess);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Bytes bytes(280);
      auto* const block = reinterpret_cast<PPERF_DATA_HEADER>(bytes.data());
      for (int turn = 0; turn < 2000; ++turn) {
        DWORD needed = 0;
        EXPECT_EQ(PerfQueryCounterData(handle.get(), block, 280, &needed), kSuccess);
        EXPECT_EQ(check_result(bytes), BlockFault::kNone);
      }
    });
  }
  for (int turn = 0; turn < 2000; ++turn) {
    waves_[0].add(0, 1);
    waves_[1].add(1, 1);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PerfRead, NeverMixesTwoCommitsOfARow) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Small Wave"}), kSuccess);
  const std::jthread writer([&](const std::stop_token& stop) {
    for (std::uint64_t value = 1; !stop.stop_requested(); ++value) {
      waves_[0].update([value](Values& values) noexcept {
        values.set(0, value & 0xffffffff);
        values.set(1, value << 32 | (value & 0xffffffff));
      });
    }
  });
  int good = 0;
  while (good < 5000) {
    const auto block = seen(handle).front();
    if (block.status == static_cast<ULONG>(ERROR_RETRY)) continue;  // the writer outran the reader
    ASSERT_EQ(block.status, kSuccess);
    ASSERT_EQ(block.rows.size(), 1U);
    const auto& row = block.rows.begin()->second;
    // The first commit of the writer replaces values of another form.
    if (row.at(1) == 11 && row.at(2) == 12) continue;
    ++good;
    ASSERT_EQ(row.at(1), row.at(2) & 0xffffffff);
    ASSERT_EQ(row.at(2) >> 32, row.at(2) & 0xffffffff);
  }
}

TEST_F(PerfRead, FollowsASetThatIsRegisteredAnewWithOtherCounters) {
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 2}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows.size(), 3U);
  waves_.clear();
  geometric_.close();
  EXPECT_EQ(seen(handle)[0].status, kInstanceNotFound);
  CountersetSpec other = kGeometric;
  other.counters = std::span(kGeometricCounters).first(1);
  const auto again = provider_.add(other);
  ASSERT_TRUE(again) << again.error().message();
  const Instance wave = *again->create_instance("Small Wave");
  EXPECT_EQ(seen(handle)[0].status, static_cast<ULONG>(ERROR_NOT_FOUND));
  EXPECT_EQ(handle.add({.counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[1].rows.size(), 1U);
}

TEST_F(PerfRead, CopiesAllOfASetWhereManyNamesAreAskedFor) {
  std::vector<Instance> rows;
  Handle handle;
  for (int index = 0; index < 100; ++index) {
    rows.push_back(*geometric_.create_instance("row" + std::to_string(index)));
    rows.back().set(0, static_cast<std::uint64_t>(index));
    std::u16string name = u"row";
    for (const char c : std::to_string(index)) name += static_cast<char16_t>(c);
    ASSERT_EQ(handle.add({.pattern = name, .counter = 1}), kSuccess);
  }
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 100U);
  for (std::size_t index = 0; index < 100; ++index) {
    EXPECT_EQ(blocks[index].rows, (Rows{{"", {{0, index}}}}));
  }
}

}  // namespace
}  // namespace meterbank::test::read_rules_test
