// SPDX-License-Identifier: Apache-2.0
//
// Damaged texts: each file of the made-up machine, mutated at random, through its parser. What
// comes out must keep the bounds the headers promise; a sanitizer build watches the reads.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "host/probe/cpu_text.hpp"
#include "host/probe/disk.hpp"
#include "host/probe/file_system.hpp"
#include "host/probe/memory.hpp"
#include "host/probe/network.hpp"
#include "host/probe/paging_file.hpp"
#include "host/probe/process.hpp"
#include "host/probe/system.hpp"
#include "host/probe/transport.hpp"
#include "host_tree.hpp"

namespace meterbank::host {
namespace {

constexpr int kRounds = 20'000;
constexpr MachineUnits kUnits{.ticks_per_second = 100, .page_bytes = 4096};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit);
}

void mutate(std::string& text, Random& random) {
  static const std::vector<std::string> pieces = {"-1",
                                                  "18446744073709551616",
                                                  "99999999999999999999999999",
                                                  "\n",
                                                  "\n\n",
                                                  ":",
                                                  "(",
                                                  ")",
                                                  " ",
                                                  "\t",
                                                  "CPU",
                                                  "cpu",
                                                  "kB",
                                                  "0x7f",
                                                  "4294967295",
                                                  ",",
                                                  "-",
                                                  std::string(1, '\0'),
                                                  "\xFF",
                                                  std::string(300, '7'),
                                                  std::string(70, ' ')};
  const std::size_t at = below(random, text.size() + 1);
  switch (below(random, 6)) {
    case 0:
      text.resize(at);
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random() & 0xFFU);
      break;
    case 2:
      text.erase(at, below(random, 40));
      break;
    case 3:
      text.insert(at, pieces[below(random, pieces.size())]);
      break;
    case 4:
      text.insert(at, text.substr(below(random, text.size() + 1), below(random, 200)));
      break;
    default:
      if (at < text.size()) std::swap(text[at], text[below(random, text.size())]);
      break;
  }
}

void check_rows(const CpuTable& cpus) {
  ASSERT_LE(cpus.rows().size(), kCpusMax);
  for (std::size_t i = 0; i < cpus.rows().size(); ++i) {
    ASSERT_LT(cpus.rows()[i].index, kCpusMax);
    if (i > 0) {
      ASSERT_LT(cpus.rows()[i - 1].index, cpus.rows()[i].index);
    }
  }
}

void parse_cpu_text(std::string_view path, std::string_view text, CpuTable& cpus) {
  SystemValues system;
  if (path == "proc/stat") {
    cpus.clear();
    const bool has_any = parse_stat(text, 100, cpus, system);
    ASSERT_EQ(has_any, !cpus.rows().empty());
  }
  if (path == "proc/interrupts") static_cast<void>(parse_interrupts(text, cpus));
  if (path == "proc/softirqs") static_cast<void>(parse_softirqs(text, cpus));
  if (path == "proc/cpuinfo") static_cast<void>(parse_cpuinfo_frequency(text, cpus));
  check_rows(cpus);
  std::vector<std::uint32_t> numbers;
  parse_cpu_list(text, 64, numbers);
  ASSERT_LE(numbers.size(), 64U);
}

void parse_device_text(std::string_view text) {
  std::vector<DiskReading> disks;
  parse_diskstats(text, disks);
  ASSERT_LE(disks.size(), kDisksMax);
  for (const DiskReading& disk : disks) {
    ASSERT_FALSE(disk.name.view().empty());
    ASSERT_TRUE(disk.values.has(DiskField::kQueueTime100ns));
  }
  std::vector<InterfaceReading> interfaces;
  parse_net_dev(text, interfaces);
  ASSERT_LE(interfaces.size(), kInterfacesMax);
  for (const InterfaceReading& interface : interfaces) {
    ASSERT_TRUE(is_path_component(interface.name.view()));
  }
}

void parse_lines(std::string_view text) {
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    if (const auto mount = parse_mount_line(line)) {
      ASSERT_EQ(mount->point.view().substr(0, 1), "/");
      ASSERT_FALSE(mount->type.empty());
      ASSERT_FALSE(mount->source.empty());
    }
    if (const auto file = parse_swap_line(line)) {
      ASSERT_TRUE(file->values.has(PagingField::kSizeBytes));
      ASSERT_TRUE(file->values.has(PagingField::kUsedBytes));
    }
  }
}

void parse_transport_text(std::string_view text) {
  TcpValues tcp;
  UdpValues udp;
  const bool has_snmp = parse_snmp(text, tcp, udp);
  ASSERT_EQ(has_snmp, (tcp.present() | udp.present()) != 0);
  udp.clear();
  const bool has_snmp6 = parse_snmp6(text, udp);
  ASSERT_EQ(has_snmp6, udp.present() != 0);
}

// What a parser says is what it left behind. The answers are taken first: the arguments of a
// check may be evaluated in any order.
void parse_other_text(std::string_view text) {
  MemoryValues memory;
  const bool has_meminfo = parse_meminfo(text, memory);
  ASSERT_EQ(has_meminfo, memory.present() != 0);
  memory.clear();
  const bool has_vmstat = parse_vmstat(text, memory);
  ASSERT_EQ(has_vmstat, memory.present() != 0);
  SystemValues system;
  const bool has_load = parse_loadavg(text, system);
  ASSERT_EQ(has_load, system.has(SystemField::kThreads));
  const bool has_uptime = parse_uptime(text, system);
  ASSERT_EQ(has_uptime, system.has(SystemField::kUptime100ns));
  ProcessReading process;
  const bool is_process = parse_process_stat(text, kUnits, process);
  ASSERT_EQ(is_process, process.values.has(ProcessField::kStartedAfterBoot100ns));
  ASSERT_LE(displayable_name(process.name.view()).view().size(), process.name.view().size());
  static_cast<void>(parse_process_statm(text, kUnits, process));
  static_cast<void>(parse_process_status(text, process));
  static_cast<void>(parse_process_io(text, process));
  static_cast<void>(classify_idle_state(text, 1));
}

TEST(Parsers, KeepTheirBoundsOnDamagedText) {
  Random random(20240229);
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [path, content] : load_host_files()) {
    if (path.rfind("proc/", 0) == 0) files.emplace_back(path, content);
  }
  ASSERT_GE(files.size(), 19U);
  for (int round = 0; round < kRounds; ++round) {
    CpuTable cpus;
    for (const std::uint32_t index : {0U, 1U, 2U, 5U, 9U}) cpus.append(index);
    auto [path, text] = files[below(random, files.size())];
    for (std::size_t i = below(random, 8); i > 0; --i) mutate(text, random);
    // A block of exactly this size, so that one byte too far is out of bounds.
    const std::vector<char> bytes(text.begin(), text.end());
    const std::string_view view(bytes.data(), bytes.size());
    parse_cpu_text(path, view, cpus);
    parse_device_text(view);
    parse_lines(view);
    parse_transport_text(view);
    parse_other_text(view);
    if (testing::Test::HasFatalFailure()) FAIL() << "round " << round << " of " << path;
  }
}

}  // namespace
}  // namespace meterbank::host
