// SPDX-License-Identifier: Apache-2.0
//
// Summaries that an appender has made of what was appended.
#include <algorithm>

#include "../../support/comes_true.hpp"
#include "made_ticks.hpp"
#include "meterbank/recording/envelope.hpp"
#include "record/summarizer.hpp"
#include "record/summary_runs.hpp"

namespace meterbank::record::summarizer_test {
namespace {

using test::comes_true;

constexpr auto kMinute = std::chrono::minutes(1);

std::size_t summaries_in(const std::string& path) {
  std::size_t summaries = 0;
  const auto recording = recording::Recording::open(path);
  if (!recording) return 0;
  for (const auto& file : recording->files()) summaries += file.index.summaries().size();
  return summaries;
}

void append(MadeTicks& ticks, Appender& appender, std::uint64_t count) {
  for (std::uint64_t tick = 0; tick < count; ++tick) {
    ASSERT_TRUE(appender.append(ticks.next(appender.begins_anew())));
  }
}

// With summaries, a plot of it all shows the values that it shows without.
void expect_same_plot(const std::string& path) {
  const auto recording = recording::Recording::open(path);
  ASSERT_TRUE(recording);
  recording::EnvelopeRequest request{.patterns = {"queues/0/depth"},
                                     .from_ns = recording->first().realtime_ns,
                                     .to_ns = recording->last().realtime_ns + 1,
                                     .buckets = 4,
                                     .cap_percent = false};
  const auto exact = recording::envelope(path, request);
  request.blur_ns = request.to_ns - request.from_ns;
  const auto read = recording::envelope(path, request);
  ASSERT_TRUE(exact && read);
  ASSERT_EQ(exact->series.size(), 1U);
  ASSERT_EQ(read->series.size(), 1U);
  EXPECT_EQ(read->moments, exact->moments);
  const auto greatest = [](const recording::Envelope& of) {
    double most = 0;
    for (const auto& bucket : of.series[0].buckets) most = std::max(most, bucket.most);
    return most;
  };
  EXPECT_GE(greatest(*read), greatest(*exact));
  EXPECT_LE(greatest(*read), greatest(*exact) * (1 + 1e-4));
}

TEST(Summarizer, SummarizesEachChunkThatHasEnded) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/one.mbr";
  auto appender = Appender::create({.path = path, .summary_least = kMinute}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(40);
  append(ticks, *appender, 1);
  for (std::size_t chunk = 1; chunk <= 3; ++chunk) {
    append(ticks, *appender, 600);
    ASSERT_TRUE(comes_true([&] { return summaries_in(path) == chunk; })) << chunk;
  }
  ASSERT_TRUE(appender->finish());
  EXPECT_EQ(summaries_in(path), 3U);
  EXPECT_EQ(read_back(path).damages, 0U);
  EXPECT_EQ(read_back(path).numbers.size(), ticks.number());
  expect_same_plot(path);
}

TEST(Summarizer, PutsTheSummaryOfTheLastChunkOfAFileIntoTheNextFile) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/ring";
  auto appender = Appender::create(
      {.path = path, .is_ring = true, .bytes_max = 2U << 20U, .summary_least = kMinute}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(40);
  // A file of the ring is 64 KiB, less than a chunk. More chunks than a few do not wait for theirs.
  for (std::size_t files = 0; files < 6;) {
    const bool begins = appender->begins_anew();
    ASSERT_TRUE(appender->append(ticks.next(begins)));
    if (!begins || files++ == 0) continue;
    ASSERT_TRUE(comes_true([&] { return summaries_in(path) >= files - 1; })) << files;
  }
  ASSERT_TRUE(appender->finish());
  const auto recording = recording::Recording::open(path);
  const auto files_read = recording->files();
  EXPECT_TRUE(files_read[0].index.summaries().empty());
  const bool has_first =
      std::any_of(files_read.begin() + 1, files_read.end(), [&](const auto& file) {
        const auto& places = file.index.summaries();
        return std::any_of(places.begin(), places.end(), [&](const auto& place) {
          return place.sequence == files_read[0].head.sequence;
        });
      });
  EXPECT_TRUE(has_first);
  EXPECT_EQ(read_back(path).damages, 0U);
  expect_same_plot(path);
}

TEST(Summarizer, PutsShortChunksTogether) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/one.mbr";
  auto appender = Appender::create({.path = path, .summary_least = std::chrono::minutes(29)}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(2);
  append(ticks, *appender, 1);
  for (std::size_t runs = 1; runs <= 2; ++runs) {
    append(ticks, *appender, 1800);
    ASSERT_TRUE(comes_true([&] { return summaries_in(path) == runs; })) << runs;
  }
  ASSERT_TRUE(appender->finish());
  const auto recording = recording::Recording::open(path);
  const auto& index = recording->files()[0].index;
  EXPECT_EQ(index.chunks().size(), 7U);
  ASSERT_EQ(index.summaries().size(), 2U);
  EXPECT_EQ(index.summaries()[0].chunks, 3U);
  EXPECT_EQ(index.summaries()[1].chunk, index.chunks()[3].offset);
  expect_same_plot(path);
}

TEST(Summarizer, LeavesRunsAloneThatAreTooShort) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/one.mbr";
  auto appender = Appender::create({.path = path, .summary_least = std::chrono::hours(4)}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(2);
  append(ticks, *appender, 1900);
  ASSERT_TRUE(appender->finish());
  EXPECT_EQ(recording::Recording::open(path)->files()[0].index.chunks().size(), 4U);
  EXPECT_EQ(summaries_in(path), 0U);
}

// Its first values need the last samples of the recorder before, whose files are not known.
TEST(Summarizer, LeavesTheFirstChunkBehindAnotherRecorderAlone) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/ring";
  MadeTicks ticks(2);
  {
    auto first = Appender::create({.path = path, .is_ring = true, .summary_least = kMinute}, {});
    ASSERT_TRUE(first);
    append(ticks, *first, 5);
    ASSERT_TRUE(first->finish());
  }
  auto second = Appender::create({.path = path, .is_ring = true, .summary_least = kMinute}, {});
  ASSERT_TRUE(second);
  append(ticks, *second, 601);
  append(ticks, *second, 600);
  ASSERT_TRUE(comes_true([&] { return summaries_in(path) == 1; }));
  ASSERT_TRUE(second->finish());
  const auto recording = recording::Recording::open(path);
  const auto& index = recording->files()[1].index;
  ASSERT_EQ(index.summaries().size(), 1U);
  EXPECT_EQ(index.summaries()[0].chunk, index.chunks()[1].offset);
  expect_same_plot(path);
}

recording::Chunk chunk_of(std::uint64_t offset, std::uint64_t begin_s, std::uint64_t end_s,
                          std::uint64_t ticks) {
  return {
      offset, ticks, {begin_s * kSecond, begin_s * kSecond}, {end_s * kSecond, end_s * kSecond}};
}

TEST(SummaryRuns, OfManySamplesAreShorter) {
  SummaryRuns runs(std::chrono::minutes(4));
  // 600 samples in six seconds.
  for (std::uint64_t chunk = 0; chunk < 9; ++chunk) {
    EXPECT_FALSE(runs.take({1, chunk_of(chunk, 6 * chunk, 6 * chunk + 6, 600), false}));
  }
  const auto run = runs.take({1, chunk_of(9, 54, 60, 600), false});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->offset, 0U);
  EXPECT_EQ(run->chunks, 10U);
  EXPECT_EQ(run->last.monotonic_ns, 60 * kSecond);
  // A minute is not enough for a run of few samples.
  EXPECT_FALSE(runs.take({1, chunk_of(10, 60, 180, 600), false}));
  EXPECT_EQ(runs.take({1, chunk_of(11, 180, 300, 600), false})->chunks, 2U);
}

TEST(SummaryRuns, EndWithTheirFile) {
  SummaryRuns runs(std::chrono::minutes(4));
  EXPECT_FALSE(runs.take({1, chunk_of(0, 0, 100, 100), false}));
  EXPECT_EQ(runs.take({1, chunk_of(1, 100, 120, 20), true})->chunks, 2U);
  // Less than a minute gets no summary.
  EXPECT_FALSE(runs.take({2, chunk_of(0, 120, 170, 50), true}));
  EXPECT_FALSE(runs.take({3, chunk_of(0, 170, 230, 60), false}));
  EXPECT_EQ(runs.take({3, chunk_of(1, 230, 500, 270), false})->chunks, 2U);
}

TEST(SummaryBudget, GivesARunAFourHundredthOfItsTime) {
  SummaryBudget budget;
  ASSERT_TRUE(budget.allows(400 * kSecond));
  // As much as two and a half runs may take.
  budget.spend(5 * kSecond / 2);
  EXPECT_FALSE(budget.allows(400 * kSecond));
  EXPECT_TRUE(budget.allows(400 * kSecond));
  budget.spend(kSecond / 10);
  for (int run = 0; run < 10; ++run) {
    EXPECT_TRUE(budget.allows(400 * kSecond));
    budget.spend(kSecond);
  }
}

TEST(Summarizer, DoesNotKeepARecordingFromItsEnd) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/one.mbr";
  auto appender = Appender::create({.path = path, .summary_least = kMinute}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(400);
  append(ticks, *appender, 2000);
  ASSERT_TRUE(appender->finish());
  const auto back = read_back(path);
  EXPECT_EQ(back.numbers.size(), 2000U);
  EXPECT_EQ(back.damages, 0U);
  EXPECT_EQ(back.ended, 1U);
}

}  // namespace
}  // namespace meterbank::record::summarizer_test
