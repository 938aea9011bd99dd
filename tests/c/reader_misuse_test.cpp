// SPDX-License-Identifier: Apache-2.0
//
// The reading half of the C interface in the hands of callers that make mistakes: every call is
// answered with a status.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "../support/allocation_count.hpp"
#include "reader_fixture.hpp"

namespace meterbank {
namespace {

using CReaderMisuse = test::CReader;

// What each function that takes a handle says of one.
struct Answers {
  std::vector<mb_status> statuses;

  // All functions, about a handle that is not what they take.
  static Answers about(void* handle) {
    auto* const catalog = static_cast<mb_catalog*>(handle);
    auto* const query = static_cast<mb_query*>(handle);
    auto* const sample = static_cast<mb_sample*>(handle);
    auto* const cursor = static_cast<mb_cursor*>(handle);
    mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
    mb_listed_provider listed = MB_LISTED_PROVIDER_INIT;
    mb_left_out left_out = MB_LEFT_OUT_INIT;
    mb_unmatched unmatched = MB_UNMATCHED_INIT;
    mb_answer answer = MB_ANSWER_INIT;
    mb_values values = MB_VALUES_INIT;
    mb_distribution distribution = MB_DISTRIBUTION_INIT;
    mb_query* made = nullptr;
    const char* path = nullptr;
    double quantile = 0;
    return {{mb_catalog_refresh(catalog, nullptr), mb_catalog_summarize(catalog, &summary, nullptr),
             mb_catalog_provider(catalog, 0, &listed, nullptr),
             mb_catalog_left_out(catalog, 0, &left_out, nullptr),
             mb_query_compile(catalog, nullptr, 0, nullptr, 0, &made, nullptr),
             mb_query_update(query, catalog, nullptr, nullptr),
             mb_query_unmatched(query, 0, &unmatched, nullptr),
             mb_query_collect(query, sample, MB_CUT_NONE, nullptr, nullptr),
             mb_query_ask(query, sample, 0, MB_CUT_NONE, nullptr, nullptr),
             mb_sample_answer(sample, 0, &answer, nullptr),
             mb_sample_values(sample, nullptr, &values, nullptr),
             mb_cursor_start(cursor, sample, nullptr, nullptr),
             mb_cursor_next_row(cursor, nullptr, nullptr),
             mb_cursor_next_value(cursor, nullptr, nullptr),
             mb_cursor_path(cursor, MB_PATH_SHORT, &path, nullptr),
             mb_cursor_distribution(cursor, &distribution, nullptr),
             mb_cursor_quantile(cursor, 0.5, &quantile, nullptr, nullptr)}};
  }
  void expect_all(mb_status wanted) const {
    for (std::size_t index = 0; index < statuses.size(); ++index) {
      EXPECT_EQ(statuses[index], wanted) << index;
    }
  }
};

void close_as_everything(void* handle) {
  mb_catalog_close(static_cast<mb_catalog*>(handle));
  mb_query_close(static_cast<mb_query*>(handle));
  mb_sample_close(static_cast<mb_sample*>(handle));
  mb_cursor_close(static_cast<mb_cursor*>(handle));
}

TEST_F(CReaderMisuse, RefusesHandlesThatStandForNothing) {
  Answers::about(nullptr).expect_all(MB_BAD_HANDLE);
  int on_the_stack = 0;
  Answers::about(&on_the_stack).expect_all(MB_BAD_HANDLE);
  close_as_everything(nullptr);
  close_as_everything(&on_the_stack);

  mb_cursor* const closed = cursor_;
  mb_cursor_close(closed);
  close_as_everything(closed);
  Answers::about(closed).expect_all(MB_BAD_HANDLE);
}

TEST_F(CReaderMisuse, RefusesHandlesOfAnotherType) {
  void* const as_query = catalog_;
  EXPECT_EQ(
      mb_query_collect(static_cast<mb_query*>(as_query), newer_, MB_CUT_NONE, nullptr, nullptr),
      MB_BAD_HANDLE);
  mb_query_close(static_cast<mb_query*>(as_query));
  EXPECT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK) << "it was closed as another type";
  void* const as_sample = query_;
  mb_error error;
  EXPECT_EQ(
      mb_query_collect(query_, static_cast<mb_sample*>(as_sample), MB_CUT_NONE, nullptr, &error),
      MB_BAD_HANDLE);
  EXPECT_STREQ(error.what, "this sample is closed, or is a handle of another type");
}

TEST_F(CReaderMisuse, RefusesMissingArguments) {
  const mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  mb_catalog* catalog = nullptr;
  EXPECT_EQ(mb_catalog_open(nullptr, &catalog, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_catalog_open(&options, nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_catalog_summarize(catalog_, nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_catalog_provider(catalog_, 0, nullptr, nullptr), MB_INVALID_ARGUMENT);
  mb_query* query = nullptr;
  EXPECT_EQ(mb_query_compile(catalog_, nullptr, 1, nullptr, 0, &query, nullptr),
            MB_INVALID_ARGUMENT);
  const std::array<const char*, 2> paths = {"a/b", nullptr};
  mb_error error;
  EXPECT_EQ(mb_query_compile(catalog_, paths.data(), 2, nullptr, 0, &query, &error),
            MB_INVALID_ARGUMENT);
  EXPECT_STREQ(error.what, "paths[1] is NULL");
  EXPECT_EQ(mb_query_compile(catalog_, nullptr, 0, nullptr, 0, nullptr, nullptr),
            MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_sample_create(nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_sample_values(newer_, nullptr, nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_sample_values(newer_, newer_, nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_cursor_create(nullptr, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_cursor_start(cursor_, newer_, newer_, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_query_collect(query_, newer_, static_cast<mb_cut>(3), nullptr, nullptr),
            MB_INVALID_ARGUMENT);
}

TEST_F(CReaderMisuse, RefusesPathsAndDirectoriesWithTheirReason) {
  const char* const path = "\\Stages(soup";
  mb_query* query = nullptr;
  mb_error error;
  EXPECT_EQ(mb_query_compile(catalog_, &path, 1, nullptr, 0, &query, &error), MB_BAD_PATH);
  EXPECT_EQ(query, nullptr);
  EXPECT_STRNE(error.what, "");
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  options.directory = "/nonexistent/meterbank";
  mb_catalog* catalog = nullptr;
  EXPECT_EQ(mb_catalog_open(&options, &catalog, &error), MB_NO_DIRECTORY);
  EXPECT_EQ(catalog, nullptr);
  options.users = 3;
  EXPECT_EQ(mb_catalog_open(&options, &catalog, &error), MB_INVALID_ARGUMENT);
}

TEST_F(CReaderMisuse, FillsWhatTheCallersVersionOfAStructHas) {
  collect_twice();
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, nullptr, nullptr), MB_OK);
  mb_row older_row = MB_ROW_INIT;
  older_row.size = offsetof(mb_row, provider);
  ASSERT_EQ(mb_cursor_next_row(cursor_, &older_row, nullptr), MB_OK);
  EXPECT_EQ(older_row.size, offsetof(mb_row, provider));
  EXPECT_EQ(older_row.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(older_row.provider, nullptr) << "written beyond the caller's struct";

  struct {
    mb_value known;
    std::uint64_t newer;
  } newer_value = {MB_VALUE_INIT, 7};
  newer_value.known.size = sizeof newer_value;
  ASSERT_EQ(mb_cursor_next_value(cursor_, &newer_value.known, nullptr), MB_OK);
  EXPECT_EQ(newer_value.known.size, sizeof newer_value);
  EXPECT_STREQ(newer_value.known.symbol, "served");
  EXPECT_EQ(newer_value.newer, 7U);

  mb_value without_size;
  std::memset(&without_size, 0, sizeof without_size);
  EXPECT_EQ(mb_cursor_next_value(cursor_, &without_size, nullptr), MB_INVALID_ARGUMENT);
}

TEST_F(CReaderMisuse, EndsAnIterationWhoseSampleIsCollectedAgain) {
  for (mb_sample* const again : {newer_, older_}) {
    collect_twice();
    ASSERT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
    ASSERT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_OK);
    ASSERT_EQ(mb_query_collect(query_, again, MB_CUT_NONE, nullptr, nullptr), MB_OK);
    EXPECT_EQ(mb_cursor_next_value(cursor_, nullptr, nullptr), MB_CLOSED);
    EXPECT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_CLOSED);
  }
}

TEST_F(CReaderMisuse, KeepsWhatACursorNeedsWhenEverythingElseIsClosed) {
  collect_twice();
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, older_, nullptr), MB_OK);
  ASSERT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_OK);
  mb_sample_close(newer_);
  mb_sample_close(older_);
  mb_query_close(query_);
  mb_catalog_close(catalog_);
  mb_value value = MB_VALUE_INIT;
  ASSERT_EQ(mb_cursor_next_value(cursor_, &value, nullptr), MB_OK);
  EXPECT_STREQ(value.symbol, "served");
  EXPECT_EQ(value.raw, 10U);
}

TEST_F(CReaderMisuse, SaysWhereACursorIsWhenItIsNowhere) {
  const char* path = nullptr;
  EXPECT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_NOT_FOUND);
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, nullptr, nullptr), MB_OK);
  EXPECT_EQ(mb_cursor_next_value(cursor_, nullptr, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_NOT_FOUND) << "nothing was collected";
  collect_twice();
  ASSERT_EQ(mb_cursor_start(cursor_, newer_, nullptr, nullptr), MB_OK);
  ASSERT_EQ(mb_cursor_next_row(cursor_, nullptr, nullptr), MB_OK);
  EXPECT_EQ(mb_cursor_path(cursor_, MB_PATH_SHORT, &path, nullptr), MB_NOT_FOUND);
}

TEST_F(CReaderMisuse, TellsTheChildOfAForkThatItsHandlesAreTheParents) {
  collect_twice();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_refused =
        mb_catalog_refresh(catalog_, nullptr) == MB_FORKED &&
        mb_query_collect(query_, newer_, MB_CUT_NONE, nullptr, nullptr) == MB_FORKED &&
        mb_cursor_next_row(cursor_, nullptr, nullptr) == MB_FORKED;
    mb_catalog_close(catalog_);
    mb_query_close(query_);
    mb_sample* own = nullptr;
    ::_exit(is_refused && mb_sample_create(&own, nullptr) == MB_OK ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK);
}

TEST_F(CReaderMisuse, SaysThatThereIsNoMemory) {
  collect_twice();
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  options.directory = directory_.path().c_str();
  const char* const path = "stages/*/*";
  // Each allocation fails once, until none does.
  for (std::size_t passing = 0;; ++passing) {
    ASSERT_LT(passing, 10'000U);
    mb_catalog* catalog = nullptr;
    mb_query* query = nullptr;
    mb_sample* sample = nullptr;
    mb_error error;
    mb_status status = MB_OK;
    {
      const test::FailingAllocations failing(passing);
      status = mb_catalog_open(&options, &catalog, &error);
      if (status == MB_OK) {
        status = mb_query_compile(catalog, &path, 1, nullptr, 0, &query, &error);
      }
      if (status == MB_OK) status = mb_sample_create(&sample, &error);
      if (status == MB_OK) status = mb_query_collect(query, sample, MB_CUT_NONE, nullptr, &error);
      mb_values values = MB_VALUES_INIT;
      if (status == MB_OK) status = mb_sample_values(sample, nullptr, &values, &error);
    }
    mb_sample_close(sample);
    mb_query_close(query);
    mb_catalog_close(catalog);
    if (status == MB_OK) break;
    EXPECT_EQ(status, MB_NO_SPACE) << passing << ": " << error.what;
  }
}

TEST_F(CReaderMisuse, ServesThreadsThatUseOneObject) {
  std::atomic<int> unexpected{0};
  const auto use = [&] {
    for (int round = 0; round < 200; ++round) {
      mb_values values = MB_VALUES_INIT;
      mb_value value = MB_VALUE_INIT;
      const std::array statuses = {
          mb_query_collect(query_, newer_, MB_CUT_NONE, nullptr, nullptr),
          mb_cursor_start(cursor_, newer_, older_, nullptr),
          mb_cursor_next_row(cursor_, nullptr, nullptr),
          mb_cursor_next_value(cursor_, &value, nullptr),
          mb_sample_values(older_, newer_, &values, nullptr),
          mb_catalog_refresh(catalog_, nullptr),
          mb_query_update(query_, catalog_, nullptr, nullptr),
      };
      for (const mb_status status : statuses) {
        const bool is_expected = status == MB_OK || status == MB_CLOSED || status == MB_NOT_FOUND;
        if (!is_expected) ++unexpected;
      }
    }
  };
  std::array threads = {std::thread(use), std::thread(use), std::thread(use)};
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unexpected, 0);
}

TEST(CReaderTexts, NameEachStatus) {
  EXPECT_STREQ(mb_row_status_text(MB_ROW_FRESH), "fresh");
  EXPECT_STREQ(mb_row_status_text(99), "unknown");
  for (std::uint32_t status = 0; status <= MB_VALUE_NO_VALUE; ++status) {
    EXPECT_STRNE(mb_value_status_text(status), "unknown") << status;
  }
  EXPECT_STREQ(mb_value_status_text(MB_VALUE_NO_VALUE + 1), "unknown");
  EXPECT_STREQ(mb_provider_state_text(MB_PROVIDER_FOREIGN + 1), "unknown");
}

}  // namespace
}  // namespace meterbank
