// SPDX-License-Identifier: Apache-2.0
//
// What `meterbank pmu` reads as events, and how it prints counts. No arbiter.
#include <gtest/gtest.h>

#include "../cli_json.hpp"
#include "cli/pmu/grammar/event_words.hpp"
#include "cli/pmu/run/counts.hpp"

namespace meterbank::cli {
namespace {

using pmu::ItemKind;

// ---- Events ----

TEST(PmuEvents, ABreakpointIsSpelledAsPerfSpellsIt) {
  const auto events = parse_events("mem:0x4c2010/8:w,mem:0x10:u,mem:4096/1:x");

  ASSERT_TRUE(events) << events.error().message();
  EXPECT_EQ((*events)[0].item.configuration, 0x4c2010U);
  EXPECT_EQ((*events)[0].item.unit_mask, 8U);
  EXPECT_EQ((*events)[0].item.code, 2U);
  EXPECT_EQ((*events)[1].item.unit_mask, 4U);
  EXPECT_EQ((*events)[1].item.code, 3U);
  EXPECT_EQ((*events)[1].item.flags, pmu::kItemExcludesKernel);
  EXPECT_EQ((*events)[2].item.configuration, 4096U);
  EXPECT_EQ((*events)[2].item.code, 4U);
}

TEST(PmuEvents, NamesModesRawCodesAndPlainCountersAreToldApart) {
  const auto events = parse_events("cycles:u,r01c2,2*low2,3");

  ASSERT_TRUE(events) << events.error().message();
  const auto kind = [&](std::size_t i) { return static_cast<ItemKind>((*events)[i].item.kind); };
  EXPECT_EQ(kind(0), ItemKind::kNamedEvent);
  EXPECT_EQ(pmu::text_of((*events)[0].item.name), "cycles");
  EXPECT_EQ((*events)[0].item.flags, pmu::kItemExcludesKernel);
  EXPECT_EQ(kind(1), ItemKind::kEvent);
#if defined(__x86_64__)
  EXPECT_EQ((*events)[1].item.code, 0xc2U);
  EXPECT_EQ((*events)[1].item.unit_mask, 0x01U);
#endif
  EXPECT_EQ(kind(2), ItemKind::kClass);
  EXPECT_EQ((*events)[2].item.count, 2U);
  EXPECT_FALSE((*events)[3].counts());
}

TEST(PmuEvents, MalformedEventListsAreUsageErrors) {
  for (const char* const text : {"", "cycles,", "mem:", "mem:zero", "mem:0x10/3", "mem:0x10:q", "0",
                                 "0*any", "cycles,mem:0x10", "mem:0x10000000000000000"}) {
    const auto events = parse_events(text);
    ASSERT_FALSE(events) << text;
    EXPECT_EQ(events.error().code, ErrorCode::kInvalidArgument) << text;
    EXPECT_FALSE(events.error().remedy.empty()) << text;
  }
}

// ---- Tables of counts ----

RowStyle style_in(Format format) {
  RowStyle style;
  style.format = format;
  return style;
}

TEST(PmuCounts, ACounterThatNeverCountedHasNoNumber) {
  const auto events = parse_events("cycles,instructions");
  const Counts counts{
      pmu::Quality::kExact,
      {{.item = 0, .cpu = pmu::kNoCpu, .value = 0, .enabled_ns = 9, .running_ns = 0},
       {.item = 1, .cpu = pmu::kNoCpu, .value = 0, .enabled_ns = 9, .running_ns = 9}}};

  const auto text = print_counts(counts, *events, {.seconds = 1}, style_in(Format::kJson));

  const auto rows = parse_json(text);
  EXPECT_TRUE(rows[0]["value"].is_null()) << text;
  EXPECT_EQ(rows[0]["quality"], "starved");
  EXPECT_EQ(rows[1]["value"], 0) << "a true zero is a number";
  EXPECT_TRUE(print_ratio(counts, *events).empty());
}

TEST(PmuCounts, AProgramThatSleptHasCountedNothingAndMissedNothing) {
  const auto events = parse_events("cycles");
  const Counts counts{pmu::Quality::kExact, {{.item = 0, .cpu = pmu::kNoCpu}}};

  const auto text =
      print_counts(counts, *events, {.seconds = 1, .elapsed_s = 2}, style_in(Format::kJson));

  const auto rows = parse_json(text);
  EXPECT_EQ(rows[0]["value"], 0) << text;
  EXPECT_EQ(rows[0]["quality"], "exact");
  EXPECT_EQ(rows[0]["rate_per_s"], 0);
}

TEST(PmuCounts, MarkEstimatesOfPartialTime) {
  const auto events = parse_events("cycles");
  const Counts counts{pmu::Quality::kSliced,
                      {{.item = 0, .cpu = 1, .value = 100, .enabled_ns = 1000, .running_ns = 250}}};

  const auto text = print_counts(counts, *events, {.seconds = 1}, style_in(Format::kTable));

  EXPECT_NE(text.find("100"), std::string::npos) << text;
  EXPECT_NE(text.find("25 %"), std::string::npos) << text;
  EXPECT_NE(text.find("~400"), std::string::npos) << text;
  EXPECT_NE(text.find("sliced"), std::string::npos) << text;
}

TEST(PmuCounts, ShowDifferencesAndAddUpCpus) {
  const auto counts = [](std::uint64_t value) {
    return Counts{
        pmu::Quality::kExact,
        {{.item = 0, .cpu = 0, .value = value, .enabled_ns = value, .running_ns = value},
         {.item = 0, .cpu = 1, .value = 2 * value, .enabled_ns = value, .running_ns = value}}};
  };

  const auto sum = added_up(since(counts(10), counts(30)));

  ASSERT_EQ(sum.values.size(), 1U);
  EXPECT_EQ(sum.values[0].value, 60U);
  EXPECT_TRUE(since(counts(10), Counts()).values.empty());
}

}  // namespace
}  // namespace meterbank::cli
