// SPDX-License-Identifier: Apache-2.0
//
// Recordings through the C interface, beside the C++ interface that reads the same files.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../recording/hostile/made_recording.hpp"
#include "meterbank/c/recording.h"

namespace meterbank {
namespace {

using recording::MadeRecording;
using recording::Recording;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kNanNumber = 0x7ff8000000000000;

std::uint64_t bits_of(double value) {
  return std::isnan(value) ? kNanNumber : std::bit_cast<std::uint64_t>(value);
}

// Raw value, cooked value and status of each value.
Words words_of(const Rows& rows) {
  Words words;
  for (const Row& row : rows) {
    for (const Value& value : row) {
      words.push_back(value.raw.value);
      words.push_back(has_value(value.cooked.status) ? bits_of(value.cooked.value) : kNanNumber);
      words.push_back(static_cast<std::uint64_t>(value.cooked.status));
    }
  }
  return words;
}

// A recording that C code reads, with what it needs for that.
class ReadInC {
 public:
  explicit ReadInC(const std::string& path) {
    EXPECT_EQ(mb_recording_open(path.c_str(), nullptr, &catalog, nullptr), MB_OK);
    EXPECT_EQ(mb_query_compile(catalog, nullptr, 0, nullptr, 0, &query, nullptr), MB_OK);
    for (mb_sample*& each : samples) EXPECT_EQ(mb_sample_create(&each, nullptr), MB_OK);
  }
  ~ReadInC() {
    for (mb_sample* const each : samples) mb_sample_close(each);
    mb_query_close(query);
    mb_catalog_close(catalog);
  }
  ReadInC(const ReadInC&) = delete;
  ReadInC& operator=(const ReadInC&) = delete;

  mb_collected collect() {
    mb_collected collected = MB_COLLECTED_INIT;
    EXPECT_EQ(mb_query_update(query, catalog, nullptr, nullptr), MB_OK);
    std::swap(samples[0], samples[1]);
    EXPECT_EQ(mb_query_collect(query, samples[0], MB_CUT_NONE, &collected, nullptr), MB_OK);
    return collected;
  }
  // Between the last two samples.
  Words words() {
    std::vector<double> cooked(10'000);
    std::vector<std::uint64_t> raw(cooked.size());
    std::vector<std::uint8_t> status(cooked.size());
    mb_values values = MB_VALUES_INIT;
    values.cooked = cooked.data();
    values.raw = raw.data();
    values.status = status.data();
    values.capacity = cooked.size();
    EXPECT_EQ(mb_sample_values(samples[0], samples[1], &values, nullptr), MB_OK);
    EXPECT_LE(values.count, values.capacity);
    Words words;
    for (std::size_t index = 0; index < values.count; ++index) {
      words.push_back(raw[index]);
      words.push_back(bits_of(cooked[index]));
      words.push_back(status[index]);
    }
    return words;
  }
  [[nodiscard]] mb_recording_summary summary() const {
    mb_recording_summary filled = MB_RECORDING_SUMMARY_INIT;
    EXPECT_EQ(mb_recording_summarize(catalog, &filled, nullptr), MB_OK);
    return filled;
  }

  mb_catalog* catalog = nullptr;
  mb_query* query = nullptr;
  std::array<mb_sample*, 2> samples{};
};

class CRecording : public testing::Test {
 protected:
  // Two files of 30 moments, a second apart.
  CRecording() { made_.files.write_to(directory_.path()); }

  [[nodiscard]] std::uint64_t realtime_of(std::size_t tick) const {
    return made_.ticks.at(tick).time.realtime_ns;
  }
  [[nodiscard]] std::string file(std::size_t number) const {
    return directory_.path() + '/' + recording::numbered_name(number);
  }

  test::TemporaryDirectory directory_;
  MadeRecording made_{{.seed = 5, .files = 2, .ticks = 30, .chunk_ticks = 7}};
};

TEST_F(CRecording, HasTheValuesThatCppReads) {
  auto in_cpp = *Recording::open(directory_.path());
  auto query = *Query::compile(in_cpp.catalog(), {});
  std::array<Sample, 2> samples;
  ReadInC in_c(directory_.path());
  std::size_t moments = 0, words = 0;
  while (mb_recording_next(in_c.catalog, nullptr) == MB_OK) {
    ASSERT_TRUE(in_cpp.next());
    query.update(in_cpp.catalog());
    std::swap(samples[0], samples[1]);
    query.collect(samples[0], in_cpp.time());
    const mb_collected collected = in_c.collect();
    EXPECT_EQ(collected.realtime_ns, realtime_of(moments));
    EXPECT_EQ(collected.coverage, static_cast<std::uint32_t>(MB_COVERAGE_ALL));
    const Words expected = words_of(samples[0].since(samples[1]));
    ASSERT_EQ(in_c.words(), expected) << "at moment " << moments;
    ++moments;
    words += expected.size();
  }
  EXPECT_FALSE(in_cpp.next());
  EXPECT_EQ(moments, 60U);
  EXPECT_GT(words, 5'000U);
}

TEST_F(CRecording, ListsTheProvidersOfTheMoment) {
  const ReadInC in_c(directory_.path());
  auto in_cpp = *Recording::open(directory_.path());
  const auto providers_of = [&] {
    mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
    EXPECT_EQ(mb_catalog_summarize(in_c.catalog, &summary, nullptr), MB_OK);
    return summary.providers;
  };
  EXPECT_EQ(providers_of(), 0U);
  std::size_t most = 0;
  while (in_cpp.next()) {
    ASSERT_EQ(mb_recording_next(in_c.catalog, nullptr), MB_OK);
    const auto& providers = in_cpp.catalog().providers();
    ASSERT_EQ(providers_of(), providers.size());
    for (std::size_t index = 0; index < providers.size(); ++index) {
      mb_listed_provider listed = MB_LISTED_PROVIDER_INIT;
      ASSERT_EQ(mb_catalog_provider(in_c.catalog, index, &listed, nullptr), MB_OK);
      EXPECT_EQ(listed.name, providers[index]->name);
      EXPECT_EQ(listed.label, providers[index]->label());
      EXPECT_EQ(listed.state, static_cast<std::uint32_t>(providers[index]->state));
    }
    most = std::max(most, providers.size());
  }
  EXPECT_GT(most, 1U);
}

TEST_F(CRecording, SeeksToTheLastMomentAtOrBeforeATime) {
  ReadInC in_c(directory_.path());
  for (const std::size_t tick : {0U, 17U, 45U, 3U, 59U}) {
    ASSERT_EQ(mb_recording_seek(in_c.catalog, realtime_of(tick) + 999'999'999, nullptr), MB_OK);
    EXPECT_EQ(in_c.summary().moment_ns, realtime_of(tick));
    EXPECT_EQ(in_c.collect().realtime_ns, realtime_of(tick));
  }
  mb_error error{};
  EXPECT_EQ(mb_recording_next(in_c.catalog, &error), MB_NOT_FOUND);
  EXPECT_STREQ(error.what, "no later moment");
  EXPECT_EQ(mb_recording_seek(in_c.catalog, realtime_of(0) - 1, &error), MB_NOT_FOUND);
  EXPECT_EQ(in_c.summary().moment_ns, realtime_of(59));
}

TEST_F(CRecording, SaysWhatItHas) {
  const ReadInC in_c(directory_.path());
  const mb_recording_summary summary = in_c.summary();
  EXPECT_EQ(summary.files, 2U);
  EXPECT_EQ(summary.first_ns, realtime_of(0));
  EXPECT_EQ(summary.last_ns, realtime_of(59));
  EXPECT_EQ(summary.moment_ns, 0U);
  EXPECT_EQ(summary.bytes, made_.files.all()[0].bytes.size() + made_.files.all()[1].bytes.size());
  EXPECT_EQ(summary.flaws, 0U);
}

TEST_F(CRecording, NamesGapsAndBytesThatCannotBeRead) {
  std::string bytes = made_.files.all()[0].bytes;
  recording::append_gap({recording::GapReason::kNoSpace, 9, made_.ticks[29].time, {}}, bytes);
  bytes[made_.ticks[10].end - 1] ^= 1;  // of the tick; schemas may stand before it
  recording::write_file(file(0), bytes);
  const ReadInC in_c(file(0));
  std::size_t moments = 0;
  while (mb_recording_next(in_c.catalog, nullptr) == MB_OK) ++moments;
  EXPECT_GT(moments, 20U);
  EXPECT_LT(moments, 30U);

  EXPECT_EQ(in_c.summary().missed, 9U);
  ASSERT_EQ(in_c.summary().flaws, 2U);
  mb_flaw flaw = MB_FLAW_INIT;
  ASSERT_EQ(mb_recording_flaw(in_c.catalog, 0, &flaw, nullptr), MB_OK);
  EXPECT_EQ(flaw.is_gap, 1U);
  EXPECT_EQ(flaw.missed, 9U);
  EXPECT_EQ(flaw.from_ns, realtime_of(29));
  EXPECT_EQ(flaw.reason, recording::name_of(recording::GapReason::kNoSpace));
  ASSERT_EQ(mb_recording_flaw(in_c.catalog, 1, &flaw, nullptr), MB_OK);
  EXPECT_EQ(flaw.is_gap, 0U);
  EXPECT_EQ(flaw.path, file(0));
  EXPECT_GE(flaw.offset, made_.ticks[10].begin);
  EXPECT_LT(flaw.offset, made_.ticks[10].end);
  EXPECT_GT(flaw.bytes, 0U);
  EXPECT_STRNE(flaw.reason, "");
  EXPECT_EQ(mb_recording_flaw(in_c.catalog, 2, &flaw, nullptr), MB_NOT_FOUND);
}

TEST_F(CRecording, HasTheMarksThatWerePassed) {
  std::string bytes = made_.files.all()[0].bytes;
  recording::append_mark({made_.ticks[29].time, "make ended"}, bytes);
  recording::write_file(file(0), bytes);
  const ReadInC in_c(file(0));
  while (mb_recording_next(in_c.catalog, nullptr) == MB_OK) {
  }
  mb_mark mark = MB_MARK_INIT;
  ASSERT_EQ(mb_recording_mark(in_c.catalog, 0, &mark, nullptr), MB_OK);
  EXPECT_STREQ(mark.text, "make ended");
  EXPECT_EQ(mark.time_ns, realtime_of(29));
  EXPECT_EQ(mb_recording_mark(in_c.catalog, 1, &mark, nullptr), MB_NOT_FOUND);
}

TEST_F(CRecording, RefusesWhatIsNoRecording) {
  mb_catalog* catalog = nullptr;
  mb_error error{};
  EXPECT_EQ(mb_recording_open(nullptr, nullptr, &catalog, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_recording_open("/nowhere/x.mbr", nullptr, nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_recording_open("/nowhere/x.mbr", nullptr, &catalog, &error), MB_NOT_FOUND);
  EXPECT_NE(std::string(error.what).find("/nowhere/x.mbr"), std::string::npos);
  recording::write_file(file(7), "no recording");
  EXPECT_EQ(mb_recording_open(file(7).c_str(), nullptr, &catalog, &error), MB_CORRUPT);
  EXPECT_EQ(catalog, nullptr);
}

TEST_F(CRecording, IsNotTheCatalogOfThisMachine) {
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  options.directory = directory_.path().c_str();
  mb_catalog* live = nullptr;
  ASSERT_EQ(mb_catalog_open(&options, &live, nullptr), MB_OK);
  mb_error error{};
  mb_recording_summary summary = MB_RECORDING_SUMMARY_INIT;
  mb_flaw flaw = MB_FLAW_INIT;
  mb_mark mark = MB_MARK_INIT;
  EXPECT_EQ(mb_recording_next(live, &error), MB_INVALID_ARGUMENT);
  EXPECT_STREQ(error.what, "the catalog is not a recording");
  EXPECT_EQ(mb_recording_seek(live, 0, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_recording_summarize(live, &summary, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_recording_flaw(live, 0, &flaw, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_recording_mark(live, 0, &mark, nullptr), MB_INVALID_ARGUMENT);
  mb_catalog_close(live);
  EXPECT_EQ(mb_recording_next(live, nullptr), MB_BAD_HANDLE);
}

TEST_F(CRecording, OutlivesItsFilesAndItsSamplesOutliveIt) {
  ReadInC in_c(directory_.path());
  for (std::size_t number : {0U, 1U}) ASSERT_EQ(::unlink(file(number).c_str()), 0);
  ASSERT_EQ(mb_recording_next(in_c.catalog, nullptr), MB_OK);
  in_c.collect();
  ASSERT_EQ(mb_recording_next(in_c.catalog, nullptr), MB_OK);
  in_c.collect();
  mb_catalog_close(in_c.catalog);
  mb_query_close(in_c.query);
  EXPECT_GT(in_c.words().size(), 10U);
}

}  // namespace
}  // namespace meterbank
