// SPDX-License-Identifier: Apache-2.0
//
// What is read without a kernel: how sysfs writes events, and how processors count their counters.
#include "arbiter/backend/perf/events/event_format.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "arbiter/backend/perf/core_counters.hpp"

namespace meterbank::arbiter {
namespace {

TEST(FormatField, PutsAndGetsTheSameValueInPieces) {
  const auto field = FormatField::parse("config1:0-7,32-35");
  ASSERT_TRUE(field.has_value());
  EventCode code;
  EXPECT_TRUE(field->put(0xabc, code));
  EXPECT_EQ(code.words, (std::array<std::uint64_t, 3>{0, 0xa000000bc, 0}));
  EXPECT_EQ(field->get(code), 0xabcU);
  EventCode other;
  EXPECT_FALSE(field->put(0x1000, other)) << "it has twelve bits";
}

TEST(FormatField, RefusesWhatMakesNoSense) {
  for (const char* text :
       {"", "config", "config:", "config:8-0", "config:0-64", "config9:0-7", "config:a-b",
        "config:0-7,", "config:0-63,0-63", "config:-1", "config:1-2-3", "config3:0-7"}) {
    const auto field = FormatField::parse(text);
    // A comma at the end says nothing more, and does no harm.
    EXPECT_EQ(field.has_value(), std::string_view(text) == "config:0-7,") << text;
  }
  EXPECT_TRUE(FormatField::parse("config:0-63").has_value());
  EXPECT_TRUE(FormatField::parse("config2:5").has_value());
}

[[nodiscard]] EventFormat skylake() {
  EventFormat format;
  format.add("event", *FormatField::parse("config:0-7"));
  format.add("umask", *FormatField::parse("config:8-15"));
  format.add("edge", *FormatField::parse("config:18"));
  format.add("ldlat", *FormatField::parse("config1:0-15"));
  return format;
}

TEST(EventFormat, EncodesTermsAsPerfDoes) {
  const EventFormat format = skylake();
  const auto loads = format.encode(4, "event=0xcd,umask=0x1,ldlat=3");
  ASSERT_TRUE(loads.has_value());
  EXPECT_EQ(*loads, (EventCode{.type = 4, .words = {0x1cd, 3, 0}}));
  EXPECT_EQ(format.code_of(*loads), 0xcdU);
  EXPECT_EQ(format.unit_mask_of(*loads), 1U);
  EXPECT_EQ(format.encode(4, "event=0x3c,edge")->words[0], 0x4003cU);
  EXPECT_EQ(format.encode(4, "config=0x1234")->words[0], 0x1234U);
  EXPECT_EQ(format.encode(4, 0xc0, 0x01)->words[0], 0x1c0U);
}

TEST(EventFormat, LeavesOutWhatItDoesNotUnderstand) {
  const EventFormat format = skylake();
  for (const char* terms : {"", "event", "event=?", "event=0x3c,unknown=1", "event=0x3c0",
                            "event=", "=1", "event=0x3c,umask=zz", "event=99999999999999999999"}) {
    const bool is_flag = std::string_view(terms) == "event";  // short for event=1
    EXPECT_EQ(format.encode(4, terms).has_value(), is_flag) << terms;
  }
  EXPECT_FALSE(format.encode(4, 0x100, 0).has_value());
  EventFormat without_unit_mask;
  without_unit_mask.add("event", *FormatField::parse("config:0-15"));
  EXPECT_TRUE(without_unit_mask.encode(8, 0x11, 0).has_value());
  EXPECT_FALSE(without_unit_mask.encode(8, 0x11, 1).has_value());
  EXPECT_EQ(EventFormat().encode(8, 0x11, 2)->words[0], 0x211U) << "the usual places";
}

using Leaves = std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::uint32_t, 4>>;

[[nodiscard]] CoreCounters counters_of(const char* vendor, std::uint32_t leaf_max, Leaves leaves) {
  std::array<std::uint32_t, 4> head = {leaf_max, 0, 0, 0};
  std::memcpy(&head[1], vendor, 4);
  std::memcpy(&head[3], vendor + 4, 4);
  std::memcpy(&head[2], vendor + 8, 4);
  leaves[{0, 0}] = head;
  return counters_by_cpuid([&](std::uint32_t leaf, std::uint32_t part) {
    return leaves[{leaf, part}];
  });
}

TEST(CoreCounters, AreReadFromTheLeavesOfIntel) {
  // Version 5, 8 counters of 48 bits, 4 fixed ones.
  const Leaves icelake = {{{0x0a, 0}, {0x08300805, 0, 0, 0x8604}}};
  const CoreCounters counters = counters_of("GenuineIntel", 0x16, icelake);
  EXPECT_EQ(counters.vendor, "GenuineIntel");
  EXPECT_EQ(counters.general, 8U);
  EXPECT_EQ(counters.fixed, 4U);
  EXPECT_EQ(counters.width, 48U);
  Leaves lunar_lake = icelake;
  lunar_lake[{0x23, 0}] = {0x3, 0, 0, 0};
  lunar_lake[{0x23, 1}] = {0x3ff, 0xf, 0, 0};
  EXPECT_EQ(counters_of("GenuineIntel", 0x23, lunar_lake).general, 10U);
  EXPECT_EQ(counters_of("GenuineIntel", 0x16, {}).general, 0U) << "a guest without a PMU";
  EXPECT_EQ(counters_of("GenuineIntel", 0x09, icelake).general, 0U);
}

TEST(CoreCounters, AreReadFromTheLeavesOfAmd) {
  const Leaves zen3 = {{{0x80000000, 0}, {0x80000021, 0, 0, 0}},
                       {{0x80000001, 0}, {0, 0, 1U << 23, 0}}};
  EXPECT_EQ(counters_of("AuthenticAMD", 0x10, zen3).general, 6U);
  Leaves zen4 = zen3;
  zen4[{0x80000000, 0}] = {0x80000028, 0, 0, 0};
  zen4[{0x80000022, 0}] = {1, 0x5, 0, 0};
  EXPECT_EQ(counters_of("AuthenticAMD", 0x10, zen4).general, 5U);
  const Leaves old = {{{0x80000000, 0}, {0x8000001e, 0, 0, 0}}};
  EXPECT_EQ(counters_of("AuthenticAMD", 0x10, old).general, 4U);
  EXPECT_EQ(counters_of("UnknownVendor", 0x23, zen4).general, 0U);
}

TEST(CoreCounters, AskingACpuLeavesTheThreadWhereItMayRun) {
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  static_cast<void>(core_counters_on(0));
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace meterbank::arbiter
