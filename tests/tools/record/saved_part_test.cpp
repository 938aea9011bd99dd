// SPDX-License-Identifier: Apache-2.0
//
// A part of a recording with two rates, whose chunks begin elsewhere than those of the whole.
#include "record/saved_part.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "../../reader/replay/hand_made.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::record {
namespace {

constexpr std::uint64_t kStepNs = 10'000'000, kSlowSteps = 1000;
constexpr Timestamp kBegin{1'000'000'000, 1'700'000'000'000'000'000};

Timestamp time_of(std::uint64_t tick) {
  return {kBegin.monotonic_ns + tick * kStepNs, kBegin.realtime_ns + tick * kStepNs};
}

// Ticks 10 ms apart with a set that is sampled in each, and one that is sampled each 10 s. As a
// recorder does, a chunk begins with both.
void write_two_rates(const std::string& path, std::uint64_t ticks) {
  Replay replay;
  const auto provider = *replay.add_provider(test::provider_called("made"));
  const std::vector<ReplaySetId> sets{
      *replay.add_set(provider, test::registered(test::two_counters("fast"), 1)),
      *replay.add_set(provider, test::registered(test::two_counters("slow"), 2))};
  std::vector<ReplayRowId> rows;
  for (const ReplaySetId set : sets) {
    rows.push_back(*replay.begin_instance(set, {.slot = 0, .name = "a", .generation = 1}));
  }
  recording::Head head;
  head.rates.push_back({kStepNs, "fast/*/*"});
  head.rates.push_back({kSlowSteps * kStepNs, ""});
  std::string bytes;
  append_head(head, bytes);
  replay.show(kBegin);
  std::vector<Query> queries;
  for (const auto& rate : head.rates) {
    queries.push_back(*Query::compile(replay.catalog(), recording::patterns_of(rate)));
  }
  std::vector<Sample> samples(queries.size());
  recording::TickWriter writer;
  recording::SchemaNumbers schemas;
  for (std::uint64_t tick = 0; tick < ticks; ++tick) {
    for (std::size_t set = 0; set < sets.size(); ++set)
      replay.words(sets[set], rows[set])[0] = tick;
    replay.show(time_of(tick));
    const bool is_slow_due = tick % kSlowSteps == 0 || writer.wants_everything();
    std::vector<recording::RateInput> rates;
    for (std::size_t rate = 0; rate < queries.size(); ++rate) {
      queries[rate].update(replay.catalog());
      const bool is_due = rate == 0 || is_slow_due;
      if (is_due) queries[rate].collect(samples[rate], time_of(tick));
      rates.push_back({&queries[rate], is_due ? &samples[rate] : nullptr});
    }
    writer.tick({replay.catalog(), rates, time_of(tick), 0}, schemas, bytes);
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

struct Shown {
  std::uint64_t due = 0;
  std::vector<std::uint64_t> words;

  friend bool operator==(const Shown&, const Shown&) = default;
};

std::map<std::uint64_t, Shown> moments_of(const std::string& path) {
  std::map<std::uint64_t, Shown> moments;
  auto recording = recording::Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().message();
  while (recording && recording->next()) {
    auto query = *Query::compile(recording->catalog(), {});
    Sample sample;
    query.collect(sample, recording->time());
    Shown& shown = moments[recording->time().realtime_ns];
    shown.due = recording->due();
    for (std::size_t row = 0; row < sample.statuses().size(); ++row) {
      shown.words.push_back(sample.stored(row).words()[0]);
    }
  }
  return moments;
}

TEST(SavedPart, SaysOfEachSampleWhichRatesItHas) {
  const test::TemporaryDirectory directory;
  const std::string whole = directory.path() + "/whole.mbr", part = directory.path() + "/part.mbr";
  write_two_rates(whole, 2400);
  // It begins in the middle of a chunk, and 600 samples later the slow set is not due.
  const auto saved = save_part({.source = whole,
                                .target = part,
                                .last = std::chrono::seconds(13),
                                .until_ns = time_of(2399).realtime_ns});
  ASSERT_TRUE(saved) << saved.error().message();

  const auto all = moments_of(whole);
  const auto copied = moments_of(part);
  ASSERT_EQ(copied.begin()->first, time_of(1000).realtime_ns);
  ASSERT_EQ(copied.size(), 1400U);
  for (const auto& [time, shown] : copied) ASSERT_EQ(shown, all.at(time)) << time;
}

}  // namespace
}  // namespace meterbank::record
