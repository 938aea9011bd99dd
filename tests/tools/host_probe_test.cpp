// SPDX-License-Identifier: Apache-2.0
//
// The parsers of the probe on texts written by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/probe/cpu_text.hpp"
#include "host/probe/disk.hpp"
#include "host/probe/memory.hpp"
#include "host/probe/network.hpp"
#include "host/probe/number_scan.hpp"
#include "host/probe/process.hpp"
#include "host/probe/system.hpp"

namespace meterbank::host::host_probe_test {
namespace {

constexpr std::uint64_t kTicks = 100;
constexpr MachineUnits kUnits{.ticks_per_second = 100, .page_bytes = 4096};

TEST(NumberScan, TakesOnlyWholeUnsignedNumbersThatFit) {
  EXPECT_EQ(parse_u64("18446744073709551615"), std::uint64_t{18446744073709551615U});
  for (const char* const text : {"", "-1", "+1", "12kB", "18446744073709551616", " 1", "0x10"}) {
    EXPECT_EQ(parse_u64(text), std::nullopt) << text;
  }
}

TEST(NumberScan, ReadsFixedPointWithMissingAndSurplusDecimals) {
  EXPECT_EQ(parse_fixed("12.345", 2), std::uint64_t{1234});
  EXPECT_EQ(parse_fixed("12.3", 2), std::uint64_t{1230});
  EXPECT_EQ(parse_fixed("12", 2), std::uint64_t{1200});
  EXPECT_EQ(parse_fixed("12.x", 2), std::nullopt);
  EXPECT_EQ(parse_fixed("-0.5", 2), std::nullopt);
  EXPECT_EQ(parse_fixed(".5", 2), std::nullopt);
}

TEST(NumberScan, ConvertsTicksExactlyWhereThePeriodIsNotAWholeNumber) {
  EXPECT_EQ(ticks_to_100ns(1024, 1024), k100nsPerSecond);
  EXPECT_EQ(ticks_to_100ns(3, 300), std::uint64_t{100'000});
  EXPECT_EQ(ticks_to_100ns(~std::uint64_t{0}, 100), ~std::uint64_t{0});
  EXPECT_EQ(ticks_to_100ns(5, 0), std::uint64_t{0});
}

TEST(LineScanner, DoesNotTakeACutLineForAWholeOne) {
  LineScanner lines("one\n\ntwo\n123");
  std::string_view line;
  std::vector<std::string> seen;
  while (lines.next(line)) seen.emplace_back(line);
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "two"}));
}

TEST(FieldValues, TellsAZeroFromAnAbsentValue) {
  SystemValues values;
  values.set(SystemField::kRunnable, std::uint64_t{0});
  EXPECT_EQ(values.find(SystemField::kRunnable), std::uint64_t{0});
  EXPECT_EQ(values.find(SystemField::kBlocked), std::nullopt);
  EXPECT_EQ(values.present(), SystemValues::mask_of(SystemField::kRunnable));
}

TEST(StatParser, TakesRowsOfOldKernelsWithoutInventingTheMissingColumns) {
  CpuTable cpus;
  SystemValues system;
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\ncpu0 1 2 3 4\n", kTicks, cpus, system));
  ASSERT_EQ(cpus.rows().size(), 1U);
  const CpuValues& values = cpus.rows()[0].values;
  EXPECT_EQ(values.get(CpuField::kIdle100ns), 400'000U);
  EXPECT_FALSE(values.has(CpuField::kIowait100ns));
  EXPECT_EQ(user_100ns(values), 300'000U);
  EXPECT_EQ(privileged_100ns(values), 300'000U);
}

TEST(StatParser, RefusesRowsThatAreShortRepeatedOutOfOrderOrBeyondTheLimit) {
  CpuTable cpus;
  SystemValues system;
  const std::string_view text =
      "cpu1 1 2 3 4 5\ncpu1 9 9 9 9 9\ncpu0 1 1 1 1\ncpu2 1 2 3\ncpu3 1 -2 3 4\n"
      "cpu8192 1 2 3 4\ncpu99999999999 1 2 3 4\ncpux 1 2 3 4\ncpu4 1 2 3 4";
  ASSERT_TRUE(parse_stat(text, kTicks, cpus, system));
  ASSERT_EQ(cpus.rows().size(), 1U);
  EXPECT_EQ(cpus.rows()[0].index, 1U);
  EXPECT_EQ(cpus.rows()[0].values.get(CpuField::kUser100ns), 100'000U);
}

TEST(StatParser, SaysSoWhenThereIsNoProcessor) {
  CpuTable cpus;
  SystemValues system;
  EXPECT_FALSE(parse_stat("", kTicks, cpus, system));
  EXPECT_FALSE(parse_stat("ctxt 5\n", kTicks, cpus, system));
  EXPECT_EQ(system.get(SystemField::kContextSwitches), 5U);
}

TEST(StatParser, ReadsTheTotalAtTheHeadOfAMebibyteOfInterruptLines) {
  std::string text = "cpu0 1 2 3 4\nintr 77";
  while (text.size() < (std::size_t{1} << 20)) text += " 0 12345";
  text += "\nctxt 8\n";
  CpuTable cpus;
  SystemValues system;
  ASSERT_TRUE(parse_stat(text, kTicks, cpus, system));
  EXPECT_EQ(system.get(SystemField::kInterrupts), 77U);
  EXPECT_EQ(system.get(SystemField::kContextSwitches), 8U);
}

CpuTable table_of(std::initializer_list<std::uint32_t> indices) {
  CpuTable cpus;
  for (const std::uint32_t index : indices) cpus.append(index);
  return cpus;
}

TEST(InterruptsParser, MatchesColumnsByNumberAndLeavesMachineTotalsOut) {
  CpuTable cpus = table_of({0, 2});
  const std::string_view text =
      "      CPU0 CPU1 CPU2\n"
      "  9:     1   50    2  IO-APIC 9-fasteoi acpi\n"
      "LOC:   100  500  200  Local timer interrupts\n"
      "TLB:     7    7    7  TLB shootdowns\n"
      "ERR:     3\n"
      " bad line without a label\n"
      "MIS: 4\n";
  ASSERT_TRUE(parse_interrupts(text, cpus));
  EXPECT_EQ(cpus.rows()[0].values.get(CpuField::kInterrupts), 101U);
  EXPECT_EQ(cpus.rows()[1].values.get(CpuField::kInterrupts), 202U);
  EXPECT_EQ(cpus.rows()[1].values.get(CpuField::kClockInterrupts), 200U);
}

TEST(InterruptsParser, KeepsErrorTotalsOutOnAMachineWithOneProcessor) {
  CpuTable cpus = table_of({0});
  ASSERT_TRUE(parse_interrupts("  CPU0\nLOC: 5 x\nERR: 90\nMIS: 90\n", cpus));
  EXPECT_EQ(cpus.rows()[0].values.get(CpuField::kInterrupts), 5U);
}

TEST(InterruptsParser, LeavesFieldsAbsentWithoutAHeaderOrALocalTimer) {
  CpuTable cpus = table_of({0});
  EXPECT_FALSE(parse_interrupts("", cpus));
  EXPECT_FALSE(parse_interrupts("LOC: 5\n", cpus));
  EXPECT_TRUE(parse_interrupts("  CPU0\n 11: 5 GICv3 arch_timer\n", cpus));
  EXPECT_FALSE(cpus.rows()[0].values.has(CpuField::kClockInterrupts));
  EXPECT_EQ(cpus.rows()[0].values.get(CpuField::kInterrupts), 5U);
}

TEST(CpuTable, FindsWhateverTheHintSays) {
  CpuTable cpus = table_of({1, 3, 5, 7});
  for (std::size_t start = 0; start < 6; ++start) {
    for (std::uint32_t index = 0; index < 9; ++index) {
      std::size_t hint = start;
      const CpuReading* const row = cpus.find(index, hint);
      ASSERT_EQ(row != nullptr, index % 2 == 1 && index < 8) << index;
      if (row != nullptr) {
        EXPECT_EQ(row->index, index);
      }
    }
  }
}

TEST(CpuListParser, ReadsRangesAndStopsAtDamage) {
  std::vector<std::uint32_t> numbers;
  parse_cpu_list("0-2,5,7-8\n", 100, numbers);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2, 5, 7, 8}));
  parse_cpu_list("\n", 100, numbers);
  EXPECT_TRUE(numbers.empty());
  parse_cpu_list("3,2-1,9", 100, numbers);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{3}));
  parse_cpu_list("2-4294967295", 5, numbers);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{2, 3, 4}));
  parse_cpu_list("4294967295", 0xFFFFFFFF, numbers);
  EXPECT_TRUE(numbers.empty());
}

TEST(IdleStates, AreClassedByNameAndElseByPosition) {
  EXPECT_EQ(classify_idle_state("POLL", 1), IdleDepth::kPoll);
  EXPECT_EQ(classify_idle_state("C1E", 2), IdleDepth::kC1);
  EXPECT_EQ(classify_idle_state("C2_ACPI", 1), IdleDepth::kC2);
  EXPECT_EQ(classify_idle_state("C10", 3), IdleDepth::kC3);
  EXPECT_EQ(classify_idle_state("haltpoll idle", 1), IdleDepth::kC1);
  EXPECT_EQ(classify_idle_state("cpu-sleep-0", 2), IdleDepth::kC2);
  EXPECT_EQ(classify_idle_state("", 9), IdleDepth::kC3);
}

TEST(MeminfoParser, IgnoresOtherUnitsRepeatedKeysAndACutLastLine) {
  MemoryValues values;
  const std::string_view text =
      "MemTotal: 10 kB\nMemFree: 5 MB\nBuffers: x kB\nMemTotal: 99 kB\nCached: -3 kB\nDirty: 12 kB";
  ASSERT_TRUE(parse_meminfo(text, values));
  EXPECT_EQ(values.present(), MemoryValues::mask_of(MemoryField::kTotalBytes));
  EXPECT_EQ(values.get(MemoryField::kTotalBytes), 10240U);
  EXPECT_FALSE(parse_meminfo("nothing\nof: note\n", values));
}

TEST(LoadavgParser, TakesAllOrNothing) {
  SystemValues values;
  EXPECT_FALSE(parse_loadavg("0.10 0.20 0.30 4\n", values));
  EXPECT_FALSE(parse_loadavg("0.10 0.20\n", values));
  EXPECT_EQ(values.present(), 0U);
  ASSERT_TRUE(parse_loadavg("0.10 2.20 30.03 4/567 890\n", values));
  EXPECT_EQ(values.get(SystemField::kLoad15Hundredths), 3003U);
  EXPECT_EQ(values.get(SystemField::kThreads), 567U);
}

TEST(DiskLineParser, TakesTheElevenNumbersOfOldKernelsAndLeavesTheRestAbsent) {
  const auto disk = parse_disk_line("   8       0 sda 70 7 560 1 80 8 640 90 0 100 110");
  ASSERT_TRUE(disk.has_value());
  EXPECT_EQ(disk->values.get(DiskField::kReadBytes), 560U * 512U);
  EXPECT_EQ(disk->values.get(DiskField::kQueueTime100ns), 1'100'000U);
  EXPECT_FALSE(disk->values.has(DiskField::kDiscards));
}

TEST(DiskLineParser, LeavesANegativeInFlightCountOut) {
  const auto disk = parse_disk_line("8 0 sda 70 7 560 1 80 8 640 90 -1 100 110");
  ASSERT_TRUE(disk.has_value());
  EXPECT_FALSE(disk->values.has(DiskField::kInFlight));
  EXPECT_EQ(disk->values.get(DiskField::kBusyTime100ns), 1'000'000U);
}

TEST(DiskLineParser, RefusesShortLinesAndNamesThatCouldLeaveTheirFolder) {
  EXPECT_FALSE(parse_disk_line("").has_value());
  EXPECT_FALSE(parse_disk_line("8 0 sda 1 2 3").has_value());
  EXPECT_FALSE(parse_disk_line("8 0 .. 1 2 3 4 5 6 7 8 9 10 11").has_value());
  EXPECT_FALSE(parse_disk_line("-8 0 sda 1 2 3 4 5 6 7 8 9 10 11").has_value());
  const std::string long_name(33, 'x');
  EXPECT_FALSE(parse_disk_line("8 0 " + long_name + " 1 2 3 4 5 6 7 8 9 10 11").has_value());
}

TEST(InterfaceLineParser, SplitsAtTheLastColonAndWantsAllSixteenNumbers) {
  const auto alias = parse_interface_line(" eth0:1:9 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
  ASSERT_TRUE(alias.has_value());
  EXPECT_EQ(alias->name.view(), "eth0:1");
  EXPECT_EQ(alias->values.get(NetworkField::kReceivedBytes), 9U);
  EXPECT_EQ(alias->values.get(NetworkField::kSentCompressed), 16U);
  EXPECT_FALSE(parse_interface_line("eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15").has_value());
  EXPECT_FALSE(parse_interface_line("../x: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16").has_value());
  EXPECT_FALSE(parse_interface_line(" face |bytes packets").has_value());
}

std::string process_stat(std::string_view name) {
  return "9 (" + std::string(name) +
         ") S 1 9 9 0 -1 4194304 10 0 2 0 250 50 0 0 -51 -20 9 0 8640000 1048576 16 99 1\n";
}

TEST(ProcessStatParser, TakesAnyBytesInTheName) {
  for (const std::string_view name :
       {"sh", "", "a) R 1 (b", ")", "((", "x\ny", "\xFF\xFE", "tab\there"}) {
    ProcessReading process;
    ASSERT_TRUE(parse_process_stat(process_stat(name), kUnits, process)) << name;
    EXPECT_EQ(process.name.view(), name);
    EXPECT_EQ(process.state, 'S');
    EXPECT_EQ(process.start_ticks, 8'640'000U);
    EXPECT_EQ(process.priority, -51);
    EXPECT_EQ(process.nice, -20);
    EXPECT_EQ(process.values.get(ProcessField::kPageFaults), 12U);
    EXPECT_EQ(process.values.get(ProcessField::kUser100ns), 25'000'000U);
    EXPECT_EQ(process.values.get(ProcessField::kResidentBytes), 65536U);
  }
}

TEST(ProcessStatParser, RefusesEveryProperPrefixAndLeavesTheTargetAlone) {
  const std::string text = process_stat("sh");
  for (std::size_t size = 0; size < text.size(); ++size) {
    ProcessReading process;
    EXPECT_FALSE(parse_process_stat(text.substr(0, size), kUnits, process)) << size;
    EXPECT_EQ(process.values.present(), 0U);
    EXPECT_TRUE(process.name.view().empty());
  }
}

TEST(ProcessStatParser, RefusesANameNoKernelWouldGive) {
  ProcessReading process;
  EXPECT_FALSE(parse_process_stat(process_stat(std::string(65, 'x')), kUnits, process));
  EXPECT_FALSE(parse_process_stat(")(\n", kUnits, process));
}

TEST(DisplayableName, KeepsTextAndReplacesControlsAndBrokenSequences) {
  EXPECT_EQ(displayable_name("nginx: worker").view(), "nginx: worker");
  EXPECT_EQ(displayable_name("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80").view(),
            "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(displayable_name("a\nb\x7F").view(), "a_b_");
  EXPECT_EQ(displayable_name("\xC2\x85").view(), "_");
  EXPECT_EQ(displayable_name("\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80").view(), "_________");
  EXPECT_EQ(displayable_name("cut\xE2\x82").view(), "cut__");
}

TEST(DisplayableName, DoesNotLookBehindTheEndForTheRestOfACharacter) {
  const std::string_view character = "\xF0\x9F\x98\x80";
  for (std::size_t size = 1; size < character.size(); ++size) {
    // The rest lies right behind the view, where a reader without bounds would find it.
    EXPECT_EQ(displayable_name(character.substr(0, size)).view(), std::string(size, '_'));
  }
}

TEST(DisplayableName, EndsBeforeTheFirstCharacterThatDoesNotFit) {
  const std::string raw = std::string(62, 'x') + "\xE2\x82\xAC" + "y";
  EXPECT_EQ(displayable_name(raw).view(), std::string(62, 'x'));
}

}  // namespace
}  // namespace meterbank::host::host_probe_test
