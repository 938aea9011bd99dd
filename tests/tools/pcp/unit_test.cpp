// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "pcp/metrics/pcp_unit.hpp"
#include "units/base_unit.hpp"

namespace meterbank::pcp {
namespace {

struct Converted {
  std::string units;  // as pminfo prints them; empty: none
  std::uint64_t multiple;
  bool says_all;

  bool operator==(const Converted&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Converted& converted) {
  return out << converted.units << " times " << converted.multiple << ", "
             << (converted.says_all ? "all" : "not all");
}

Converted convert(std::string_view ucum, bool counts = false) {
  const BaseUnit base = base_unit_of(ucum);
  const PcpUnit unit = pcp_unit_of(base.unit, base.factor, base.divisor, counts);
  return {pmUnitsStr(&unit.units), unit.multiple, unit.says_all};
}

TEST(PcpUnits, KeepStoredValuesWhereThereIsAScale) {
  EXPECT_EQ(convert("By"), (Converted{"byte", 1, true}));
  EXPECT_EQ(convert("KiBy"), (Converted{"Kbyte", 1, true}));
  EXPECT_EQ(convert("MiBy"), (Converted{"Mbyte", 1, true}));
  EXPECT_EQ(convert("GiBy"), (Converted{"Gbyte", 1, true}));
  EXPECT_EQ(convert("ns"), (Converted{"nanosec", 1, true}));
  EXPECT_EQ(convert("us"), (Converted{"microsec", 1, true}));
  EXPECT_EQ(convert("ms"), (Converted{"millisec", 1, true}));
  EXPECT_EQ(convert("s"), (Converted{"sec", 1, true}));
  EXPECT_EQ(convert("min"), (Converted{"min", 1, true}));
  EXPECT_EQ(convert("h"), (Converted{"hour", 1, true}));
  EXPECT_EQ(convert("Hz"), (Converted{"/ sec", 1, true}));
  EXPECT_EQ(convert("kHz"), (Converted{"/ millisec", 1, true}));
  EXPECT_EQ(convert("MHz"), (Converted{"/ microsec", 1, true}));
  EXPECT_EQ(convert("By/s"), (Converted{"byte / sec", 1, true}));
  EXPECT_EQ(convert("KiBy/s"), (Converted{"Kbyte / sec", 1, true}));
}

TEST(PcpUnits, MultiplyByWholeNumbersWhereThereIsNone) {
  EXPECT_EQ(convert("kBy"), (Converted{"byte", 1000, true}));
  EXPECT_EQ(convert("d"), (Converted{"hour", 24, true}));
  const PcpUnit ticks = pcp_unit_of("s", 1, 1e7, true);
  EXPECT_EQ(pmUnitsStr(&ticks.units), std::string("nanosec"));
  EXPECT_EQ(ticks.multiple, 100U);
}

TEST(PcpUnits, SayThatNoWholeNumberWillDo) {
  EXPECT_EQ(convert("10*-2"), (Converted{"", 0, true}));
  EXPECT_EQ(pcp_unit_of("s", 1, 3, true).multiple, 0U);
}

TEST(PcpUnits, CountWhatIsAnnotatedOrCounted) {
  EXPECT_EQ(convert("{order}"), (Converted{"count", 1, true}));
  EXPECT_EQ(convert("{order}/s"), (Converted{"count / sec", 1, true}));
  EXPECT_EQ(convert("", true), (Converted{"count", 1, true}));
  EXPECT_EQ(convert(""), (Converted{"", 1, true}));
  EXPECT_EQ(convert("1"), (Converted{"", 1, true}));
}

TEST(PcpUnits, LeaveToALabelWhatPcpCannotSay) {
  EXPECT_EQ(convert("V"), (Converted{"", 1, false}));
  EXPECT_EQ(convert("W/s"), (Converted{"", 1, false}));
  EXPECT_EQ(convert("bit"), (Converted{"", 1, false}));
}

}  // namespace
}  // namespace meterbank::pcp
