// SPDX-License-Identifier: Apache-2.0
//
// The readers of the probe over a made-up machine with four nodes, and over the running one.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "../support/allocation_count.hpp"
#include "host/probe/probe.hpp"
#include "host_tree.hpp"

namespace meterbank::host {
namespace {

constexpr std::uint64_t kTick = 100'000;  // one hundredth of a second in units of 100 ns
constexpr std::uint64_t kKibibyte = 1024;

ProbeOptions options_for(const HostTree& tree) {
  ProbeOptions options;
  options.root = tree.root();
  options.units = {.ticks_per_second = 100, .page_bytes = 4096};
  return options;
}

const CpuReading* find_cpu(const HostProbe& probe, std::uint32_t index) {
  for (const CpuReading& cpu : probe.cpu().cpus()) {
    if (cpu.index == index) return &cpu;
  }
  return nullptr;
}

const ProcessReading* find_process(const HostProbe& probe, std::uint32_t pid) {
  for (const ProcessReading& process : probe.processes().processes()) {
    if (process.pid == pid) return &process;
  }
  return nullptr;
}

const DiskReading* find_disk(const HostProbe& probe, std::string_view name) {
  for (const DiskReading& disk : probe.disks().disks()) {
    if (disk.name.view() == name) return &disk;
  }
  return nullptr;
}

class HostProbeTree : public testing::Test {
 protected:
  HostTree tree_;
  HostProbe probe_{options_for(tree_)};
};

TEST_F(HostProbeTree, ReadsEveryProcessorOfTheFourNodes) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  ASSERT_EQ(probe_.cpu().cpus().size(), 7U);
  const CpuReading* const cpu = find_cpu(probe_, 6);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->node, 3U);
  EXPECT_EQ(cpu->values.get(CpuField::kUser100ns), 10006 * kTick);
  EXPECT_EQ(idle_100ns(cpu->values), (100006 + 1006) * kTick);
  EXPECT_EQ(privileged_100ns(cpu->values), (1006 + 16 + 106) * kTick);
  EXPECT_EQ(cpu->values.get(CpuField::kSteal100ns), 6 * kTick);
  EXPECT_EQ(cpu->values.get(CpuField::kInterrupts), 6U + 1U + 6000U + 10U);
  EXPECT_EQ(cpu->values.get(CpuField::kClockInterrupts), 6000U);
  EXPECT_EQ(cpu->values.get(CpuField::kSoftirqs), 840U);
  EXPECT_EQ(cpu->values.get(CpuField::kC1Time100ns), (1006U + 2000U) * 10U);
  EXPECT_EQ(cpu->values.get(CpuField::kC1Entries), 106U + 206U);
  EXPECT_EQ(cpu->values.get(CpuField::kC3Time100ns), 300'060U);
  EXPECT_EQ(cpu->values.get(CpuField::kIdleEntries), 16U + 106U + 206U + 306U);
  EXPECT_EQ(cpu->values.get(CpuField::kFrequencyKhz), 2'406'000U);
  EXPECT_EQ(cpu->values.get(CpuField::kFrequencyMaximumKhz), 3'600'000U);
  EXPECT_EQ(cpu->values.get(CpuField::kFrequencyLimitKhz), 3'000'000U);
  EXPECT_FALSE(cpu->values.has(CpuField::kC2Time100ns));
  EXPECT_FALSE(find_cpu(probe_, 7)->values.has(CpuField::kFrequencyKhz));
}

TEST_F(HostProbeTree, FallsBackToCpuinfoWithoutCpufreq) {
  for (const char c : std::string_view("012346")) {
    tree_.remove("sys/devices/system/cpu/cpu" + std::string(1, c) + "/cpufreq");
  }
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_EQ(find_cpu(probe_, 7)->values.get(CpuField::kFrequencyKhz), 2'007'125U);
  EXPECT_FALSE(find_cpu(probe_, 7)->values.has(CpuField::kFrequencyMaximumKhz));
}

TEST_F(HostProbeTree, AveragesTimesAndAddsCountsInAGroup) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  const auto nodes = probe_.cpu().nodes();
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0].cpus(), 2U);
  EXPECT_EQ(nodes[0].values().get(CpuField::kUser100ns), 1'000'050'000U);
  EXPECT_EQ(nodes[0].values().get(CpuField::kInterrupts), 1048U + 2013U);
  EXPECT_EQ(nodes[2].cpus(), 1U);
  EXPECT_EQ(nodes[2].values().get(CpuField::kUser100ns), 10004 * kTick);
  EXPECT_EQ(probe_.cpu().machine().cpus(), 7U);
  // Six of the seven show a frequency: the mean is over those.
  EXPECT_EQ(probe_.cpu().machine().values().get(CpuField::kFrequencyKhz), 2'402'666U);
}

TEST_F(HostProbeTree, KeepsTotalsRisingWhileProcessorsComeAndGo) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  const std::uint64_t user_at_first = probe_.cpu().machine().values().get(CpuField::kUser100ns);
  const std::string all = tree_.read("proc/stat");
  const std::string line4 = "cpu4 10004 104 1004 100004 1004 14 104 4 50 0\n";
  const std::string line5 = "cpu5 9 9 9 9 9 9 9 9 9 9\n";

  // The only processor of node 2 leaves while another one gains six ticks.
  ASSERT_TRUE(tree_.replace("proc/stat", line4, ""));
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10000", "cpu0 10006"));
  tree_.write("sys/devices/system/node/node2/cpulist", "\n");
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_EQ(probe_.cpu().nodes()[2].cpus(), 0U);
  EXPECT_EQ(probe_.cpu().nodes()[2].values().get(CpuField::kUser100ns), 10004 * kTick);
  EXPECT_EQ(probe_.cpu().machine().cpus(), 6U);
  const std::uint64_t user_after_loss = probe_.cpu().machine().values().get(CpuField::kUser100ns);
  EXPECT_EQ(user_after_loss, user_at_first + kTick);

  // Two arrive; what they did before counts for no process.
  tree_.write("proc/stat", all);
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10000", "cpu0 10006"));
  ASSERT_TRUE(tree_.replace("proc/stat", line4, line4 + line5));
  tree_.write("sys/devices/system/node/node2/cpulist", "4-5\n");
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_EQ(probe_.cpu().machine().cpus(), 8U);
  EXPECT_EQ(find_cpu(probe_, 5)->node, 2U);
  EXPECT_EQ(probe_.cpu().nodes()[2].cpus(), 2U);
  EXPECT_EQ(probe_.cpu().machine().values().get(CpuField::kUser100ns), user_after_loss);
}

TEST_F(HostProbeTree, HoldsASmallStepBackOfIdleTimeAndShowsAReset) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  ASSERT_TRUE(tree_.replace("proc/stat", "100000 1000 10", "99990 999 10"));
  const std::uint64_t machine_idle = idle_100ns(probe_.cpu().machine().values());
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_EQ(idle_100ns(find_cpu(probe_, 0)->values), 101'000 * kTick);
  ASSERT_TRUE(tree_.replace("proc/stat", "99990 999 10", "50 5 10"));
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_EQ(idle_100ns(find_cpu(probe_, 0)->values), 55 * kTick);
  // The total gains nothing from a reset, and loses nothing.
  EXPECT_EQ(idle_100ns(probe_.cpu().machine().values()), machine_idle);
}

TEST_F(HostProbeTree, KeepsTheLastGoodSampleWhenStatIsUnreadable) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  for (const std::string_view damage : {"", "garbage\n", "cpu0 1 2"}) {
    tree_.write("proc/stat", damage);
    EXPECT_FALSE(probe_.sample_cpu_and_system());
    EXPECT_EQ(probe_.cpu().cpus().size(), 7U);
    EXPECT_EQ(probe_.system().get(SystemField::kContextSwitches), 9'876'543'210U);
  }
}

TEST_F(HostProbeTree, FindsTheDriverOfAProcessorThatAppearsBeforeIt) {
  const std::string state = tree_.read("sys/devices/system/cpu/cpu7/cpuidle/state1/name");
  tree_.remove("sys/devices/system/cpu/cpu7/cpuidle/state1/name");
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_FALSE(find_cpu(probe_, 7)->values.has(CpuField::kC1Time100ns));
  tree_.write("sys/devices/system/cpu/cpu7/cpuidle/state1/name", state);
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  EXPECT_TRUE(find_cpu(probe_, 7)->values.has(CpuField::kC1Time100ns));
}

TEST_F(HostProbeTree, ReadsTheSystemAndMemorySets) {
  ASSERT_TRUE(probe_.sample_cpu_and_system());
  ASSERT_TRUE(probe_.sample_memory());
  const SystemValues& system = probe_.system();
  EXPECT_EQ(system.get(SystemField::kInterrupts), 123'456'789U);
  EXPECT_EQ(system.get(SystemField::kForks), 424'242U);
  EXPECT_EQ(system.get(SystemField::kRunnable), 5U);
  EXPECT_EQ(system.get(SystemField::kBootUnix100ns), 17'000'000'000'000'000U);
  EXPECT_EQ(system.get(SystemField::kUptime100ns), 864'005'000'000U);
  EXPECT_EQ(system.get(SystemField::kThreads), 1234U);
  EXPECT_EQ(system.get(SystemField::kLoad1Hundredths), 125U);
  const MemoryValues& memory = probe_.memory().values();
  EXPECT_EQ(memory.get(MemoryField::kAvailableBytes), 90'000'000 * kKibibyte);
  EXPECT_EQ(memory.get(MemoryField::kActiveBytes), 40'000'000 * kKibibyte);
  EXPECT_EQ(memory.get(MemoryField::kCommittedBytes), 45'000'000 * kKibibyte);
  EXPECT_EQ(memory.get(MemoryField::kPagedInBytes), 1'024'000U);
  EXPECT_EQ(memory.get(MemoryField::kReclaimedPages), 123U);
  EXPECT_EQ(memory.get(MemoryField::kRefaultedPages), 18U);
  EXPECT_EQ(memory.present(), (std::uint64_t{1} << MemoryValues::kFields) - 1);
}

TEST_F(HostProbeTree, ListsPhysicalDisksOnly) {
  ASSERT_TRUE(probe_.sample_disks());
  ASSERT_EQ(probe_.disks().disks().size(), 3U);
  const DiskReading* const disk = find_disk(probe_, "nvme0n1");
  ASSERT_NE(disk, nullptr);
  EXPECT_EQ(disk->life, 9U);
  EXPECT_EQ(disk->values.get(DiskField::kWriteBytes), 16000U * 512U);
  EXPECT_EQ(disk->values.get(DiskField::kFlushTime100ns), 300'000U);
  EXPECT_NE(find_disk(probe_, "sda"), nullptr);
  EXPECT_NE(find_disk(probe_, "cciss/c0d0"), nullptr);
}

TEST_F(HostProbeTree, CarriesDiskTimesOverThe32BitWrapButNotOverADeviceChange) {
  ASSERT_TRUE(probe_.sample_disks());
  ASSERT_TRUE(tree_.replace("proc/diskstats", "sda 70 7 560 4294967000", "sda 71 7 568 200"));
  ASSERT_TRUE(probe_.sample_disks());
  const std::uint64_t wrapped_ms = (std::uint64_t{1} << 32) + 200;
  EXPECT_EQ(find_disk(probe_, "sda")->values.get(DiskField::kReadTime100ns), wrapped_ms * 10'000);
  ASSERT_TRUE(probe_.sample_disks());
  EXPECT_EQ(find_disk(probe_, "sda")->values.get(DiskField::kReadTime100ns), wrapped_ms * 10'000);
  tree_.write("sys/block/sda/diskseq", "4\n");
  ASSERT_TRUE(probe_.sample_disks());
  EXPECT_EQ(find_disk(probe_, "sda")->values.get(DiskField::kReadTime100ns), 2'000'000U);
}

TEST_F(HostProbeTree, ReadsInterfacesAndLeavesAnUnknownSpeedOut) {
  ASSERT_TRUE(probe_.sample_network());
  const auto interfaces = probe_.network().interfaces();
  ASSERT_EQ(interfaces.size(), 3U);
  EXPECT_EQ(interfaces[1].name.view(), "eth0");
  EXPECT_EQ(interfaces[1].life, 2U);
  EXPECT_EQ(interfaces[1].values.get(NetworkField::kReceivedBytes), ~std::uint64_t{0});
  EXPECT_EQ(interfaces[1].values.get(NetworkField::kSentBytes), 7777U);
  EXPECT_EQ(interfaces[1].values.get(NetworkField::kBitsPerSecond), 25'000'000'000U);
  EXPECT_EQ(interfaces[0].values.get(NetworkField::kHardwareType), 772U);
  EXPECT_FALSE(interfaces[0].values.has(NetworkField::kBitsPerSecond));
  EXPECT_FALSE(interfaces[2].values.has(NetworkField::kBitsPerSecond));
}

TEST_F(HostProbeTree, ReadsProcessesAndSkipsTheOneThatIsAlreadyGone) {
  ASSERT_TRUE(probe_.sample_processes());
  ASSERT_EQ(probe_.processes().processes().size(), 3U);
  const ProcessReading* const init = find_process(probe_, 1);
  ASSERT_NE(init, nullptr);
  EXPECT_EQ(init->name.view(), "systemd");
  EXPECT_EQ(init->values.get(ProcessField::kPageFaults), 5060U);
  EXPECT_EQ(init->values.get(ProcessField::kResidentBytes), 12000 * kKibibyte);
  EXPECT_EQ(init->values.get(ProcessField::kResidentPeakBytes), 14000 * kKibibyte);
  EXPECT_EQ(init->values.get(ProcessField::kPrivateDataBytes), 20000 * kKibibyte);
  EXPECT_EQ(init->values.get(ProcessField::kPrivateStackBytes), 132 * kKibibyte);
  EXPECT_EQ(init->values.get(ProcessField::kReadBytes), 1000U);
  EXPECT_EQ(init->values.get(ProcessField::kStorageWriteBytes), 8192U);
  EXPECT_EQ(init->values.get(ProcessField::kHandles), 3U);
  EXPECT_EQ(init->values.get(ProcessField::kStartedAfterBoot100ns), 12 * kTick);
  EXPECT_TRUE(find_process(probe_, 2)->is_kernel_thread);
  const ProcessReading* const odd = find_process(probe_, 77);
  EXPECT_EQ(odd->name.view(), "a) R 1 (b\nc");
  EXPECT_EQ(odd->values.get(ProcessField::kResidentPrivateBytes), 40960U);
  EXPECT_FALSE(odd->values.has(ProcessField::kReadBytes));
  EXPECT_FALSE(odd->values.has(ProcessField::kHandles));
}

TEST_F(HostProbeTree, TellsAReusedPidByItsStartAndForgetsWhatTheOldProcessHad) {
  ASSERT_TRUE(probe_.sample_processes());
  const std::uint64_t start = find_process(probe_, 1)->start_ticks;
  tree_.remove("proc/1");
  tree_.write("proc/1/stat", "1 (new) S 0 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 99 4096 1 0\n");
  ASSERT_TRUE(probe_.sample_processes());
  EXPECT_NE(find_process(probe_, 1)->start_ticks, start);
  EXPECT_FALSE(find_process(probe_, 1)->values.has(ProcessField::kSwapBytes));
}

TEST_F(HostProbeTree, LeavesAFieldOutWhoseFileCannotBeRead) {
  tree_.remove("proc/1/io");
  tree_.write("proc/1/io/a_folder_in_its_place", "");
  ASSERT_TRUE(probe_.sample_processes());
  EXPECT_FALSE(find_process(probe_, 1)->values.has(ProcessField::kReadBytes));
  EXPECT_TRUE(find_process(probe_, 1)->values.has(ProcessField::kHandles));
}

TEST_F(HostProbeTree, SaysWhichFieldsHaveASource) {
  probe_.sample();
  const Availability available = probe_.availability();
  EXPECT_TRUE(is_available(available.cpu, CpuField::kC1Time100ns));
  EXPECT_FALSE(is_available(available.cpu, CpuField::kC2Time100ns));
  EXPECT_TRUE(is_available(available.network, NetworkField::kBitsPerSecond));
  EXPECT_TRUE(is_available(available.disk, DiskField::kFlushes));
  EXPECT_TRUE(is_available(available.process, ProcessField::kReadBytes));
  EXPECT_TRUE(is_available(available.system, SystemField::kThreads));
  EXPECT_EQ(probe_.system().get(SystemField::kProcesses), 3U);
}

TEST_F(HostProbeTree, AllocatesNothingOnceItHasSeenTheMachine) {
  probe_.sample();
  probe_.sample();
  const std::size_t before = test::allocations_made();
  for (int i = 0; i < 5; ++i) probe_.sample();
  EXPECT_EQ(test::allocations_made(), before);
  const HostTree another_tree;  // the counter does count
  EXPECT_GT(test::allocations_made(), before);
}

TEST(HostProbe, ReportsNothingAvailableWhereThereIsNothing) {
  HostProbe probe({.root = "/nonexistent/meterbank", .cpu = {}, .process = {}, .units = {}});
  EXPECT_FALSE(probe.sample_cpu_and_system());
  EXPECT_FALSE(probe.sample_memory());
  EXPECT_FALSE(probe.sample_disks());
  EXPECT_FALSE(probe.sample_file_systems());
  EXPECT_FALSE(probe.sample_paging_files());
  EXPECT_FALSE(probe.sample_network());
  EXPECT_FALSE(probe.sample_transport());
  EXPECT_FALSE(probe.sample_processes());
  const Availability available = probe.availability();
  EXPECT_EQ(available.cpu | available.system | available.memory | available.disk |
                available.network | available.process,
            0U);
}

TEST(FileReader, RefusesPathsItCannotNameExactly) {
  const HostTree tree;
  FileReader files(tree.root());
  EXPECT_TRUE(files.read("/proc/uptime").has_value());
  EXPECT_FALSE(files.read("").has_value());
  EXPECT_FALSE(files.read(std::string(300, 'a')).has_value());
  EXPECT_FALSE(files.read(std::string_view("proc/uptime\0x", 13)).has_value());
  EXPECT_FALSE(files.read(DirectoryHandle{}, "proc").has_value());
  EXPECT_EQ(files.status(), ReadStatus::kAbsent);
}

TEST(FileReader, CutsAnEndlessFileAfterAWholeLineAndDoesNotWaitForAPipe) {
  const HostTree tree;
  tree.write("big", std::string(1000, 'x') + '\n' + std::string(kFileBytesMax, 'y'));
  ASSERT_EQ(::mkfifo(tree.path("pipe").c_str(), 0600), 0);
  FileReader files(tree.root());
  EXPECT_EQ(files.read("big").value_or("").size(), 1001U);
  EXPECT_EQ(files.read("pipe").value_or("nothing was read"), "");
}

TEST(LiveProbe, BracketsTheSoftirqsOfThisMachine) {
  FileReader files;
  if (!files.exists("proc/softirqs")) GTEST_SKIP() << "no /proc/softirqs";
  const auto possible = files.read("sys/devices/system/cpu/possible");
  const std::string possible_cpus(possible.value_or("unknown"));
  const bool are_all_on_line = files.read("sys/devices/system/cpu/online") == possible_cpus;
  CpuReader cpus(files, {.interrupts = true, .idle_states = false, .frequency = false});
  ASSERT_TRUE(cpus.sample());
  const std::uint64_t before = cpus.system().get(SystemField::kSoftirqs);
  std::uint64_t sum = 0;
  for (const CpuReading& cpu : cpus.cpus()) sum += cpu.values.get(CpuField::kSoftirqs);
  ASSERT_TRUE(cpus.sample());
  EXPECT_LE(sum, cpus.system().get(SystemField::kSoftirqs));
  if (are_all_on_line) {
    EXPECT_GE(sum, before);
  }
}

TEST(LiveProbe, NeverRunsBackwardsOnThisMachine) {
  HostProbe probe;
  probe.sample();
  for (int round = 0; round < 20; ++round) {
    const std::vector<CpuReading> before(probe.cpu().cpus().begin(), probe.cpu().cpus().end());
    const CpuValues total = probe.cpu().machine().values();
    ASSERT_TRUE(probe.sample_cpu_and_system());
    for (const CpuReading& old : before) {
      const CpuReading* const now = find_cpu(probe, old.index);
      if (now == nullptr) continue;
      EXPECT_GE(idle_100ns(now->values), idle_100ns(old.values));
      EXPECT_GE(now->values.get(CpuField::kInterrupts), old.values.get(CpuField::kInterrupts));
    }
    EXPECT_GE(idle_100ns(probe.cpu().machine().values()), idle_100ns(total));
  }
}

TEST(LiveProbe, FindsThisProcessWithTheNumbersItCanCheck) {
  HostProbe probe;
  ASSERT_TRUE(probe.sample_processes());
  FileReader files;
  const ProcessReading* const own = find_process(probe, static_cast<std::uint32_t>(::getpid()));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->name.view(), trim(files.read("proc/self/comm").value_or("")));
  EXPECT_EQ(own->values.get(ProcessField::kParentPid), static_cast<std::uint64_t>(::getppid()));
  EXPECT_GE(own->values.get(ProcessField::kHandles), 3U);
  EXPECT_GE(own->values.get(ProcessField::kResidentPeakBytes),
            own->values.get(ProcessField::kResidentPrivateBytes));
  const std::uint64_t start = own->start_ticks;
  ASSERT_TRUE(probe.sample_processes());
  EXPECT_EQ(find_process(probe, static_cast<std::uint32_t>(::getpid()))->start_ticks, start);
}

TEST(LiveProbe, ReadsNothingThroughTheFolderOfAProcessThatEnded) {
  int gate[2] = {-1, -1};
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte = 0;
    ::close(gate[1]);
    const ssize_t count = ::read(gate[0], &byte, 1);
    ::_exit(static_cast<int>(count));
  }
  ::close(gate[0]);
  FileReader files;
  const std::string folder = "proc/" + std::to_string(child);
  const DirectoryHandle process = files.open_directory(folder);
  ASSERT_TRUE(process.is_open());
  EXPECT_TRUE(files.read(process, "stat").has_value());
  ::close(gate[1]);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(files.read(process, "stat").has_value());
  EXPECT_FALSE(files.exists(process, "stat"));
  EXPECT_FALSE(files.count_names(process, "fd").has_value());
}

}  // namespace
}  // namespace meterbank::host
