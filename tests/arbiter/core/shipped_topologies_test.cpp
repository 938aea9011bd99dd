// SPDX-License-Identifier: Apache-2.0
//
// The topologies that come with the project say of their machines what is known of these.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "../../support/sanitizers.hpp"
#include "arbiter/core/topology.hpp"
#include "damaged_files.hpp"

namespace meterbank::arbiter::shipped_topologies_test {
namespace {

Topology parsed(std::string_view text) {
  auto topology = parse_topology(text, "t");
  EXPECT_TRUE(topology) << (topology ? "" : topology.error().message());
  return topology.value_or(Topology());
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string shipped(std::string_view name) {
  return content_of(fmt::format("{}/{}.toml", METERBANK_TOPOLOGIES, name));
}

// Whatever the bytes, there is a topology or an error with a line and a remedy.
TEST(ShippedTopologies, SurviveDamage) {
  const std::string whole = shipped("lunar-lake");
  ASSERT_FALSE(whole.empty());
  expect_refusals_are_named(whole, test::kHasSanitizer ? 200 : 3000, 3,
                            [](const std::string& text) { return parse_topology(text, "f"); });
}

struct Shipped {
  std::string_view file;
  std::string_view pmu;
  std::uint32_t general, fixed;
  std::size_t cpus;
  std::size_t cores;  // with more than one thread
};

constexpr Shipped kShipped[] = {
    {"skylake-sp", "cpu", 4, 3, 56, 28},
    {"icelake-sp", "cpu", 8, 4, 80, 40},
    {"sapphire-rapids-2s", "cpu", 8, 4, 224, 112},
    {"alder-lake", "cpu_core", 8, 4, 16, 8},
    {"alder-lake", "cpu_atom", 6, 3, 8, 8},
    {"lunar-lake", "cpu_core", 10, 4, 4, 0},
    {"lunar-lake", "cpu_atom", 8, 7, 4, 0},
    {"zen2", "cpu", 6, 0, 32, 16},
    {"zen2", "amd_l3", 6, 0, 4, 16},
    {"zen2", "amd_df", 4, 0, 1, 16},
    {"zen3", "cpu", 6, 0, 32, 16},
    {"zen3", "amd_l3", 6, 0, 2, 16},
    {"zen4", "cpu", 6, 0, 32, 16},
    {"zen5", "cpu", 6, 0, 32, 16},
    {"neoverse-n1", "armv8_pmuv3", 6, 1, 64, 0},
    {"breakpoint_x86", "breakpoint", 4, 0, 2, 0},
    {"qemu_cortex_a57", "armv8_pmuv3", 6, 1, 2, 0},
};

TEST(ShippedTopologies, HaveTheCountsOfTheirMachines) {
  for (const Shipped& row : kShipped) {
    const Topology topology = parsed(shipped(row.file));
    const auto index = topology.find_pmu(row.pmu);
    ASSERT_TRUE(index) << row.file;
    const Pmu& pmu = topology.pmus[*index];
    EXPECT_EQ(pmu.general, row.general) << row.file;
    EXPECT_EQ(pmu.fixed, row.fixed) << row.file;
    EXPECT_EQ(pmu.cpus.count(), row.cpus) << row.file;
    EXPECT_EQ(topology.cores.size(), row.cores) << row.file;
  }
}

TEST(ShippedTopologies, AreAllInTheTable) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(METERBANK_TOPOLOGIES)) {
    found.insert(entry.path().stem().string());
  }
  std::set<std::string> known;
  for (const Shipped& row : kShipped) known.emplace(row.file);
  EXPECT_EQ(found, known);
}

struct Constraint {
  std::string_view file, pmu;
  std::uint32_t code, unit_mask;
  CounterMask counters;
};

constexpr CounterMask fixed(unsigned number) { return CounterMask{1} << (kFixedFirst + number); }

constexpr Constraint kConstraints[] = {
    {"skylake-sp", "cpu", 0xc0, 0x01, 0x2},
    {"skylake-sp", "cpu", 0x00, 0x03, fixed(2)},
    {"skylake-sp", "cpu", 0x3c, 0x00, 0xf | fixed(1)},
    {"icelake-sp", "cpu", 0xa8, 0x01, 0x0f},
    {"icelake-sp", "cpu", 0xa7, 0x01, 0xff},
    {"icelake-sp", "cpu", 0x00, 0x04, fixed(3)},
    {"sapphire-rapids-2s", "cpu", 0x8f, 0x01, 0x0f},
    {"sapphire-rapids-2s", "cpu", 0x90, 0x01, 0xff},
    {"sapphire-rapids-2s", "cpu", 0x2e, 0x41, 0xff},
    {"sapphire-rapids-2s", "cpu", 0x3c, 0x01, 0xff},
    {"sapphire-rapids-2s", "cpu", 0x3c, 0x00, 0xff | fixed(1)},
    {"sapphire-rapids-2s", "cpu", 0xce, 0x77, 0x01},
    {"sapphire-rapids-2s", "cpu", 0xcd, 0x02, 0x01},
    {"sapphire-rapids-2s", "cpu", 0xcd, 0x01, 0xff},
    {"sapphire-rapids-2s", "cpu", 0xdf, 0x00, 0x0f},
    {"alder-lake", "cpu_core", 0xa4, 0x08, 0x01},
    {"alder-lake", "cpu_atom", 0xa4, 0x08, 0x3f},
    {"alder-lake", "cpu_atom", 0xc0, 0x00, 0x3f | fixed(0)},
    {"lunar-lake", "cpu_core", 0xcd, 0x01, 0x3fc},
    {"lunar-lake", "cpu_core", 0xb1, 0x01, 0x8},
    {"lunar-lake", "cpu_atom", 0xc2, 0x02, 0xff | fixed(6)},
    {"zen3", "cpu", 0x76, 0x00, 0x3f},
    {"neoverse-n1", "armv8_pmuv3", 0x11, 0x00, 0x3f | fixed(0)},
    {"neoverse-n1", "armv8_pmuv3", 0x08, 0x00, 0x3f},
    {"breakpoint_x86", "breakpoint", 2, 1, 0xf},
    {"breakpoint_x86", "breakpoint", 4, 8, 0xf},
    {"qemu_cortex_a57", "armv8_pmuv3", 0x11, 0x00, 0x3f | fixed(0)},
    {"qemu_cortex_a57", "armv8_pmuv3", 0x08, 0x00, 0x3f},
};

TEST(ShippedTopologies, PutEventsWhereTheirMachinesDo) {
  for (const Constraint& row : kConstraints) {
    const Topology topology = parsed(shipped(row.file));
    const auto pmu = topology.find_pmu(row.pmu);
    ASSERT_TRUE(pmu) << row.file;
    EXPECT_EQ(topology.counters_for(*pmu, row.code, row.unit_mask), row.counters)
        << fmt::format("{} {} {:#x}:{:#x}", row.file, row.pmu, row.code, row.unit_mask);
  }
}

// Those of tests/arbiter/machines, in the shapes that tests rely on.
TEST(InventedTopologies, HaveTheirShapes) {
  const auto invented = [](std::string_view name) {
    return parsed(content_of(fmt::format("{}/{}.toml", METERBANK_MACHINES, name)));
  };
  const Topology power = invented("power-like");
  ASSERT_EQ(power.pmus.size(), 1U);
  EXPECT_EQ(power.pmus[0].counters(), 0x3fU);
  EXPECT_EQ(power.pmus[0].cpus.count(), 8U);
  EXPECT_EQ(power.cores.size(), 2U);
  EXPECT_EQ(power.counters_for(0, 0x500fa, 0x00), 0x10U);
  EXPECT_EQ(power.counters_for(0, 0x12345, 0x07), 0x0fU);
  const Topology one = invented("one-counter");
  ASSERT_EQ(one.pmus.size(), 1U);
  EXPECT_EQ(one.pmus[0].cpus.count(), 1U);
  EXPECT_EQ(one.counters_for(0, 0x01, 0x00), 0x1U);
}

TEST(ShippedTopologies, BreakpointsAreHadByNameAndWatchWhatX86Can) {
  const Topology topology = parsed(shipped("breakpoint_x86"));
  EXPECT_TRUE(topology.pmus[0].is_named_only);
  EXPECT_TRUE(topology.pmus[0].is_closed);
  for (std::uint32_t code = 0; code <= 5; ++code) {
    for (std::uint32_t bytes = 0; bytes <= 9; ++bytes) {
      const bool is_length = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
      const bool is_possible = code == 4 ? bytes == 8 : (code == 2 || code == 3) && is_length;
      EXPECT_EQ(topology.class_of(0, code, bytes).has_value(), is_possible) << code << " " << bytes;
    }
  }
  EXPECT_FALSE(parsed(shipped("zen5")).pmus[0].is_named_only);
  EXPECT_FALSE(parsed(shipped("zen5")).pmus[0].is_closed);
}

TEST(ShippedTopologies, KnowTheWatchdogWhereThereIsOne) {
  const Topology alder = parsed(shipped("alder-lake"));
  ASSERT_EQ(alder.foreign.size(), 2U);
  EXPECT_EQ(alder.classes[alder.foreign[1].event_class].counters, 0x3f | fixed(1));
  EXPECT_EQ(parsed(shipped("zen5")).foreign.size(), 1U);
  EXPECT_TRUE(parsed(shipped("neoverse-n1")).foreign.empty());
}

}  // namespace
}  // namespace meterbank::arbiter::shipped_topologies_test
