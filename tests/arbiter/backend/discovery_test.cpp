// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/discovery.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "modelled_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class DiscoveryTest : public ::testing::Test {
 protected:
  void open(const CoreCounters& counters, const std::string& topology = {}) {
    PerfOptions options = folders_.options(kernel_, counters);
    options.discovery.topology = topology;
    auto opened = PerfBackend::open(options);
    error_ = opened.has_value() ? Error{} : opened.error();
    backend_ = opened.has_value() ? *std::move(opened) : nullptr;
    EXPECT_EQ(kernel_->open_events(), 0U) << "what was tried is closed";
  }
  [[nodiscard]] const Topology& topology() const { return backend_->machine().topology; }
  [[nodiscard]] std::vector<std::string> pmus() const {
    std::vector<std::string> names;
    for (const Pmu& pmu : topology().pmus) names.push_back(pmu.name);
    return names;
  }

  ModelledFolders folders_;
  std::shared_ptr<ModelledKernel> kernel_ = std::make_shared<ModelledKernel>();
  std::unique_ptr<PerfBackend> backend_;
  Error error_;
};

using Names = std::vector<std::string>;

TEST_F(DiscoveryTest, ListsCoresBeforeWhatTheyShareAndNothingThatIsNotScarce) {
  folders_.add_core("cpu", "4");
  folders_.describe("amd_l3", "type", "13\n");
  folders_.describe("amd_l3", "cpumask", "0,2\n");
  folders_.describe("amd_l3", "format/event", "config:0-7\n");
  for (const char* name : {"power", "cstate_core", "uncore_iio_free_running_0", "i915"}) {
    folders_.describe(name, "type", "20\n");
    folders_.describe(name, "cpumask", "0\n");
  }
  folders_.describe("msr", "type", "9\n");
  folders_.describe("ibs_op", "type", "11\n");
  kernel_->pmus[4] = {.general = 6};
  kernel_->pmus[13] = {.general = 5};
  kernel_->pmus[20] = {.general = 5};
  folders_.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n");
  folders_.write("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n");
  open({.vendor = "AuthenticAMD", .general = 6});
  ASSERT_NE(backend_, nullptr);
  EXPECT_EQ(pmus(), (Names{"cpu", "amd_l3"}));
  EXPECT_EQ(backend_->why_no_pmu(), "");
  const Pmu& cpu = topology().pmus[0];
  EXPECT_EQ(cpu.general, 6U);
  EXPECT_EQ(cpu.fixed, 0U);
  EXPECT_EQ(cpu.cpus.text(), "0-3") << "it has no list, so it is everywhere";
  EXPECT_FALSE(cpu.is_named_only);
  const Pmu& cache = topology().pmus[1];
  EXPECT_EQ(cache.general, 5U) << "as many as could be opened";
  EXPECT_EQ(cache.cpus.text(), "0,2");
  EXPECT_TRUE(cache.is_named_only) << "requests that name no PMU never get it";
  ASSERT_EQ(topology().units.size(), 1U);
  EXPECT_EQ(topology().units[0].name, "ibs_op");
  ASSERT_EQ(topology().cores.size(), 1U);
  EXPECT_EQ(topology().cores[0].text(), "0,2");
}

TEST_F(DiscoveryTest, FixedCountersOfIntelHaveTheirEvents) {
  folders_.add_core("cpu", "4");
  folders_.describe("cpu", "events/ref-cycles", "event=0x00,umask=0x03\n");
  kernel_->pmus[4] = {.general = 8, .for_cycles = 1};
  kernel_->pmus[4].generic.insert(PERF_COUNT_HW_REF_CPU_CYCLES);
  open({.vendor = "GenuineIntel", .general = 8, .fixed = 4});
  ASSERT_NE(backend_, nullptr);
  const CounterMask general = 0xff;
  EXPECT_EQ(topology().counters_for(0, 0xc0, 0), general | CounterMask{1} << kFixedFirst);
  EXPECT_EQ(topology().counters_for(0, 0x3c, 0), general | CounterMask{2} << kFixedFirst);
  EXPECT_EQ(topology().counters_for(0, 0x00, 3), CounterMask{4} << kFixedFirst);
  EXPECT_EQ(topology().counters_for(0, 0x80, 1), general);
  // The generic names have the codes of the listed ones, so that they are of the same classes.
  const EventNames& names = backend_->machine().names.at(0);
  EXPECT_EQ(names.at("cycles").code, 0x3cU);
  EXPECT_EQ(names.at("ref-cycles").unit_mask, 3U);
  EXPECT_EQ(names.at("instructions").code, 0xc0U);
}

TEST_F(DiscoveryTest, EachTypeOfCoreIsAPmuOfItsOwn) {
  folders_.add_core("cpu_core", "4");
  folders_.describe("cpu_core", "cpus", "0-1\n");
  folders_.add_core("cpu_atom", "10");
  folders_.describe("cpu_atom", "cpus", "2-3\n");
  kernel_->pmus[4] = {.general = 8};
  kernel_->pmus[10] = {.general = 6};
  kernel_->core_type = 0;  // a generic event has to say of which PMU it is
  open({});
  ASSERT_NE(backend_, nullptr);
  EXPECT_EQ(pmus(), (Names{"cpu_atom", "cpu_core"}));
  EXPECT_EQ(topology().pmus[0].general, 6U);
  EXPECT_EQ(topology().pmus[1].general, 8U);
  EXPECT_EQ(topology().pmus[1].cpus.text(), "0-1");
  const Event cycles = backend_->machine().names.at(0).at("cycles");
  Opening opening;
  opening.cpu = 2;
  opening.event = cycles;
  ASSERT_EQ(backend_->open(1, std::vector{opening}).fault, OpenFault::kNone);
  EXPECT_EQ(kernel_->newest().type, static_cast<std::uint32_t>(PERF_TYPE_HARDWARE));
  EXPECT_EQ(kernel_->newest().config, 10ULL << 32 | PERF_COUNT_HW_CPU_CYCLES);
  EXPECT_NE(cycles, backend_->machine().names.at(1).at("cycles")) << "not the same event";
  backend_->close(1);
}

TEST_F(DiscoveryTest, CycleCounterOfArmIsFoundByTrying) {
  folders_.describe("armv8_pmuv3", "type", "8\n");
  folders_.describe("armv8_pmuv3", "format/event", "config:0-15\n");
  folders_.describe("armv8_pmuv3", "events/cpu_cycles", "event=0x0011\n");
  folders_.describe("armv8_pmuv3", "cpus", "0-3\n");
  kernel_->pmus[8] = {.general = 6, .for_cycles = 1, .generic = {0, 1}};
  kernel_->core_type = 8;
  open({});
  ASSERT_NE(backend_, nullptr);
  ASSERT_EQ(pmus(), Names{"armv8_pmuv3"});
  EXPECT_EQ(topology().pmus[0].general, 6U);
  EXPECT_EQ(topology().pmus[0].fixed, 1U);
  EXPECT_EQ(topology().counters_for(0, 0x11, 0), 0x3f | CounterMask{1} << kFixedFirst);
  EXPECT_EQ(topology().blocks.at(0).name, "pair");
  // Where only cycles can be counted, one of the counters is theirs.
  kernel_->pmus[8].generic = {0};
  open({});
  EXPECT_EQ(topology().pmus[0].general, 6U);
  EXPECT_EQ(topology().pmus[0].fixed, 1U);
}

TEST_F(DiscoveryTest, FilesThatMakeNoSenseAreLeftOut) {
  folders_.add_core("cpu", "4");
  folders_.describe("cpu", "format/broken", "config:9-1\n");
  folders_.describe("cpu", "format/empty", "");
  folders_.describe("cpu", "events/unknown", "event=0x01,strange=1\n");
  folders_.describe("cpu", "events/asks", "event=?\n");
  folders_.describe("cpu", "events/long", std::string(100'000, 'x'));
  folders_.describe("cpu", "events/" + std::string(100, 'n'), "event=0x02\n");
  folders_.describe("cpu", "events/instructions.scale", "event=0x02\n");
  folders_.describe("cpu", "cpus", "3-0\n");
  folders_.describe("cpu_word", "type", "four\n");
  folders_.describe("cpu_large", "type", "4294967296\n");
  folders_.describe("cpu_nowhere", "type", "4\n");
  folders_.describe("cpu_nowhere", "cpus", "\n");
  folders_.describe("uncore_away", "type", "13\n");
  folders_.describe("uncore_away", "cpumask", "77\n");
  folders_.describe("cpu_" + std::string(70, 'n'), "type", "4\n");
  folders_.describe("typeless", "cpumask", "0\n");
  folders_.write("sys/bus/event_source/devices/a_file", "4\n");
  kernel_->pmus[4] = {.general = 4};
  kernel_->pmus[13] = {.general = 4};
  open({});
  ASSERT_NE(backend_, nullptr);
  EXPECT_EQ(pmus(), Names{"cpu"});
  const EventNames& names = backend_->machine().names.at(0);
  EXPECT_EQ(names.count("unknown") + names.count("asks") + names.count("long"), 0U);
  EXPECT_EQ(names.count("instructions.scale"), 0U);
  EXPECT_EQ(names.count("cpu-cycles"), 1U);
  for (const auto& [name, event] : names) EXPECT_LT(name.size(), pmu::kWireNameBytes);
}

TEST_F(DiscoveryTest, SaysWhyThereIsNoPmu) {
  open({});
  ASSERT_NE(backend_, nullptr);
  EXPECT_TRUE(topology().pmus.empty());
  EXPECT_NE(backend_->why_no_pmu().find("No such file"), std::string::npos);
  EXPECT_NE(backend_->why_no_pmu().find("virtual machine"), std::string::npos);
  // Listed, and nothing comes of it.
  folders_.add_core("cpu", "4");
  open({.vendor = "GenuineIntel", .general = 8, .fixed = 3});
  EXPECT_TRUE(topology().pmus.empty()) << "it is checked by opening, not believed";
  EXPECT_NE(backend_->why_no_pmu().find("opens none"), std::string::npos);
  kernel_->pmus[4] = {.general = 8};
  kernel_->fault = EACCES;
  open({});
  EXPECT_TRUE(topology().pmus.empty());
  EXPECT_NE(backend_->why_no_pmu().find("kernel.perf_event_paranoid"), std::string::npos);
  EXPECT_NE(backend_->why_no_pmu().find("CAP_PERFMON"), std::string::npos);
}

TEST_F(DiscoveryTest, BreakpointsThatNeverCountAreNotLent) {
  folders_.describe("breakpoint", "type", "5\n");
  open({});
  ASSERT_NE(backend_, nullptr);
  if (pmus() != Names{"breakpoint"}) GTEST_SKIP() << "no breakpoints here";
  kernel_->counts_breakpoints = false;
  open({});
  EXPECT_TRUE(topology().pmus.empty());
  EXPECT_NE(backend_->why_no_pmu().find("breakpoints can be set on this machine and never count"),
            std::string::npos);
}

TEST_F(DiscoveryTest, PmuThatCountsOwnTasksOnlyIsThereAllTheSame) {
  folders_.add_core("cpu", "4");
  kernel_->pmus[4] = {.general = 6};
  kernel_->fault = EACCES;
  kernel_->fault_of_tasks = 0;
  open({});
  ASSERT_NE(backend_, nullptr);
  ASSERT_EQ(pmus(), Names{"cpu"});
  EXPECT_EQ(topology().pmus[0].general, 6U);
  Opening opening;
  opening.cpu = 0;
  EXPECT_EQ(backend_->open(1, std::vector{opening}).fault, OpenFault::kDenied);
}

TEST_F(DiscoveryTest, TopologyFileHasTheLastWordOnCounts) {
  folders_.add_core("cpu", "4");
  kernel_->pmus[4] = {.general = 8};
  folders_.write("small.toml",
                 "[[pmu]]\nname = \"cpu\"\ncpus = \"0-3\"\ngeneral = 2\nfixed = 1\n"
                 "class.low = {general = 1}\n");
  open({.vendor = "GenuineIntel", .general = 8}, folders_.path("small.toml"));
  ASSERT_NE(backend_, nullptr) << error_.message();
  EXPECT_EQ(topology().pmus.at(0).general, 2U);
  EXPECT_EQ(topology().classes.size(), 1U);
  EXPECT_EQ(backend_->machine().names.at(0).count("cycles"), 1U);
  folders_.write("other.toml", "[[pmu]]\nname = \"strange\"\ncpus = \"0-3\"\ngeneral = 2\n");
  open({}, folders_.path("other.toml"));
  EXPECT_EQ(error_.code, ErrorCode::kNotFound);
  EXPECT_NE(error_.what.find("strange"), std::string::npos);
  open({}, folders_.path("missing.toml"));
  EXPECT_EQ(error_.code, ErrorCode::kNotFound);
  folders_.write("bad.toml", "[[pmu]]\n");
  open({}, folders_.path("bad.toml"));
  EXPECT_EQ(error_.code, ErrorCode::kInvalidArgument);
}

TEST_F(DiscoveryTest, FoldersThatAreMissingAreAnError) {
  PerfOptions options = folders_.options(kernel_);
  options.sysfs = folders_.path("nowhere");
  EXPECT_EQ(PerfBackend::open(options).error().code, ErrorCode::kNoDirectory);
  options = folders_.options(kernel_);
  options.proc = folders_.path("nowhere");
  EXPECT_EQ(PerfBackend::open(options).error().code, ErrorCode::kNoDirectory);
}

TEST_F(DiscoveryTest, NamesOfLibpfmLeaveTheKernelsOwnAlone) {
  folders_.add_core("cpu", "4");
  kernel_->pmus[4] = {.general = 6};
  open({});
  ASSERT_NE(backend_, nullptr);
  const EventNames own = backend_->machine().names.at(0);
  PerfOptions options = folders_.options(kernel_);
  options.discovery.has_libpfm_names = true;
  auto opened = PerfBackend::open(options);
  ASSERT_TRUE(opened.has_value());
  const EventNames& names = (*opened)->machine().names.at(0);
  for (const auto& [name, event] : own) EXPECT_EQ(names.at(name), event) << name;
  // Whether libpfm knows the cores of this machine is the machine's affair.
  for (const auto& [name, event] : names) {
    Opening opening;
    opening.cpu = 0;
    opening.event = event;
    ASSERT_EQ((*opened)->open(1, std::vector{opening}).fault, OpenFault::kNone) << name;
    (*opened)->close(1);
  }
  RecordProperty("names", static_cast<int>(names.size()));
}

}  // namespace
}  // namespace meterbank::arbiter
