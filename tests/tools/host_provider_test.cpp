// SPDX-License-Identifier: Apache-2.0
//
// What a made-up machine publishes, and what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "host/host_provider.hpp"
#include "host/sets/sets.hpp"
#include "host_tree.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::host {
namespace {

class HostProviderTest : public ::testing::Test {
 protected:
  HostProviderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "meterbank-host-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~HostProviderTest() override {
    host_.reset();
    std::filesystem::remove_all(directory_);
  }

  void start(bool processes = true) {
    HostOptions options;
    options.directory = directory_;
    options.root = tree_.root();
    options.period = std::chrono::milliseconds(10);
    options.process_period = std::chrono::milliseconds(10);
    options.processes = processes;
    auto host = HostProvider::start(options);
    ASSERT_TRUE(host) << host.error().message();
    host_.emplace(std::move(*host));
    auto catalog = Catalog::open({.directory = directory_});
    ASSERT_TRUE(catalog) << catalog.error().message();
    catalog_.emplace(std::move(*catalog));
  }
  [[nodiscard]] const RegisteredSet* find(std::string_view symbol) const {
    for (const auto& set : catalog_->providers().front()->sets) {
      if (set.set->symbol == symbol) return &set;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_counter(std::string_view set, std::string_view counter) const {
    return find(set) != nullptr && find(set)->set->find(counter) != nullptr;
  }
  [[nodiscard]] std::vector<std::string> instances(std::string_view symbol) const {
    std::vector<std::string> names;
    if (const auto* const set = find(symbol)) {
      for (const auto& instance : set->instances) {
        if (!instance.closed) names.emplace_back(instance.name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Looks until `done`, for as long as the test may take; nothing depends on how long that is.
  template <typename Done>
  void look_until(Done done) {
    do {
      catalog_->refresh();
    } while (!done());
  }

  HostTree tree_;
  std::string directory_;
  std::optional<HostProvider> host_;
  std::optional<Catalog> catalog_;
};

TEST_F(HostProviderTest, PublishesLinksOfInterfacesThatHaveOne) {
  start();

  EXPECT_GT(instances("network_interface").size(), instances("network_link").size());
  EXPECT_FALSE(instances("network_link").empty());
  EXPECT_FALSE(has_counter("network_interface", "current_bandwidth"));
  const auto links = instances("network_link");
  EXPECT_EQ(std::count(links.begin(), links.end(), "lo"), 0);
}

TEST_F(HostProviderTest, ShowsInputAndOutputOnlyOfProcessesThatLetItBeSeen) {
  start();

  const auto all = instances("process_v2");
  const auto open = instances("process_io");
  EXPECT_GT(all.size(), open.size());
  EXPECT_FALSE(open.empty());
  EXPECT_FALSE(has_counter("process_v2", "io_read_bytes"));
  EXPECT_TRUE(has_counter("process_io", "io_read_bytes"));
}

TEST_F(HostProviderTest, LeavesOutWhatOneProcessorDoesNotHave) {
  start();
  ASSERT_TRUE(has_counter("processor_information", "c1_time"));
  host_.reset();
  std::filesystem::remove_all(tree_.root() + "/sys/devices/system/cpu/cpu0/cpuidle");

  start();

  EXPECT_FALSE(has_counter("processor_information", "c1_time"));
  EXPECT_TRUE(has_counter("processor_information", "processor_time"));
}

TEST_F(HostProviderTest, HasNoSetForDevicesThatTheMachineHasNot) {
  tree_.write("proc/diskstats", "");

  start();

  EXPECT_EQ(find("physical_disk"), nullptr);
  EXPECT_NE(find("memory"), nullptr);
}

TEST_F(HostProviderTest, LeavesProcessesOutOnRequest) {
  start(false);

  EXPECT_EQ(find("process_v2"), nullptr);
  EXPECT_EQ(find("process_io"), nullptr);
  EXPECT_EQ(find("process"), nullptr);
  EXPECT_TRUE(has_counter("system", "processes"));
}

TEST_F(HostProviderTest, ClosesAnInterfaceThatWasPulledOutAndOpensItAgain) {
  start();
  const auto before = instances("network_interface");
  const auto all = tree_.read("proc/net/dev");
  const auto line_begin = all.rfind('\n', all.size() - 2) + 1;
  tree_.write("proc/net/dev", all.substr(0, line_begin));

  look_until([&] { return instances("network_interface").size() == before.size() - 1; });
  tree_.write("proc/net/dev", all);
  look_until([&] { return instances("network_interface") == before; });
}

TEST_F(HostProviderTest, SaysWhatIsMissingOnAMachineWithoutProcfs) {
  std::filesystem::remove_all(tree_.root() + "/proc");
  HostOptions options;
  options.directory = directory_;
  options.root = tree_.root();

  const auto host = HostProvider::start(options);

  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message().find("mount procfs"), std::string::npos);
}

// What a consumer written for Windows asks for by number. Those from 100 on are ours.
TEST_F(HostProviderTest, GivesProcessorInformationTheNumbersThatWindowsGivesIt) {
  start();
  const auto* const registered = find("processor_information");
  ASSERT_NE(registered, nullptr);
  const Counterset& set = *registered->set;

  EXPECT_EQ(set.guid, "{b4fc721a-0378-476f-89ba-a5a79f810b36}"_guid);
  EXPECT_EQ(set.provider_guid, "{383487a6-3676-4870-a4e7-d45b30c35629}"_guid);
  struct Known {
    std::uint32_t id;
    std::string_view name;
    CounterType type;
  };
  for (const Known& known : {Known{0, "% Processor Time", CounterType::kTimer100NsInverse},
                             Known{1, "% User Time", CounterType::kTimer100Ns},
                             Known{2, "% Privileged Time", CounterType::kTimer100Ns},
                             Known{3, "Interrupts/sec", CounterType::kCounter},
                             Known{4, "% DPC Time", CounterType::kTimer100Ns},
                             Known{5, "% Interrupt Time", CounterType::kTimer100Ns},
                             Known{8, "% Idle Time", CounterType::kTimer100Ns},
                             Known{9, "% C1 Time", CounterType::kTimer100Ns},
                             Known{12, "C1 Transitions/sec", CounterType::kBulkCount}}) {
    const CounterView* const counter = set.find(known.id);
    ASSERT_NE(counter, nullptr) << known.name;
    EXPECT_EQ(counter->name, known.name);
    EXPECT_EQ(counter->type, known.type) << known.name;
  }
}

// ---- Exact values, through a reader ----

class HostValues : public HostProviderTest {
 protected:
  // The stored value of the one counter that the path selects, in this very row.
  [[nodiscard]] RawValue raw(const std::string& path) {
    auto query = Query::compile(*catalog_, {path});
    EXPECT_TRUE(query) << path;
    if (!query) return {};
    Sample sample;
    query->collect(sample);
    std::size_t found = 0;
    RawValue raw;
    for (const Row& row : sample) {
      for (const Value& value : row) {
        EXPECT_TRUE(holds_values(row.status)) << path;
        raw = value.raw;
        ++found;
      }
    }
    EXPECT_EQ(found, 1U) << path;
    return raw;
  }
  [[nodiscard]] std::uint64_t value(const std::string& path) { return raw(path).value; }
};

TEST_F(HostValues, OfProcessorAreThoseOfProcessorInformationUnderPlainNumbers) {
  start();
  EXPECT_EQ(instances("processor"),
            (std::vector<std::string>{"0", "1", "2", "3", "4", "6", "7", "_Total"}));
  EXPECT_EQ(value(R"(\Processor(6)\% User Time)"), (10006U + 106) * 100'000);
  EXPECT_EQ(value(R"(\Processor(6)\% Privileged Time)"), (1006U + 16 + 106) * 100'000);
  EXPECT_EQ(value(R"(\Processor(6)\% Processor Time)"), (100006ULL + 1006) * 100'000);
  EXPECT_EQ(value(R"(\Processor(6)\% Interrupt Time)"), 16U * 100'000);
  EXPECT_EQ(value(R"(\Processor(6)\% DPC Time)"), 106U * 100'000);
  EXPECT_EQ(value(R"(\Processor(6)\Interrupts/sec)"), 6017U);
  for (const char* const counter : {"% Processor Time", "% Idle Time", "Interrupts/sec"}) {
    EXPECT_EQ(value(std::string("\\Processor(_Total)\\") + counter),
              value(std::string("\\Processor Information(_Total)\\") + counter));
  }
}

TEST_F(HostValues, OfUtilityAreThereWhereEveryProcessorTellsItsFrequencies) {
  start();
  EXPECT_FALSE(has_counter("processor_information", "processor_utility"));
  host_.reset();
  // The processor without cpufreq goes off line.
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu7 10007 107 1007 100007 1007 17 107 7 50 0\n", ""));

  start();

  const Counterset& set = *find("processor_information")->set;
  const auto base_of = [&](std::uint32_t id) { return set.counters[set.find(id)->base].id; };
  ASSERT_NE(set.find("processor_utility"), nullptr);
  EXPECT_EQ(set.find("processor_utility")->id, 26U);
  EXPECT_EQ(base_of(26), 27U);
  EXPECT_EQ(base_of(28), 27U);
  EXPECT_EQ(base_of(24), 25U);
  const RawValue before = raw(R"(\Processor Information(0,0)\% Processor Performance)");
  // Ten seconds of work at the nominal frequency.
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10000", "cpu0 11000"));
  const std::string path = R"(\Processor Information(0,0)\% Processor Utility)";
  look_until([&] { return value(path) != before.value; });
  const RawValue after = raw(R"(\Processor Information(0,0)\% Processor Performance)");
  EXPECT_EQ(after.value - before.value, 100U * 10'000);
  EXPECT_EQ(after.base - before.base, 10'000U);
}

TEST_F(HostValues, OfMemoryAreInTheUnitOfTheirName) {
  start();
  EXPECT_EQ(value(R"(\Memory\Available Bytes)"), 90'000'000ULL * 1024);
  EXPECT_EQ(value(R"(\Memory\Available KBytes)"), 90'000'000U);
  EXPECT_EQ(value(R"(\Memory\Available MBytes)"), 87'890U);
  EXPECT_EQ(value(R"(\Memory\Pages/sec)"), 70U);
  EXPECT_EQ(value(R"(\Memory\Free & Zero Page List Bytes)"), value(R"(\Memory\Free Bytes)"));
}

TEST_F(HostValues, OfSystemAndObjectsAgree) {
  start();
  EXPECT_EQ(value(R"(\System\Context Switches/sec)"), 9'876'543'210U);
  EXPECT_EQ(value(R"(\System\Processor Queue Length)"), 5U);
  EXPECT_EQ(value(R"(\Objects\Processes)"), 3U);
  EXPECT_EQ(value(R"(\Objects\Threads)"), 1234U);
  EXPECT_EQ(value(R"(\System\Threads)"), 1234U);
}

TEST_F(HostValues, OfPhysicalDisksHaveQueuesTimesAndATotal) {
  // As newer kernels print them, so that every disk has every counter.
  ASSERT_TRUE(tree_.replace("proc/diskstats", "90 0 100 110\n", "90 0 100 110 0 0 0 0 0 0\n"));
  ASSERT_TRUE(tree_.replace("proc/diskstats", "2 0 3 3\n", "2 0 3 3 0 0 0 0 0 0\n"));
  start();
  EXPECT_EQ(instances("physical_disk"),
            (std::vector<std::string>{"_Total", "cciss/c0d0", "nvme0n1", "sda"}));
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\Current Disk Queue Length)"), 3U);
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\% Disk Read Time)"), 500U * 10'000);
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\% Disk Write Time)"), 900U * 10'000);
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\% Disk Time)"), 1200U * 10'000);
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\Avg. Disk Read Queue Length)"), 500U * 10'000);
  EXPECT_EQ(value(R"(\PhysicalDisk(nvme0n1)\Avg. Disk Queue Length)"), 1400U * 10'000);
  const RawValue mean = raw(R"(\PhysicalDisk(nvme0n1)\Avg. Disk sec/Transfer)");
  EXPECT_EQ(mean.value, 1400U * 1'000'000);
  EXPECT_EQ(mean.base, 3000U);
  EXPECT_EQ(value(R"(\PhysicalDisk(_Total)\Disk Transfers/sec)"), 3000U + 150 + 3);
}

TEST_F(HostValues, OfLogicalDisksAreSpaceAndTheBlockDeviceBelow) {
  tree_.write("proc/self/mountinfo",
              "22 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n"
              "27 22 259:1 / /boot rw - vfat /dev/nvme0n1p1 rw\n");
  start();
  EXPECT_EQ(instances("logical_disk"), (std::vector<std::string>{"/", "/boot", "_Total"}));
  EXPECT_EQ(value(R"(\LogicalDisk(/boot)\Disk Reads/sec)"), 900U);
  EXPECT_EQ(value(R"(\LogicalDisk(/boot)\Disk Write Bytes/sec)"), 15000U * 512);
  EXPECT_EQ(value(R"(\LogicalDisk(/boot)\Avg. Disk sec/Read)"), 450U * 1'000'000);
  const RawValue share = raw(R"(\LogicalDisk(/boot)\% Free Space)");
  EXPECT_GT(share.base, 0U);
  EXPECT_LE(share.value, share.base);
}

TEST_F(HostValues, OfLogicalDisksAreSpaceAloneWhereTheRootLiesOnNoBlockDevice) {
  tree_.write("proc/self/mountinfo",
              "1 0 0:90 / / rw - overlay overlay rw\n"
              "2 1 259:1 / /boot rw - vfat /dev/nvme0n1p1 rw\n");
  start();
  EXPECT_EQ(instances("logical_disk"), (std::vector<std::string>{"/", "/boot", "_Total"}));
  EXPECT_TRUE(has_counter("logical_disk", "free_megabytes"));
  EXPECT_FALSE(has_counter("logical_disk", "disk_reads"));
  const auto left_out = host_->left_out();
  EXPECT_TRUE(std::any_of(left_out.begin(), left_out.end(), [](const std::string& text) {
    return text.starts_with("logical_disk (disk_reads, ");
  }));
}

TEST_F(HostValues, OfColumnsOfSpaceAreBytesAndMegabytes) {
  DiskValues values;
  values.set(DiskField::kFreeBytes, 3'500'000'000U);
  values.set(DiskField::kUsableBytes, 7'000'000'000U);
  std::vector<std::uint64_t> space;
  for (const Column<DiskValues>& column : logical_disk_columns()) {
    if (logical_disk_set().counters[column.counter].id >= 40) {
      space.push_back(column.value(values, Moment{}));
    }
  }
  EXPECT_EQ(space, (std::vector<std::uint64_t>{3'500'000'000U, 7'000'000'000U, 3337U}));
}

TEST_F(HostValues, OfTransportProtocolsAreThoseOfTheKernel) {
  start();
  EXPECT_EQ(value(R"(\TCPv4\Segments/sec)"), 6'000'000'700U);
  EXPECT_EQ(value(R"(\TCPv4\Connections Established)"), 5U);
  EXPECT_EQ(value(R"(\TCPv4\Connection Failures)"), 3U);
  EXPECT_EQ(value(R"(\TCPv4\Segments Retransmitted/sec)"), 8U);
  EXPECT_EQ(value(R"(\UDPv4\Datagrams/sec)"), 150U);
  EXPECT_EQ(value(R"(\UDPv4\Datagrams No Port/sec)"), 2U);
  EXPECT_EQ(value(R"(\UDPv6\Datagrams Received Errors)"), 2U);
}

TEST_F(HostValues, OfPagingFilesAreSharesOfTheirSizes) {
  start();
  EXPECT_EQ(instances("paging_file"),
            (std::vector<std::string>{"/dev/dm-1", "/swap file", "_Total"}));
  const RawValue usage = raw(R"(\Paging File(/dev/dm-1)\% Usage)");
  EXPECT_EQ(usage.value, 1024U * 1024);
  EXPECT_EQ(usage.base, 8'388'604ULL * 1024);
  EXPECT_EQ(value(R"(\Paging File(_Total)\% Usage)"), 1536U * 1024);
}

TEST_F(HostValues, OfProcessAreThoseOfProcessV2UnderTheNameOfTheProgram) {
  tree_.write("proc/78/stat", tree_.read("proc/1/stat"));
  tree_.write("proc/78/status", tree_.read("proc/1/status"));
  start();
  EXPECT_EQ(instances("process"),
            (std::vector<std::string>{"a) R 1 (b_c", "kthreadd", "systemd", "systemd"}));
  EXPECT_EQ(value(R"(\Process(kthreadd)\ID Process)"), 2U);
  EXPECT_EQ(value(R"(\Process(systemd#78)\ID Process)"), 78U);
  EXPECT_EQ(value(R"(\Process(systemd)\ID Process)"), 1U);
  EXPECT_EQ(value(R"(\Process(systemd#1)\Working Set)"),
            value(R"(\Process V2(systemd:1)\Working Set)"));

  tree_.remove("proc/1");
  look_until([&] { return instances("process").size() == 3; });
  EXPECT_EQ(value(R"(\Process(systemd#78)\ID Process)"), 78U);
  EXPECT_EQ(value(R"(\Process(systemd)\ID Process)"), 78U);

  // A process becomes another program: a row ends, and another one begins.
  tree_.write("proc/78/stat", tree_.read("proc/2/stat"));
  const std::vector<std::string> both{"a) R 1 (b_c", "kthreadd", "kthreadd"};
  look_until([&] { return instances("process") == both; });
  EXPECT_EQ(value(R"(\Process(kthreadd#78)\ID Process)"), 78U);
}

TEST_F(HostValues, OfAProcessWithoutANameAreThere) {
  std::string stat = tree_.read("proc/2/stat");
  tree_.write("proc/2/stat", stat.replace(stat.find("kthreadd"), 8, ""));
  start();
  EXPECT_EQ(value(R"(\Process(_#2)\ID Process)"), 2U);
}

TEST_F(HostValues, OfProcessesAreThereWhereProcHoldsNothingElse) {
  for (const char* const file :
       {"proc/stat", "proc/loadavg", "proc/uptime", "proc/meminfo", "proc/vmstat", "proc/cpuinfo",
        "proc/interrupts", "proc/softirqs", "proc/diskstats", "proc/swaps"}) {
    tree_.remove(file);
  }
  start();
  EXPECT_EQ(find("processor_information"), nullptr);
  EXPECT_EQ(find("processor"), nullptr);
  EXPECT_EQ(find("memory"), nullptr);
  EXPECT_FALSE(has_counter("system", "context_switches"));
  EXPECT_EQ(value(R"(\System\Processes)"), 3U);
  EXPECT_EQ(instances("process").size(), 3U);
  EXPECT_FALSE(instances("logical_disk").empty());
}

TEST_F(HostValues, OfMissingFilesAreInNoSchemaAndNamed) {
  for (const char* const file :
       {"proc/net/snmp", "proc/net/snmp6", "proc/swaps", "proc/vmstat", "proc/self/mountinfo"}) {
    tree_.remove(file);
  }
  start();
  EXPECT_EQ(find("tcpv4"), nullptr);
  EXPECT_EQ(find("paging_file"), nullptr);
  EXPECT_EQ(find("logical_disk"), nullptr);
  EXPECT_TRUE(has_counter("memory", "available_mbytes"));
  EXPECT_FALSE(has_counter("memory", "pages"));
  const std::vector<std::string> left_out(host_->left_out().begin(), host_->left_out().end());
  for (const char* const set : {"tcpv4", "udpv4", "udpv6", "paging_file", "logical_disk"}) {
    EXPECT_EQ(std::count(left_out.begin(), left_out.end(), set), 1) << set;
  }
  EXPECT_TRUE(std::any_of(left_out.begin(), left_out.end(), [](const std::string& text) {
    return text.starts_with("memory (page_faults, ") && text.ends_with(", pages)");
  }));
}

}  // namespace
}  // namespace meterbank::host
