// SPDX-License-Identifier: Apache-2.0
//
// Summaries of chunks: what they say is what all values of the chunk say, and where they do not say
// it, they are not read.
#include "meterbank/recording/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "../../reader/recording/src/frames/bytes.hpp"
#include "../../reader/recording/src/summary/summary_frame.hpp"
#include "../support/depth.hpp"
#include "../tools/record/made_recording.hpp"
#include "hostile/made_recording.hpp"

namespace meterbank::recording::summary_test {
namespace {

// Float, of which three bytes are kept.
constexpr double kPrecision = 1.0 / 32'768;
const double kGreatest = unpacked_number(packed_number(1e300, Rounded::kUp));

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Puts a summary of each run of so many chunks behind the last file. Returns how many there are.
std::size_t summarize(const std::string& path, std::size_t chunks_of_run = 1) {
  std::size_t summaries = 0;
  std::string bytes, last;
  {
    const auto recording = Recording::open(path);
    for (const RecordingFile& file : recording->files()) {
      const auto& chunks = file.index.chunks();
      for (std::size_t at = 0; at < chunks.size(); at += chunks_of_run) {
        const std::size_t count = std::min(chunks_of_run, chunks.size() - at);
        auto all = Recording::open(path);
        const auto made = append_summary(*all,
                                         {file.head.sequence, chunks[at].offset, count,
                                          chunks[at].first, chunks[at + count - 1].last},
                                         bytes);
        EXPECT_TRUE(made) << made.error().message();
        summaries += made && *made ? 1U : 0U;
      }
      last = file.path;
    }
  }
  std::ofstream(last, std::ios::binary | std::ios::app) << bytes;
  return summaries;
}

EnvelopeRequest request_of(const std::string& pattern, std::uint64_t seconds, std::size_t buckets) {
  return {.patterns = {pattern},
          .from_ns = record::MadeRecording::kStart,
          .to_ns = record::MadeRecording::kStart + seconds * kSecond,
          .buckets = buckets,
          .cap_percent = false};
}

EnvelopeRequest blurred(EnvelopeRequest request) {
  request.blur_ns = request.to_ns - request.from_ns;
  return request;
}

double smaller(double value) { return value - std::abs(value) * kPrecision; }
double larger(double value) { return value + std::abs(value) * kPrecision; }

// The extremes of these buckets of `of`, which are `reach` or less away from one of them.
EnvelopeBucket around(const std::vector<EnvelopeBucket>& of, std::size_t bucket,
                      std::size_t reach) {
  EnvelopeBucket all;
  const std::size_t end = std::min(of.size(), bucket + reach + 1);
  for (std::size_t at = bucket - std::min(bucket, reach); at < end; ++at) {
    if (of[at].count == 0) continue;
    all.least = all.count == 0 ? of[at].least : std::min(all.least, of[at].least);
    all.most = all.count == 0 ? of[at].most : std::max(all.most, of[at].most);
    all.count += of[at].count;
  }
  return all;
}

// Every extreme of one is one of the other, at most `reach` buckets away. Returns how many buckets
// have values.
std::size_t expect_alike(const std::vector<EnvelopeBucket>& exact,
                         const std::vector<EnvelopeBucket>& read, std::size_t reach) {
  std::size_t compared = 0;
  const auto bounded = [](double value) { return std::clamp(value, -kGreatest, kGreatest); };
  for (std::size_t bucket = 0; bucket < exact.size(); ++bucket) {
    SCOPED_TRACE("bucket " + std::to_string(bucket));
    if (exact[bucket].count != 0) {
      const auto near = around(read, bucket, reach);
      EXPECT_NE(near.count, 0U);
      EXPECT_LE(near.least, bounded(exact[bucket].least));
      EXPECT_GE(near.most, bounded(exact[bucket].most));
      ++compared;
    }
    if (read[bucket].count == 0) continue;
    const auto near = around(exact, bucket, reach);
    EXPECT_NE(near.count, 0U);
    EXPECT_GE(read[bucket].least, smaller(bounded(near.least)));
    EXPECT_LE(read[bucket].most, larger(bounded(near.most)));
    EXPECT_GE(read[bucket].last, read[bucket].least);
    EXPECT_LE(read[bucket].last, read[bucket].most);
    if (testing::Test::HasFailure()) return 0;
  }
  return compared;
}

std::string name_of(const EnvelopeSeries& series) {
  return series.provider + " " + series.path +
         (series.percentile ? " " + std::to_string(*series.percentile) : "");
}

bool has_values(const EnvelopeSeries& series) {
  return std::any_of(series.buckets.begin(), series.buckets.end(),
                     [](const EnvelopeBucket& bucket) { return bucket.count != 0; });
}

class Summaries : public testing::Test {
 protected:
  // Ten chunks of a minute.
  void write_minutes() {
    record::MadeRecording made({});
    for (std::uint64_t second = 0; second < 600; second += 60) {
      made.begin_chunk();
      made.ticks(second, second + 60);
    }
    made.write(path_);
  }
  // Makes the ticks of all chunks unreadable but for the first and the last; the key frames stay.
  void damage_ticks() const {
    std::string bytes = read_file(path_);
    MemoryBytes source(std::as_bytes(std::span(bytes)));
    FrameWalk walk(source);
    std::vector<Frame> frames;
    while (const auto frame = walk.next()) frames.push_back(*frame);
    std::size_t chunks = 0;
    for (const Frame& frame : frames) {
      if (frame.kind == FrameKind::kKey) ++chunks;
      if (frame.kind != FrameKind::kTick || chunks < 2 || chunks > 9) continue;
      bytes[frame.offset + kFrameHead] ^= '\x55';
    }
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  test::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/made.mbr";
};

TEST_F(Summaries, SayOfALongRangeWhatAllValuesSay) {
  write_minutes();
  ASSERT_EQ(summarize(path_), 10U);
  for (const char* const counter : {"count", "depth", "load", "uptime"}) {
    for (const std::size_t buckets : {1U, 3U, 10U, 60U, 200U}) {
      SCOPED_TRACE(counter + (" in " + std::to_string(buckets)));
      const auto request = request_of("queues/eu/" + std::string(counter), 600, buckets);
      const auto exact = envelope(path_, request);
      const auto read = envelope(path_, blurred(request));
      ASSERT_TRUE(exact && read);
      ASSERT_EQ(exact->series.size(), 1U);
      ASSERT_EQ(read->series.size(), 1U);
      EXPECT_EQ(read->series[0].path, exact->series[0].path);
      EXPECT_EQ(read->moments, exact->moments);
      // A part has 7.5 s, and a bucket at least 3.
      EXPECT_GT(expect_alike(exact->series[0].buckets, read->series[0].buckets, 3), 0U);
    }
  }
}

TEST_F(Summaries, OfSeveralChunksSayWhatAllTheirValuesSay) {
  write_minutes();
  // Three of three chunks and one of one.
  ASSERT_EQ(summarize(path_, 3), 4U);
  const auto request = request_of("queues/eu/count", 600, 10);
  const auto exact = envelope(path_, request);
  damage_ticks();
  const auto read = envelope(path_, blurred(request));
  ASSERT_TRUE(exact && read);
  EXPECT_TRUE(read->damages.empty());
  EXPECT_EQ(read->moments, exact->moments);
  ASSERT_EQ(read->series.size(), 1U);
  EXPECT_EQ(expect_alike(exact->series[0].buckets, read->series[0].buckets, 1), 10U);
}

// A summary says of how many chunks it is, and what it says is checked against the file.
TEST_F(Summaries, OfChunksThatAreNotThereAreNotRead) {
  write_minutes();
  const std::string whole = read_file(path_);
  ASSERT_EQ(summarize(path_, 5), 2U);
  const std::string summarized = read_file(path_);
  const auto request = request_of("queues/eu/count", 600, 10);
  const auto exact = envelope(path_, request);
  MemoryBytes source(std::as_bytes(std::span(summarized)));
  for (const std::uint64_t chunks : {0ULL, 6ULL, ~0ULL}) {
    SCOPED_TRACE(chunks);
    std::string changed = whole;
    FrameWalk walk(source);
    while (const auto frame = walk.next()) {
      if (frame->kind != FrameKind::kSummary) continue;
      ByteReader in(frame->payload);
      const std::uint64_t sequence = in.number(), offset = in.number();
      ASSERT_EQ(in.number(), 5U);
      const std::size_t begin = begin_frame(changed);
      ByteWriter writer(changed);
      for (const std::uint64_t number : {sequence, offset, chunks}) writer.number(number);
      const std::size_t rest = in.rest().size();
      writer.append(std::string_view(summarized).substr(frame->end() - rest, rest));
      end_frame(changed, begin, FrameKind::kSummary);
    }
    std::ofstream(path_, std::ios::binary) << changed;
    const auto read = envelope(path_, blurred(request));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->moments, exact->moments);
    for (std::size_t bucket = 0; bucket < 10; ++bucket) {
      EXPECT_EQ(read->series[0].buckets[bucket].most, exact->series[0].buckets[bucket].most);
    }
  }
}

TEST_F(Summaries, KeepASpikeOfOneTick) {
  write_minutes();
  ASSERT_EQ(summarize(path_), 10U);
  // `depth` is 2^64 - 1 in second 7.
  const auto read = envelope(path_, blurred(request_of("queues/eu/depth", 600, 10)));
  ASSERT_TRUE(read);
  EXPECT_GE(read->series[0].buckets[0].most, 0x1p64);
  for (std::size_t bucket = 1; bucket < 10; ++bucket) {
    EXPECT_LT(read->series[0].buckets[bucket].most, 5000);
  }
}

TEST_F(Summaries, AreReadInThePlaceOfTheirChunks) {
  write_minutes();
  ASSERT_EQ(summarize(path_), 10U);
  const auto request = request_of("queues/eu/count", 600, 10);
  const auto before = envelope(path_, blurred(request));
  damage_ticks();
  const auto exact = envelope(path_, request);
  const auto read = envelope(path_, blurred(request));
  ASSERT_TRUE(before && exact && read);
  EXPECT_FALSE(exact->damages.empty());
  EXPECT_TRUE(read->damages.empty());
  ASSERT_EQ(read->series.size(), 1U);
  EXPECT_EQ(expect_alike(before->series[0].buckets, read->series[0].buckets, 0), 10U);
  // The control: parts of 7.5 s are too long for a blur of 5 s.
  auto sharper = request;
  sharper.blur_ns = 5 * kSecond;
  EXPECT_FALSE(envelope(path_, sharper)->damages.empty());
}

TEST_F(Summaries, AreNotReadForWhatTheyDoNotHave) {
  write_minutes();
  ASSERT_EQ(summarize(path_), 10U);
  damage_ticks();
  const auto reads_ticks = [&](const EnvelopeRequest& request) {
    const auto read = envelope(path_, request);
    return read && !read->damages.empty();
  };
  auto request = blurred(request_of("queues/eu/count", 600, 10));
  EXPECT_FALSE(reads_ticks(request));
  for (const char* const pattern :
       {"queues/*/count", "queues/eu", "queues", "queues/count", "queues/eu#7/count", "*",
        "queues/_Total/count", "\\Queues(*)\\Count"}) {
    EXPECT_TRUE(reads_ticks(blurred(request_of(pattern, 600, 10)))) << pattern;
  }
  request.cap_percent = true;
  EXPECT_TRUE(reads_ticks(request));
  request.cap_percent = false;
  request.stored = true;
  EXPECT_TRUE(reads_ticks(request));
  request.stored = false;
  request.excluded = {"other"};
  EXPECT_TRUE(reads_ticks(request));
  request.excluded.clear();
  request.percentiles = {50, 75};
  EXPECT_TRUE(reads_ticks(request));
  request.percentiles = {50, 100 * 0.999};
  EXPECT_FALSE(reads_ticks(request));
}

TEST_F(Summaries, HideNoInstanceThatBeginsLater) {
  record::MadeRecording made({});
  made.ticks(0, 60);
  made.begin_chunk();
  made.ticks(60, 70);
  made.add_row("late");
  made.ticks(70, 120);
  made.begin_chunk();
  made.ticks(120, 180);
  made.write(path_);
  ASSERT_EQ(summarize(path_), 3U);
  const auto request = request_of("queues/late/count", 180, 18);
  const auto exact = envelope(path_, request);
  const auto read = envelope(path_, blurred(request));
  ASSERT_TRUE(exact && read);
  ASSERT_EQ(read->series.size(), 1U);
  EXPECT_GT(expect_alike(exact->series[0].buckets, read->series[0].buckets, 1), 10U);
}

TEST_F(Summaries, OfAnotherRecordingAreNotRead) {
  write_minutes();
  ASSERT_EQ(summarize(path_), 10U);
  const std::string summarized = read_file(path_);
  record::MadeRecording other({.monotonic_ns = 300'000'000'000});
  for (std::uint64_t second = 1; second < 601; second += 60) {
    other.begin_chunk();
    other.ticks(second, second + 60);
  }
  const std::size_t end = other.bytes().size();
  // With the summaries of the first one, whose chunks are elsewhere and began a second earlier.
  MemoryBytes source(std::as_bytes(std::span(summarized)));
  FrameWalk walk(source);
  while (const auto frame = walk.next()) {
    if (frame->kind != FrameKind::kSummary) continue;
    other.bytes().append(summarized, frame->offset, frame->end() - frame->offset);
  }
  ASSERT_GT(other.bytes().size(), end);
  other.write(path_);
  const auto request = request_of("queues/eu/count", 600, 10);
  const auto exact = envelope(path_, request);
  const auto read = envelope(path_, blurred(request));
  ASSERT_TRUE(exact && read);
  for (std::size_t bucket = 0; bucket < 10; ++bucket) {
    EXPECT_EQ(read->series[0].buckets[bucket].most, exact->series[0].buckets[bucket].most);
    EXPECT_EQ(read->series[0].buckets[bucket].count, exact->series[0].buckets[bucket].count);
  }
}

// Providers that restart and have namesakes, instances that come and go, every form of counter.
TEST_F(Summaries, SayOfRandomRecordingsWhatAllValuesSay) {
  std::size_t compared = 0, read_series = 0;
  for (unsigned seed = 1; seed <= test::tries(2); ++seed) {
    const MadeRecording made({.seed = seed, .files = 3, .ticks = 14, .chunk_ticks = 7});
    const test::TemporaryDirectory directory;
    made.files.write_to(directory.path());
    // Each chunk alone, and two in one.
    ASSERT_GT(summarize(directory.path(), 1 + seed % 2), 2U);
    EnvelopeRequest request{.from_ns = made.ticks.front().time.realtime_ns,
                            .to_ns = made.ticks.back().time.realtime_ns + 1,
                            .buckets = 12,
                            .percentiles = {50, 99.9},
                            .cap_percent = false};
    const auto exact = envelope(directory.path(), request);
    ASSERT_TRUE(exact);
    std::set<std::string> paths;
    for (const EnvelopeSeries& series : exact->series) paths.insert(series.path);
    for (const std::string& path : paths) {
      request.patterns = {path};
      const auto alone = envelope(directory.path(), request);
      const auto read = envelope(directory.path(), blurred(request));
      ASSERT_TRUE(alone && read) << path;
      // Rows without any value have series in one and not in the other.
      std::map<std::string, const EnvelopeSeries*> found;
      for (const EnvelopeSeries& series : read->series) found.emplace(name_of(series), &series);
      for (const EnvelopeSeries& series : alone->series) {
        if (!has_values(series)) continue;
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(series));
        ASSERT_TRUE(found.contains(name_of(series)));
        compared += expect_alike(series.buckets, found[name_of(series)]->buckets, 1);
        if (HasFailure()) return;
        found.erase(name_of(series));
        ++read_series;
      }
      for (const auto& [name, series] : found) EXPECT_FALSE(has_values(*series)) << name;
    }
  }
  EXPECT_GT(compared, 300U);
  EXPECT_GT(read_series, 50U);
}

TEST(SummaryNumbers, AreRoundedOutwardByLittle) {
  std::mt19937_64 dice(1);
  for (std::uint64_t round = 0; round < test::tries(200'000); ++round) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(dice())),
                                    static_cast<int>(dice() % 120) - 90);
    const double down = unpacked_number(packed_number(value, Rounded::kDown));
    const double up = unpacked_number(packed_number(value, Rounded::kUp));
    ASSERT_LE(down, value);
    ASSERT_GE(up, value);
    // Below these there are steps of a fixed size.
    if (std::abs(value) < 1e-37) continue;
    ASSERT_GE(down, smaller(value)) << value;
    ASSERT_LE(up, larger(value)) << value;
  }
  for (const double value : {0.0, 1.0, -1.0, 100.0, 65'535.0, 0.5, 1e300, -1e300}) {
    const double kept = std::clamp(value, -kGreatest, kGreatest);
    EXPECT_NEAR(unpacked_number(packed_number(value, Rounded::kDown)), kept, std::abs(kept) / 100);
    EXPECT_TRUE(std::isfinite(unpacked_number(packed_number(value, Rounded::kUp))));
    if (std::abs(value) > 65'535) continue;
    EXPECT_EQ(unpacked_number(packed_number(value, Rounded::kDown)), value);
    EXPECT_EQ(unpacked_number(packed_number(value, Rounded::kUp)), value);
  }
}

TEST_F(Summaries, ThatAreMalformedAreRefusedOrShowNumbers) {
  write_minutes();
  std::string bytes;
  auto recording = Recording::open(path_);
  const Chunk chunk = recording->files()[0].index.chunks()[1];
  ASSERT_TRUE(*append_summary(*recording, {0, chunk.offset, 1, chunk.first, chunk.last}, bytes));
  const std::vector<SummaryName> wanted{{"queues", "eu", "count"}, {"queues", "eu", "depth"}};
  const auto read = [&](std::string payload) {
    return read_summary({FrameKind::kSummary, 0, std::as_bytes(std::span(payload))}, wanted);
  };
  const std::string payload = bytes.substr(kFrameHead);
  ASSERT_EQ(read(payload)->series.size(), 2U);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    refused += read(payload.substr(0, at)) ? 0U : 1U;
    for (const int bit : {0, 3, 7}) {
      std::string flipped = payload;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      const auto summary = read(flipped);
      if (!summary) ++refused;
      for (const auto& series : summary ? summary->series : std::vector<SummarySeries>()) {
        for (const EnvelopeBucket& part : series.parts) {
          ASSERT_TRUE(std::isfinite(part.least) && std::isfinite(part.most));
          ASSERT_LE(part.least, part.most);
        }
      }
    }
  }
  EXPECT_GT(refused, payload.size() / 2);
}

}  // namespace
}  // namespace meterbank::recording::summary_test
