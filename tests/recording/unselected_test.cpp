// SPDX-License-Identifier: Apache-2.0
//
// A recording of some sets beside others whose instances come and go.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "../reader/replay/hand_made.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/frame.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::recording::unselected_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Bytes of a tick in which an instance of another set than the recorded one ends and one begins.
std::size_t bytes_of_a_change(const std::string& pattern) {
  Replay replay;
  const auto provider = *replay.add_provider(test::provider_called("made"));
  const auto kept = *replay.add_set(provider, test::registered(test::two_counters("kept"), 1));
  const auto busy = *replay.add_set(provider, test::registered(test::two_counters("busy"), 2));
  EXPECT_TRUE(replay.begin_instance(kept, {.slot = 0, .name = "stays", .generation = 1}));
  auto row = *replay.begin_instance(busy, {.slot = 0, .name = "a long name", .generation = 1});
  Timestamp now{kSecond, 1'700'000'000 * kSecond};
  replay.show(now);
  auto query = *Query::compile(replay.catalog(), {pattern});
  TickWriter writer;
  SchemaNumbers schemas;
  Sample sample;
  std::string bytes;
  for (std::uint64_t tick = 1; tick <= 8; ++tick) {
    replay.end_instance(busy, row);
    row = *replay.begin_instance(busy, {.slot = 0, .name = "a long name", .generation = 1 + tick});
    now.monotonic_ns += kSecond;
    now.realtime_ns += kSecond;
    replay.show(now);
    query.update(replay.catalog());
    query.collect(sample, now);
    const RateInput rate{&query, &sample};
    bytes.clear();
    writer.tick({replay.catalog(), {&rate, 1}, now, 0}, schemas, bytes);
  }
  return bytes.size();
}

constexpr Timestamp kFirst{kSecond, 1'700'000'000 * kSecond};

// The frames of the first tick of a recording of these rows.
std::string first_tick(Replay& replay, const std::string& pattern, bool lists_all_sets) {
  replay.show(kFirst);
  auto query = *Query::compile(replay.catalog(), {pattern});
  Sample sample;
  query.collect(sample, kFirst);
  const RateInput rate{&query, &sample};
  TickWriter writer;
  SchemaNumbers schemas;
  std::string bytes;
  writer.tick({.catalog = replay.catalog(),
               .rates = {&rate, 1},
               .time = kFirst,
               .lists_all_sets = lists_all_sets},
              schemas, bytes);
  return bytes;
}

TEST(UnselectedSets, AreListedInARecordingOfEverythingAlone) {
  Replay replay;
  const auto provider = *replay.add_provider(test::provider_called("made"));
  const auto kept = *replay.add_set(provider, test::registered(test::two_counters("kept"), 1));
  ASSERT_TRUE(replay.add_set(provider, test::registered(test::two_counters("other"), 2)));
  ASSERT_TRUE(replay.begin_instance(kept, {.slot = 0, .name = "a", .generation = 1}));
  // The second has another schema and another set.
  EXPECT_LT(first_tick(replay, "kept/*/*", false).size() + 60,
            first_tick(replay, "kept/*/*", true).size());
}

TEST(UnselectedSets, CostNothingWhereTheirInstancesComeAndGo) {
  EXPECT_GE(bytes_of_a_change("busy/*/*"), 32U);
  EXPECT_LE(bytes_of_a_change("kept/*/*"), 24U);
}

TEST(UnselectedSets, AreListedIfTheirCallbackGaveTheRows) {
  Replay replay;
  const auto provider = *replay.add_provider(test::provider_called("made"));
  ReplayedSet facts = test::registered(test::two_counters("asked"), 1);
  facts.flags = kRegistrationCallback;
  const auto asked = *replay.add_set(provider, std::move(facts));
  const auto schema = std::make_shared<const Counterset>(test::two_counters("asked"));
  const auto answered = *replay.add_answered(asked, schema, 5);
  const auto row = *replay.begin_instance(answered, {.slot = 0, .name = "a", .generation = 1});
  replay.words(answered, row)[0] = 1'000'003;
  std::string bytes;
  Head head;
  head.rates.push_back({kSecond, "asked/*/*"});
  append_head(head, bytes);
  bytes += first_tick(replay, "asked/*/*", false);

  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/asked.mbr";
  std::ofstream(path, std::ios::binary) << bytes;
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording) << recording.error().message();
  ASSERT_TRUE(recording->next());
  auto again = *Query::compile(recording->catalog(), {"asked/a/count"});
  Sample shown;
  again.collect(shown, recording->time());
  const Rows rows = shown.rows();
  ASSERT_NE(rows.begin(), rows.end());
  EXPECT_EQ((*(*rows.begin()).begin()).raw.value, 1'000'003);
}

}  // namespace
}  // namespace meterbank::recording::unselected_test
