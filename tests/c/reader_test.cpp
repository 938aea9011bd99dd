// SPDX-License-Identifier: Apache-2.0
//
// The reading half of the C interface, as callers use it. reader_misuse_test.cpp has what they
// should not do.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "../support/allocation_count.hpp"
#include "reader_fixture.hpp"

namespace meterbank {
namespace {

using CReaderTest = test::CReader;

TEST_F(CReaderTest, ListsProvidersWithTheirState) {
  mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
  ASSERT_EQ(mb_catalog_summarize(catalog_, &summary, nullptr), MB_OK);
  EXPECT_EQ(summary.providers, 1U);
  EXPECT_EQ(summary.left_out, 0U);
  EXPECT_EQ(summary.is_stale, 0U);

  mb_listed_provider listed = MB_LISTED_PROVIDER_INIT;
  ASSERT_EQ(mb_catalog_provider(catalog_, 0, &listed, nullptr), MB_OK);
  EXPECT_STREQ(listed.name, "kitchen");
  EXPECT_EQ(listed.label, "kitchen@" + std::to_string(::getpid()));
  EXPECT_STREQ(mb_provider_state_text(listed.state), "live");
  EXPECT_EQ(listed.sets, 1U);
  EXPECT_STREQ(listed.why, "");
  EXPECT_EQ(mb_catalog_provider(catalog_, 1, &listed, nullptr), MB_NOT_FOUND);

  soup_ = *set_.create_instance("broth");
  ASSERT_EQ(mb_catalog_summarize(catalog_, &summary, nullptr), MB_OK);
  EXPECT_EQ(summary.is_stale, 1U);
  const std::uint64_t before = summary.version;
  ASSERT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK);
  ASSERT_EQ(mb_catalog_summarize(catalog_, &summary, nullptr), MB_OK);
  EXPECT_GT(summary.version, before);
  EXPECT_EQ(summary.is_stale, 0U);
}

TEST_F(CReaderTest, NamesWhatTheCatalogLeftOut) {
  mb_left_out left_out = MB_LEFT_OUT_INIT;
  EXPECT_EQ(mb_catalog_left_out(catalog_, 0, &left_out, nullptr), MB_NOT_FOUND);
  std::ofstream(directory_.path() + "/junk.provider") << "not a record";
  ASSERT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK);

  ASSERT_EQ(mb_catalog_left_out(catalog_, 0, &left_out, nullptr), MB_OK);
  EXPECT_EQ(left_out.count, 1U);
  EXPECT_EQ(left_out.uid, ::geteuid());
  EXPECT_EQ(left_out.hides_providers, 0U);
  EXPECT_STREQ(left_out.reason, "files called like records that are not records");
  EXPECT_EQ(mb_catalog_left_out(catalog_, 1, &left_out, nullptr), MB_NOT_FOUND);
  left_out.size = 3;
  EXPECT_EQ(mb_catalog_left_out(catalog_, 0, &left_out, nullptr), MB_INVALID_ARGUMENT);
}

TEST_F(CReaderTest, GivesRowsAndValuesOfEachForm) {
  collect_twice();
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
  mb_row row = MB_ROW_INIT;
  ASSERT_EQ(mb_cursor_next_row(cursor_, &row, nullptr), MB_OK);
  EXPECT_EQ(row.status, MB_ROW_FRESH);
  EXPECT_EQ(row.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_STREQ(row.provider, "kitchen");
  EXPECT_STREQ(row.set, "Stages");
  EXPECT_STREQ(row.set_symbol, "stages");
  EXPECT_STREQ(row.set_label, "stage");
  EXPECT_STREQ(row.instance, "soup");
  EXPECT_EQ(row.is_total, 0U);

  mb_value value = MB_VALUE_INIT;
  ASSERT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_OK);
  EXPECT_STREQ(value.symbol, "served");
  EXPECT_STREQ(value.unit, "{order}");
  EXPECT_STREQ(value.help, "Orders served.");
  EXPECT_EQ(value.type, MB_TYPE_BULK_COUNT);
  EXPECT_EQ(value.form, MB_FORM_UNSIGNED);
  EXPECT_EQ(value.raw, 10U);
  EXPECT_EQ(value.status, MB_VALUE_NEW);
  EXPECT_GT(value.cooked, 0);
  EXPECT_EQ(value.text, nullptr);
  const char* path = nullptr;
  ASSERT_EQ(mb_cursor_path(cursor_, MB_PATH_SHORT, &path, nullptr), MB_OK);
  EXPECT_STREQ(path, "stages/soup/served");
  ASSERT_EQ(mb_cursor_path(cursor_, MB_PATH_WINDOWS, &path, nullptr), MB_OK);
  EXPECT_STREQ(path, "\\Stages(soup)\\Served/sec");

  ASSERT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_OK);
  EXPECT_EQ(value.form, MB_FORM_DISTRIBUTION);

  ASSERT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_OK);
  EXPECT_EQ(value.form, MB_FORM_TEXT);
  EXPECT_EQ(std::string(value.text, value.text_length), "hot");
  EXPECT_GT(value.set_ns, 0U);
  EXPECT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(mb_cursor_next_row(cursor_, &row, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(mb_cursor_next_row(cursor_, &row, nullptr), MB_NOT_FOUND);
}

TEST_F(CReaderTest, GivesWhatWasRecordedBetweenTheSamples) {
  collect_twice();
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
  ASSERT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_OK);
  mb_distribution distribution = MB_DISTRIBUTION_INIT;
  EXPECT_EQ(mb_cursor_distribution(cursor_, &distribution, nullptr), MB_NOT_FOUND);
  ASSERT_EQ(mb_cursor_next_value(cursor_, nullptr, nullptr), MB_OK);
  EXPECT_EQ(mb_cursor_distribution(cursor_, &distribution, nullptr), MB_NOT_FOUND);
  ASSERT_EQ(mb_cursor_next_value(cursor_, nullptr, nullptr), MB_OK);

  ASSERT_EQ(mb_cursor_distribution(cursor_, &distribution, nullptr), MB_OK);
  EXPECT_EQ(distribution.count, 2U);  // one before the older sample
  EXPECT_DOUBLE_EQ(distribution.sum, 0.75);
  std::uint64_t in_buckets = 0;
  for (std::uint32_t i = 0; i < distribution.bucket_count; ++i) {
    if (distribution.buckets[i] == 0) continue;
    const double base = std::exp2(std::exp2(-distribution.scale));
    const double lower = std::pow(base, distribution.first + static_cast<std::int32_t>(i));
    EXPECT_TRUE((lower < 0.25 && 0.25 <= lower * base) || (lower < 0.5 && 0.5 <= lower * base))
        << i;
    in_buckets += distribution.buckets[i];
  }
  EXPECT_EQ(in_buckets, 2U);

  double quantile = 0;
  std::uint32_t status = MB_VALUE_NO_VALUE;
  ASSERT_EQ(mb_cursor_quantile(cursor_, 1, &quantile, &status, nullptr), MB_OK);
  EXPECT_NEAR(quantile, 0.5, 0.5 * 0.05);
  EXPECT_EQ(status, MB_VALUE_NEW);
  ASSERT_EQ(mb_cursor_start(cursor_, older_, nullptr, nullptr), MB_OK);
}

TEST_F(CReaderTest, GivesAllValuesAtOnceInTheOrderOfTheCursor) {
  const Instance stew = *set_.create_instance("stew");
  refresh();
  collect_twice();
  std::array<double, 8> cooked{};
  std::array<std::uint64_t, 8> raw{};
  std::array<std::uint8_t, 8> status{};
  mb_values values = MB_VALUES_INIT;
  values.cooked = cooked.data();
  values.raw = raw.data();
  values.status = status.data();
  values.capacity = raw.size();
  ASSERT_EQ(mb_sample_values(newer_, older_, &values, nullptr), MB_OK);
  ASSERT_EQ(values.count, 6U);

  ASSERT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
  std::size_t index = 0;
  while (mb_cursor_next_row(cursor_, nullptr, nullptr) == MB_OK) {
    mb_value value = MB_VALUE_INIT;
    while (mb_cursor_next_value(cursor_, &value, nullptr) == MB_OK) {
      ASSERT_LT(index, values.count);
      EXPECT_EQ(status[index], value.status) << index;
      EXPECT_EQ(raw[index], value.raw) << index;
      if (mb_has_value(value.status)) {
        EXPECT_EQ(cooked[index], value.cooked) << index;
      } else {
        EXPECT_TRUE(std::isnan(cooked[index])) << index;
      }
      ++index;
    }
  }
  EXPECT_EQ(index, values.count);
  EXPECT_EQ(raw[0], 10U);
  EXPECT_EQ(raw[3], 0U);

  // Without an older sample there is no rate.
  ASSERT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
  EXPECT_EQ(status[0], MB_VALUE_FIRST_SAMPLE);
  EXPECT_TRUE(std::isnan(cooked[0]));
}

TEST_F(CReaderTest, CountsTheValuesThatDoNotFit) {
  collect_twice();
  std::array<std::uint64_t, 3> raw{7, 7, 7};
  mb_values values = MB_VALUES_INIT;
  values.raw = raw.data();
  values.capacity = 1;
  ASSERT_EQ(mb_sample_values(newer_, older_, &values, nullptr), MB_OK);
  EXPECT_EQ(values.count, 3U);
  EXPECT_EQ(raw[0], 10U);
  EXPECT_EQ(raw[1], 7U);
}

TEST_F(CReaderTest, SaysByANumberWhetherTheColumnsAreTheSame) {
  const auto layout = [this] {
    collect_twice();
    mb_values values = MB_VALUES_INIT;
    EXPECT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
    return values.layout;
  };
  const std::uint64_t before = layout();
  EXPECT_EQ(layout(), before);
  Instance stew = *set_.create_instance("stew");
  refresh();
  const std::uint64_t with_stew = layout();
  EXPECT_NE(with_stew, before);
  stew.close();
  refresh();
  EXPECT_EQ(layout(), before);
  stew = *set_.create_instance("stew");
  refresh();
  EXPECT_NE(layout(), before);
  EXPECT_NE(layout(), with_stew) << "it is another instance of the same name";
}

TEST_F(CReaderTest, SaysByANumberWhetherThePathsAreTheSame) {
  CountersetSpec spec{.name = "Waves",
                      .symbol = "waves",
                      .identity = InstanceIdentity::kNameAndId,
                      .counters = std::span(kCounters).first(1)};
  const Registration set = *provider_.add(spec);
  const Instance second = *set.create_instance("wave", {.id = 2});
  refresh();
  mb_query* query = nullptr;
  const char* const path = "waves/wave#2/served";
  ASSERT_EQ(mb_query_compile(catalog_, &path, 1, nullptr, 0, &query, nullptr), MB_OK);
  const auto layout = [&] {
    EXPECT_EQ(mb_query_collect(query, newer_, MB_CUT_NONE, nullptr, nullptr), MB_OK);
    mb_values values = MB_VALUES_INIT;
    EXPECT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
    return values.layout;
  };
  const std::uint64_t alone = layout();
  const Instance first = *set.create_instance("wave", {.id = 1});
  EXPECT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK);
  EXPECT_EQ(mb_query_update(query, catalog_, nullptr, nullptr), MB_OK);
  EXPECT_NE(layout(), alone) << "it is waves/wave#2/served now";
  mb_query_close(query);
}

TEST_F(CReaderTest, SelectsByPathsAndNamesThoseThatSelectNothing) {
  const std::array<const char*, 2> paths = {"stages/soup/served", "stages/soup/servd"};
  mb_query* query = nullptr;
  ASSERT_EQ(mb_query_compile(catalog_, paths.data(), paths.size(), nullptr, 0, &query, nullptr),
            MB_OK);
  mb_unmatched unmatched = MB_UNMATCHED_INIT;
  ASSERT_EQ(mb_query_unmatched(query, 0, &unmatched, nullptr), MB_OK);
  EXPECT_STREQ(unmatched.path, paths[1]);
  EXPECT_STREQ(unmatched.part, "counter");
  EXPECT_STREQ(unmatched.suggestion, "served");
  EXPECT_EQ(mb_query_unmatched(query, 1, &unmatched, nullptr), MB_NOT_FOUND);
  mb_collected collected = MB_COLLECTED_INIT;
  ASSERT_EQ(mb_query_collect(query, newer_, MB_CUT_TRY, &collected, nullptr), MB_OK);
  EXPECT_EQ(collected.rows, 1U);
  EXPECT_EQ(collected.not_fresh, 0U);
  EXPECT_EQ(collected.cut, MB_ROW_CUT_EXACT);
  EXPECT_GT(collected.monotonic_ns, 0U);
  mb_values values = MB_VALUES_INIT;
  ASSERT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
  EXPECT_EQ(values.count, 1U);
  mb_query_close(query);

  const char* const everything = "stages/*/*";
  const char* const excluded = "stages/*/latency";
  ASSERT_EQ(mb_query_compile(catalog_, &everything, 1, &excluded, 1, &query, nullptr), MB_OK);
  ASSERT_EQ(mb_query_collect(query, newer_, MB_CUT_NONE, nullptr, nullptr), MB_OK);
  ASSERT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
  EXPECT_EQ(values.count, 2U);
  mb_query_close(query);
}

TEST_F(CReaderTest, AsksForRowsThatAreComputedOnDemand) {
  const std::array counters{CounterSpec{
      .id = 1, .name = "Level", .symbol = "level", .type = CounterType::kLargeRawCount}};
  const Registration pots = *provider_.add({.name = "Pots", .symbol = "pots", .counters = counters},
                                           [](CallbackRequest& request) {
                                             const std::array<std::uint64_t, 1> level{42};
                                             static_cast<void>(request.add("big", 1, level));
                                             return 0U;
                                           });
  refresh();
  const char* const path = "pots/*/level";
  mb_query* query = nullptr;
  ASSERT_EQ(mb_query_compile(catalog_, &path, 1, nullptr, 0, &query, nullptr), MB_OK);
  mb_collected collected = MB_COLLECTED_INIT;
  ASSERT_EQ(mb_query_ask(query, newer_, 10'000'000'000, MB_CUT_NONE, &collected, nullptr), MB_OK);
  EXPECT_EQ(collected.unanswered, 0U);
  EXPECT_EQ(collected.rows, 1U);
  mb_answer answer = MB_ANSWER_INIT;
  ASSERT_EQ(mb_sample_answer(newer_, 0, &answer, nullptr), MB_OK);
  EXPECT_EQ(answer.has_rows, 1U);
  EXPECT_EQ(answer.rows, 1U);
  EXPECT_STREQ(answer.set, "Pots");
  EXPECT_EQ(mb_sample_answer(newer_, 1, &answer, nullptr), MB_NOT_FOUND);
  std::uint64_t level = 0;
  mb_values values = MB_VALUES_INIT;
  values.raw = &level;
  values.capacity = 1;
  ASSERT_EQ(mb_sample_values(newer_, nullptr, &values, nullptr), MB_OK);
  EXPECT_EQ(level, 42U);
  mb_query_close(query);
}

TEST_F(CReaderTest, AllocatesNothingWhenWarm) {
  std::array<double, 8> cooked{};
  mb_values values = MB_VALUES_INIT;
  values.cooked = cooked.data();
  values.capacity = cooked.size();
  for (int round = 0; round < 6; ++round) {
    const std::size_t before = test::allocations_made();
    std::swap(newer_, older_);
    EXPECT_EQ(mb_query_collect(query_, newer_, MB_CUT_NONE, nullptr, nullptr), MB_OK);
    EXPECT_EQ(mb_sample_values(newer_, older_, &values, nullptr), MB_OK);
    EXPECT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
    mb_error error;
    while (mb_cursor_next_row(cursor_, nullptr, &error) == MB_OK) {
      mb_value value = MB_VALUE_INIT;
      while (mb_cursor_next_value(cursor_, &value, &error) == MB_OK) {
      }
    }
    const std::size_t made = test::allocations_made() - before;
    if (round == 0) {
      EXPECT_GT(made, 0U) << "nothing counts allocations";
    } else if (round > 2) {
      EXPECT_EQ(made, 0U) << round;
    }
  }
}

}  // namespace
}  // namespace meterbank
