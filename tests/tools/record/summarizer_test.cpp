// SPDX-License-Identifier: Apache-2.0
//
// Summaries that an appender has made of what was appended.
#include <algorithm>

#include "../../support/comes_true.hpp"
#include "made_ticks.hpp"
#include "meterbank/recording/envelope.hpp"

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

TEST(Summarizer, LeavesShortChunksAlone) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/one.mbr";
  auto appender = Appender::create({.path = path, .summary_least = std::chrono::minutes(11)}, {});
  ASSERT_TRUE(appender);
  MadeTicks ticks(2);
  append(ticks, *appender, 1900);
  ASSERT_TRUE(appender->finish());
  EXPECT_EQ(recording::Recording::open(path)->files()[0].index.chunks().size(), 4U);
  EXPECT_EQ(summaries_in(path), 0U);
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
