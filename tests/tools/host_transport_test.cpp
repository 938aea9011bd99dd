// SPDX-License-Identifier: Apache-2.0
//
// TCP and UDP, and the work of processors, on the made-up machine.
#include <gtest/gtest.h>

#include <string>

#include "host/probe/probe.hpp"
#include "host_tree.hpp"

namespace meterbank::host {
namespace {

TEST(SnmpParser, TakesValuesByTheNamesAboveThem) {
  TcpValues tcp;
  UdpValues udp;
  ASSERT_TRUE(
      parse_snmp("Udp: OutDatagrams New InDatagrams\nUdp: 7 8 9\n"
                 "Tcp: MaxConn InSegs\nTcp: -1 18446744073709551615\n",
                 tcp, udp));
  EXPECT_EQ(udp.get(UdpField::kSent), 7U);
  EXPECT_EQ(udp.get(UdpField::kReceived), 9U);
  EXPECT_EQ(tcp.get(TcpField::kReceivedSegments), ~std::uint64_t{0});
  EXPECT_FALSE(tcp.has(TcpField::kSentSegments));
}

TEST(SnmpParser, LeavesTheTargetsAloneWhereLinesDoNotBelongTogether) {
  for (const char* const text :
       {"", "Tcp: InSegs\n", "Tcp: InSegs\nUdp: 1\n", "Tcp: InSegs\nTcp: \n",
        "Tcp: InSegs\nTcp: -5\n", "Tcp: InSegs\nTcp: 5", "Tcp InSegs\nTcp 5\n"}) {
    TcpValues tcp;
    UdpValues udp;
    EXPECT_FALSE(parse_snmp(text, tcp, udp)) << text;
    EXPECT_EQ(tcp.present() | udp.present(), 0U) << text;
  }
}

TEST(Transport, IsReadFromBothTables) {
  const HostTree tree;
  FileReader files(tree.root());
  TransportReader transport(files);
  ASSERT_TRUE(transport.sample());
  EXPECT_EQ(transport.tcp().get(TcpField::kActiveOpens), 11U);
  EXPECT_EQ(transport.tcp().get(TcpField::kPassiveOpens), 22U);
  EXPECT_EQ(transport.tcp().get(TcpField::kAttemptsFailed), 3U);
  EXPECT_EQ(transport.tcp().get(TcpField::kResets), 4U);
  EXPECT_EQ(transport.tcp().get(TcpField::kEstablished), 5U);
  EXPECT_EQ(transport.tcp().get(TcpField::kReceivedSegments), 6'000'000'000U);
  EXPECT_EQ(transport.tcp().get(TcpField::kSentSegments), 700U);
  EXPECT_EQ(transport.tcp().get(TcpField::kRepeatedSegments), 8U);
  EXPECT_EQ(transport.udp4().get(UdpField::kReceived), 100U);
  EXPECT_EQ(transport.udp4().get(UdpField::kNoPort), 2U);
  EXPECT_EQ(transport.udp4().get(UdpField::kReceivedErrors), 3U);
  EXPECT_EQ(transport.udp4().get(UdpField::kSent), 50U);
  EXPECT_EQ(transport.udp6().get(UdpField::kReceived), 40U);
  EXPECT_EQ(transport.udp6().get(UdpField::kSent), 30U);
}

TEST(Transport, KeepsWhatItHasWithoutItsFiles) {
  const HostTree tree;
  FileReader files(tree.root());
  TransportReader transport(files);
  ASSERT_TRUE(transport.sample());
  tree.remove("proc/net/snmp6");
  EXPECT_TRUE(transport.sample());
  EXPECT_EQ(transport.udp6().get(UdpField::kReceived), 40U);
  tree.remove("proc/net/snmp");
  EXPECT_FALSE(transport.sample());
  EXPECT_EQ(transport.tcp().get(TcpField::kActiveOpens), 11U);
}

// ---- The work of processors ----

class ProcessorWork : public testing::Test {
 protected:
  [[nodiscard]] const CpuValues& cpu0() const { return cpus_.cpus().front().values; }
  void set_frequency(std::string_view khz) const {
    tree_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", std::string(khz) + "\n");
  }

  HostTree tree_;
  FileReader files_{tree_.root()};
  CpuReader cpus_{files_, {}, {.ticks_per_second = 100, .page_bytes = 4096}};
};

TEST_F(ProcessorWork, IsBusyTimeAtTheMeanFrequencyOfBothSamples) {
  set_frequency("1200000");  // half of the nominal one
  ASSERT_TRUE(cpus_.sample());
  EXPECT_EQ(cpu0().get(CpuField::kWork100ns), 0U);

  set_frequency("3600000");
  // 100 ticks of user time and 60 of the kernel.
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10000 100 1000", "cpu0 10100 100 1060"));
  ASSERT_TRUE(cpus_.sample());
  EXPECT_EQ(cpu0().get(CpuField::kWork100ns), 160U * 100'000);
  EXPECT_EQ(cpu0().get(CpuField::kPrivilegedWork100ns), 60U * 100'000);

  set_frequency("1200000");
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10100", "cpu0 10110"));
  ASSERT_TRUE(cpus_.sample());
  EXPECT_EQ(cpu0().get(CpuField::kWork100ns), 170U * 100'000);
}

TEST_F(ProcessorWork, TakesTheNominalFrequencyOfTheFirmwareWhereTheDriverHasNone) {
  tree_.remove("sys/devices/system/cpu/cpu0/cpufreq/base_frequency");
  ASSERT_TRUE(cpus_.sample());
  EXPECT_FALSE(cpu0().has(CpuField::kWork100ns));
  tree_.write("sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "2500\n");
  CpuReader fresh(files_, {}, {.ticks_per_second = 100, .page_bytes = 4096});
  ASSERT_TRUE(fresh.sample());
  EXPECT_EQ(fresh.cpus().front().values.get(CpuField::kFrequencyNominalKhz), 2'500'000U);
}

TEST_F(ProcessorWork, GainsNothingWhenAProcessorWasReset) {
  ASSERT_TRUE(cpus_.sample());
  ASSERT_TRUE(tree_.replace("proc/stat", "cpu0 10000 100 1000", "cpu0 1 1 1"));
  ASSERT_TRUE(cpus_.sample());
  EXPECT_EQ(cpu0().get(CpuField::kWork100ns), 0U);
}

}  // namespace
}  // namespace meterbank::host
