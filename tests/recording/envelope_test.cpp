// SPDX-License-Identifier: Apache-2.0
//
// Envelopes are compared with the slow way: each moment of the recording is shown, and each value
// of each moment is put into its bucket.
#include "meterbank/recording/envelope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "../support/depth.hpp"
#include "../tools/record/made_recording.hpp"
#include "hostile/made_recording.hpp"

namespace meterbank::recording {
namespace {

const std::vector<std::string> kExcluded{"history", "history/*"};
using Timed = std::vector<std::pair<std::uint64_t, double>>;

std::string name_of_value(const Value& value) {
  const Row& row = *value.row;
  const std::string provider = row.is_total       ? ""
                               : row.has_namesake ? row.provider_label()
                                                  : row.provider->name;
  return provider + '|' + row.set().symbol + '|' +
         (row.is_total ? std::string(kTotalName) : row.instance_label()) + '|' + value.symbol();
}

std::string name_of_series(const EnvelopeSeries& series) {
  return series.provider + '|' + series.set + '|' + series.instance + '|' + series.counter.symbol +
         (series.percentile ? "|" + std::to_string(*series.percentile) : "");
}

struct Slowly {
  std::map<std::string, Timed> values;
  std::uint64_t moments = 0;
};

void add(const Value& value, std::uint64_t time, const EnvelopeRequest& request, Slowly& all) {
  if (value.row->status == RowStatus::kDead || !holds_values(value.row->status)) return;
  if (value.counter->form == ValueForm::kText) return;
  const std::string name = name_of_value(value);
  const double stored = value.counter->form == ValueForm::kReal
                            ? std::bit_cast<double>(value.raw.value)
                        : value.counter->form == ValueForm::kSigned
                            ? static_cast<double>(static_cast<std::int64_t>(value.raw.value))
                            : static_cast<double>(value.raw.value);
  if (request.stored) {
    if (std::isfinite(stored)) all.values[name].emplace_back(time, stored);
  } else if (has_value(value.cooked.status)) {
    all.values[name].emplace_back(time, value.cooked.value);
  }
  for (const double percentile : request.percentiles) {
    if (value.distribution == nullptr) continue;
    const auto quantile = value.distribution->quantile(percentile / 100);
    if (!quantile) continue;
    all.values[name + '|' + std::to_string(percentile)].emplace_back(time, quantile->value);
  }
}

// Of recordings with one rate.
Slowly slowly(const std::string& path, const EnvelopeRequest& request) {
  Slowly all;
  auto recording = Recording::open(path);
  EXPECT_TRUE(recording);
  Sample older, newer;
  std::optional<Query> query;
  while (recording->next()) {
    if (!query)
      query.emplace(*Query::compile(recording->catalog(), request.patterns, request.excluded));
    query->update(recording->catalog());
    query->collect(newer, recording->time());
    const std::uint64_t time = recording->time().realtime_ns;
    if (time >= request.from_ns && time < request.to_ns) {
      ++all.moments;
      for (const Row& row : newer.since(older)) {
        for (const Value& value : row) add(value, time, request, all);
      }
    }
    std::swap(older, newer);
  }
  return all;
}

std::vector<EnvelopeBucket> buckets_of(const Timed& values, const EnvelopeRequest& request) {
  std::vector<EnvelopeBucket> buckets(request.buckets);
  const std::uint64_t span = request.to_ns - request.from_ns;
  const std::uint64_t width = (span + request.buckets - 1) / request.buckets;
  for (const auto& [time, value] : values) {
    EnvelopeBucket& bucket = buckets[(time - request.from_ns) / width];
    bucket.least = bucket.count == 0 ? value : std::min(bucket.least, value);
    bucket.most = bucket.count == 0 ? value : std::max(bucket.most, value);
    bucket.last = value;
    ++bucket.count;
  }
  return buckets;
}

void expect_equal(const std::vector<EnvelopeBucket>& fast,
                  const std::vector<EnvelopeBucket>& slow) {
  ASSERT_EQ(fast.size(), slow.size());
  for (std::size_t index = 0; index < fast.size(); ++index) {
    SCOPED_TRACE("bucket " + std::to_string(index));
    ASSERT_EQ(fast[index].count, slow[index].count);
    if (slow[index].count == 0) continue;
    ASSERT_EQ(fast[index].least, slow[index].least);
    ASSERT_EQ(fast[index].most, slow[index].most);
    ASSERT_EQ(fast[index].last, slow[index].last);
  }
}

// Returns how many values were compared.
std::size_t expect_as_slowly(const std::string& path, const EnvelopeRequest& request) {
  const auto made = envelope(path, request);
  EXPECT_TRUE(made) << made.error().message();
  if (!made) return 0;
  const Slowly slow = slowly(path, request);
  EXPECT_EQ(made->moments, slow.moments);
  EXPECT_TRUE(made->damages.empty());
  std::size_t compared = 0;
  std::map<std::string, const EnvelopeSeries*> fast;
  for (const EnvelopeSeries& series : made->series) {
    EXPECT_TRUE(fast.emplace(name_of_series(series), &series).second) << name_of_series(series);
  }
  for (const auto& [name, values] : slow.values) {
    SCOPED_TRACE(name);
    const auto found = fast.find(name);
    EXPECT_NE(found, fast.end());
    if (found == fast.end()) return 0;
    expect_equal(found->second->buckets, buckets_of(values, request));
    if (testing::Test::HasFatalFailure()) return 0;
    compared += values.size();
    fast.erase(found);
  }
  for (const auto& [name, series] : fast) {
    for (const EnvelopeBucket& bucket : series->buckets) EXPECT_EQ(bucket.count, 0U) << name;
  }
  return compared;
}

class RandomRecording {
 public:
  explicit RandomRecording(const MadePlan& plan) {
    const MadeRecording made(plan);
    made.files.write_to(directory_.path());
    first_ = made.ticks.front().time.realtime_ns;
    last_ = made.ticks.back().time.realtime_ns;
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }
  // Some range, which may begin before the recording or end behind it.
  [[nodiscard]] EnvelopeRequest request(std::mt19937_64& dice) const {
    const std::uint64_t span = last_ - first_ + 4 * kSecond;
    std::uint64_t from = first_ - 2 * kSecond + dice() % span;
    std::uint64_t to = first_ - 2 * kSecond + dice() % span;
    if (from > to) std::swap(from, to);
    if (dice() % 2 == 0) from -= from % kSecond;  // at a moment
    return {.excluded = kExcluded,
            .from_ns = from,
            .to_ns = to + 1,
            .buckets = 1 + dice() % 9,
            .stored = dice() % 3 == 0,
            .percentiles = {50, 99.9},
            .threads = static_cast<unsigned>(1 + dice() % 5)};
  }

 private:
  test::TemporaryDirectory directory_;
  std::uint64_t first_ = 0, last_ = 0;
};

void expect_random_ranges(const MadePlan& plan) {
  const RandomRecording recording(plan);
  std::mt19937_64 dice(plan.seed);
  std::size_t compared = 0;
  const std::uint64_t rounds = test::tries(20);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(plan.seed) + ", round " + std::to_string(round));
    compared += expect_as_slowly(recording.path(), recording.request(dice));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 50 * rounds);
}

TEST(Envelope, HasWhatEveryMomentOfARandomRecordingHas) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    expect_random_ranges({.seed = seed, .files = 3, .ticks = 14, .chunk_ticks = 5});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Envelope, HasWhatEveryMomentHasWhenTheClockWasSet) {
  constexpr auto kJump = static_cast<std::int64_t>(kSecond);
  expect_random_ranges({.seed = 11,
                        .files = 2,
                        .ticks = 15,
                        .chunk_ticks = 5,
                        .jumps = {0, 0, 0, 0, 0, -7 * kJump, 0, 0, 0, 0, 3 * kJump}});
}

TEST(Envelope, KeepsASpikeOfOneTickInALongRange) {
  record::MadeRecording made({});
  for (std::uint64_t second = 0; second < 600; second += 60) {
    made.begin_chunk();
    made.ticks(second, second + 60);
  }
  const test::TemporaryDirectory directory;
  const std::string path = made.write(directory.path() + "/made.mbr");
  // MadeRecording makes `depth` 2^64 - 1 in second 7, and 7 in second 1.
  EnvelopeRequest request{.patterns = {"queues/eu/depth"},
                          .from_ns = record::MadeRecording::kStart,
                          .to_ns = record::MadeRecording::kStart + 600 * kSecond,
                          .buckets = 3};
  const auto plain = envelope(path, request);
  ASSERT_TRUE(plain) << plain.error().message();
  ASSERT_EQ(plain->series.size(), 1U);
  EXPECT_EQ(plain->series[0].provider, "shop@42");  // of another user
  EXPECT_EQ(plain->series[0].path, "shop@42:queues/eu/depth");
  EXPECT_EQ(plain->bucket_ns, 200 * kSecond);
  EXPECT_EQ(plain->moments, 600U);
  const auto& buckets = plain->series[0].buckets;
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].count, 200U);
  EXPECT_EQ(buckets[0].most, 0x1p64);
  EXPECT_EQ(buckets[0].least, 0);
  EXPECT_EQ(buckets[0].last, 199 * 7);
  EXPECT_EQ(buckets[1].most, 399 * 7);
}

// Of two sets: `fast` is sampled each second, `slow` in each third. The counter of both is the
// square of the second.
class TwoRates {
 public:
  explicit TwoRates(std::uint64_t seconds) {
    const auto provider = *replay_.add_provider(test::provider_called("shop"));
    const auto fast = add_set(provider, "fast", 1), slow = add_set(provider, "slow", 2);
    Head head;
    head.rates = {{kSecond, "fast/*"}, {3 * kSecond, "slow/*"}};
    append_head(head, bytes_);
    for (std::uint64_t second = 0; second < seconds; ++second) {
      if (second % 9 == 0) writer_.begin_chunk();
      for (const auto& [set, row] : {fast, slow}) replay_.words(set, row)[0] = second * second;
      tick(second);
    }
    write_file(directory_.path() + "/two.mbr", bytes_);
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }
  [[nodiscard]] static std::uint64_t at(std::uint64_t second) {
    return kBegin.realtime_ns + second * kSecond;
  }

 private:
  std::pair<ReplaySetId, ReplayRowId> add_set(ReplayProviderId provider, const std::string& name,
                                              Ref registration) {
    const auto set =
        *replay_.add_set(provider, test::registered(test::two_counters(name), registration));
    return {set, *replay_.begin_instance(set, {.slot = 0, .name = "eu", .generation = 1})};
  }
  void tick(std::uint64_t second) {
    const Timestamp now{kBegin.monotonic_ns + second * kSecond, at(second)};
    replay_.show(now);
    if (queries_.empty()) {
      for (const char* const pattern : {"fast/*", "slow/*"}) {
        queries_.push_back(*Query::compile(replay_.catalog(), {pattern}));
      }
    }
    for (std::size_t rate = 0; rate < 2; ++rate) queries_[rate].collect(samples_[rate], now);
    const bool is_slow_due = second % 3 == 0;
    const std::array<RateInput, 2> rates{
        {{&queries_[0], &samples_[0]}, {&queries_[1], is_slow_due ? &samples_[1] : nullptr}}};
    writer_.tick({replay_.catalog(), rates, now, 0}, schemas_, bytes_);
  }

  test::TemporaryDirectory directory_;
  Replay replay_;
  std::vector<Query> queries_;
  std::array<Sample, 2> samples_;
  TickWriter writer_;
  SchemaNumbers schemas_;
  std::string bytes_;
};

TEST(Envelope, HasRatesBetweenTheSamplesOfEachSet) {
  const TwoRates recording(30);
  for (const unsigned threads : {1U, 4U}) {
    const auto made = envelope(recording.path(), {.patterns = {"*/eu/count"},
                                                  .from_ns = TwoRates::at(8),
                                                  .to_ns = TwoRates::at(28),
                                                  .buckets = 20,
                                                  .threads = threads});
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->series.size(), 2U);
    for (std::uint64_t second = 8; second < 28; ++second) {
      SCOPED_TRACE(second);
      const EnvelopeBucket& fast = made->series[0].buckets[second - 8];
      const EnvelopeBucket& slow = made->series[1].buckets[second - 8];
      EXPECT_EQ(fast.count, 1U);
      EXPECT_DOUBLE_EQ(fast.most, static_cast<double>(2 * second - 1));
      EXPECT_EQ(slow.count, second % 3 == 0 ? 1U : 0U);
      if (slow.count != 0) {
        EXPECT_DOUBLE_EQ(slow.most, static_cast<double>(2 * second - 3));
      }
    }
  }
}

TEST(Envelope, IsTheSameWithAnyNumberOfThreads) {
  const RandomRecording recording({.seed = 3, .files = 4, .ticks = 20, .chunk_ticks = 3});
  EnvelopeRequest request{.excluded = kExcluded,
                          .from_ns = kBegin.realtime_ns,
                          .to_ns = kBegin.realtime_ns + 100 * kSecond,
                          .buckets = 7};
  const auto alone = envelope(recording.path(), request);
  ASSERT_TRUE(alone);
  for (const unsigned threads : {2U, 3U, 7U, 1000U}) {
    request.threads = threads;
    const auto together = envelope(recording.path(), request);
    ASSERT_TRUE(together);
    EXPECT_EQ(together->moments, alone->moments);
    ASSERT_EQ(together->series.size(), alone->series.size());
    for (std::size_t index = 0; index < alone->series.size(); ++index) {
      EXPECT_EQ(name_of_series(together->series[index]), name_of_series(alone->series[index]));
      expect_equal(together->series[index].buckets, alone->series[index].buckets);
    }
  }
}

TEST(Envelope, RefusesARangeThatIsEmpty) {
  const RandomRecording recording({});
  for (const auto& [from, to, buckets] :
       {std::tuple<std::uint64_t, std::uint64_t, std::size_t>{5, 5, 10},
        {6, 5, 10},
        {5, 6, 0},
        {5, 6, kEnvelopeBucketsMax + 1}}) {
    const auto made =
        envelope(recording.path(), {.from_ns = from, .to_ns = to, .buckets = buckets});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Envelope, RefusesAnAnswerThatWouldTakeTooMuchMemory) {
  const RandomRecording recording({});
  const auto made =
      envelope(recording.path(),
               {.from_ns = 0, .to_ns = ~std::uint64_t{0}, .buckets = 1000, .bytes_max = 1 << 16U});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kLimit);
}

TEST(Envelope, NamesPatternsThatSelectNothing) {
  const RandomRecording recording({});
  const auto made = envelope(
      recording.path(),
      {.patterns = {"plain/*/orders", "no_such_set/x"}, .from_ns = 0, .to_ns = ~std::uint64_t{0}});
  ASSERT_TRUE(made);
  ASSERT_FALSE(made->unmatched.empty());
  EXPECT_EQ(made->unmatched.front().pattern, "no_such_set/x");
}

TEST(Envelope, StopsWhenItIsAskedTo) {
  const RandomRecording recording({});
  std::stop_source source;
  source.request_stop();
  const auto made = envelope(
      recording.path(),
      {.from_ns = 0, .to_ns = ~std::uint64_t{0}, .buckets = 5, .stop = source.get_token()});
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->was_stopped);
  EXPECT_EQ(made->moments, 0U);
}

TEST(Envelope, SaysWhatCannotBeRead) {
  MadeRecording made({.ticks = 12, .chunk_ticks = 4});
  std::string& bytes = made.files.last().bytes;
  bytes[made.ticks[5].begin + kFrameHead + 2] ^= 1;
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  const auto read = envelope(directory.path(), {.excluded = kExcluded,
                                                .from_ns = kBegin.realtime_ns,
                                                .to_ns = kBegin.realtime_ns + 100 * kSecond,
                                                .buckets = 5,
                                                .threads = 3});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->moments, 9U);
  EXPECT_EQ(read->damages.size(), 1U);
}

}  // namespace
}  // namespace meterbank::recording
