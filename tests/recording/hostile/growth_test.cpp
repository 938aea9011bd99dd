// SPDX-License-Identifier: Apache-2.0
//
// What a recording costs when much comes and goes, and recordings at several rates.
#include <gtest/gtest.h>

#include <set>

#include "../../reader/replay/hand_made.hpp"
#include "made_recording.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank::recording {
namespace {

// Ticks of a catalog that a test changes, in files in memory.
class TickTaker {
 public:
  TickTaker() { files_.begin_file(); }

  // Returns the bytes of the tick.
  std::uint64_t take(const Catalog& catalog, Query& query, Timestamp now) {
    query.update(catalog);
    query.collect(sample_, now);
    const RateInput rate{&query, &sample_};
    std::string bytes;
    writer_.tick({catalog, {&rate, 1}, now, 0}, files_.last().schemas, bytes);
    files_.append(bytes);
    return bytes.size();
  }
  void write_to(const std::string& directory) {
    files_.end_file();
    files_.write_to(directory);
  }
  [[nodiscard]] const Sample& sample() const noexcept { return sample_; }

 private:
  FilesInMemory files_;
  TickWriter writer_;
  Sample sample_;
};

Timestamp later(std::uint64_t ticks) {
  return {kBegin.monotonic_ns + ticks * kSecond, kBegin.realtime_ns + ticks * kSecond};
}

// The values of all rows, in their order.
std::vector<std::uint64_t> values_of(const Sample& sample) {
  std::vector<std::uint64_t> values;
  for (const Row& row : sample.rows()) {
    for (const Value& value : row) values.push_back(value.raw.value);
  }
  return values;
}

TEST(RecordingGrowth, CreatesAndDeletesCostLittle) {
  constexpr unsigned kTicks = 20;
  constexpr unsigned kCreates = 1000;
  Replay live;
  const auto provider = *live.add_provider(test::provider_called("busy"));
  const auto set = *live.add_set(provider, test::registered(test::two_counters()));
  live.show(later(0));
  auto query = *Query::compile(live.catalog(), {});
  TickTaker taker;
  taker.take(live.catalog(), query, later(0));
  std::vector<ReplayRowId> rows;
  std::uint64_t bytes = 0;
  std::uint64_t generation = 0;
  std::vector<std::vector<std::uint64_t>> values;
  for (unsigned tick = 1; tick <= kTicks; ++tick) {
    for (const ReplayRowId row : rows) live.end_instance(set, row);
    rows.clear();
    for (std::uint32_t slot = 0; slot < kCreates; ++slot) {
      const std::string name = "connection " + std::to_string(++generation);
      rows.push_back(
          *live.begin_instance(set, {.slot = slot, .name = name, .generation = generation}));
      live.words(set, rows.back())[0] = generation * 3;
      live.words(set, rows.back())[1] = slot % 7;
    }
    live.show(later(tick));
    bytes += taker.take(live.catalog(), query, later(tick));
    values.push_back(values_of(taker.sample()));
  }
  const std::uint64_t each = bytes / (kTicks * kCreates);
  RecordProperty("bytes_each", static_cast<int>(each));
  std::cout << each << " bytes a create and delete\n";
  EXPECT_LE(each, 64U);

  const test::TemporaryDirectory directory;
  taker.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open() && shown.recording().next());
  auto read = *Query::compile(shown.recording().catalog(), {});
  for (const auto& expected : values) {
    ASSERT_TRUE(shown.recording().next());
    read.update(shown.recording().catalog());
    Sample sample;
    read.collect(sample, shown.recording().time());
    ASSERT_EQ(values_of(sample), expected);
  }
}

TEST(RecordingGrowth, ASetMayBeAnotherOneInEachTick) {
  constexpr unsigned kTicks = 50;
  Replay live;
  const auto provider = *live.add_provider(test::provider_called("restless"));
  live.show(later(0));
  auto query = *Query::compile(live.catalog(), {});
  TickTaker taker;
  std::optional<ReplaySetId> set;
  std::vector<std::vector<std::string>> lines;
  for (unsigned tick = 0; tick < kTicks; ++tick) {
    if (set) live.remove_set(*set);
    ReplayedSet facts = test::registered(test::two_counters("set" + std::to_string(tick)), 1);
    facts.generation = tick + 1;
    set = *live.add_set(provider, std::move(facts));
    const auto row = *live.begin_instance(*set, {.name = "only", .generation = 1});
    live.words(*set, row)[0] = tick;
    live.show(later(tick));
    taker.take(live.catalog(), query, later(tick));
    lines.push_back(test::printed_rows(taker.sample().rows(), test::DirectoryVersion::kLeftOut));
  }
  const test::TemporaryDirectory directory;
  taker.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  for (const auto& expected : lines) {
    ASSERT_TRUE(shown.recording().next());
    ASSERT_EQ("", test::first_difference(expected, shown.lines()));
  }
  ASSERT_TRUE(shown.recording().seek(later(30).realtime_ns));
  EXPECT_EQ("", test::first_difference(lines[30], shown.lines()));
}

TEST(RecordingGrowth, TenThousandProvidersAreRecordedAndRead) {
  constexpr std::uint32_t kProviders = 10'000;
  Replay live;
  const auto schema = std::make_shared<const Counterset>(test::two_counters());
  std::vector<std::pair<ReplaySetId, ReplayRowId>> rows;
  rows.reserve(kProviders);
  for (std::uint32_t number = 0; number < kProviders; ++number) {
    const std::string name = "provider" + std::to_string(number);
    const auto provider = *live.add_provider(test::provider_called(name, number));
    ReplayedSet facts;
    facts.set = schema;
    facts.registration = facts.generation = 1;
    const auto set = *live.add_set(provider, std::move(facts));
    rows.emplace_back(set, *live.begin_instance(set, {.name = "only", .generation = 1}));
  }
  live.show(later(0));
  auto query = *Query::compile(live.catalog(), {});
  TickTaker taker;
  std::vector<std::vector<std::uint64_t>> values;
  for (unsigned tick = 0; tick < 3; ++tick) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      live.words(rows[row].first, rows[row].second)[0] += row * tick;
    }
    live.show(later(tick));
    taker.take(live.catalog(), query, later(tick));
    values.push_back(values_of(taker.sample()));
  }
  ASSERT_EQ(values[0].size(), 2 * kProviders);
  const test::TemporaryDirectory directory;
  taker.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  for (const auto& expected : values) {
    ASSERT_TRUE(shown.recording().next());
    auto read = *Query::compile(shown.recording().catalog(), {});
    Sample sample;
    read.collect(sample, shown.recording().time());
    ASSERT_EQ(values_of(sample), expected);
  }
  EXPECT_EQ(shown.recording().catalog().providers().size(), kProviders);
}

// Two sets, of which the second is sampled in every third tick.
TEST(RecordingRates, SayWhatWasSampled) {
  Replay live;
  const auto provider = *live.add_provider(test::provider_called("two rates"));
  const auto often = *live.add_set(provider, test::registered(test::two_counters("often"), 1));
  const auto seldom = *live.add_set(provider, test::registered(test::two_counters("seldom"), 2));
  const auto often_row = *live.begin_instance(often, {.name = "only", .generation = 1});
  const auto seldom_row = *live.begin_instance(seldom, {.name = "only", .generation = 1});
  live.show(later(0));
  auto fast = *Query::compile(live.catalog(), {"often/*"});
  auto slow = *Query::compile(live.catalog(), {});
  FilesInMemory files;
  files.begin_file();
  files.all()[0].head.rates.push_back({3 * kSecond, ""});
  files.all()[0].bytes.clear();
  append_head(files.all()[0].head, files.all()[0].bytes);
  TickWriter writer;
  for (unsigned tick = 0; tick < 10; ++tick) {
    live.words(often, often_row)[0] = live.words(seldom, seldom_row)[0] = 100 + tick;
    live.show(later(tick));
    Sample of_fast, of_slow;
    fast.collect(of_fast, later(tick));
    slow.collect(of_slow, later(tick));
    const std::array rates{RateInput{&fast, &of_fast},
                           RateInput{&slow, tick % 3 == 0 ? &of_slow : nullptr}};
    std::string bytes;
    writer.tick({live.catalog(), rates, later(tick), 0}, files.last().schemas, bytes);
    files.append(bytes);
  }
  files.end_file();
  const test::TemporaryDirectory directory;
  files.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  Recording& recording = shown.recording();
  for (unsigned tick = 0; tick < 10; ++tick) {
    ASSERT_TRUE(recording.next());
    const bool is_all = tick % 3 == 0;
    EXPECT_EQ(recording.due(), is_all ? 3U : 1U);
    auto of_often = *Query::compile(recording.catalog(), {"often/*"});
    auto of_seldom = *Query::compile(recording.catalog(), {"seldom/*"});
    auto of_both = *Query::compile(recording.catalog(), {});
    EXPECT_EQ(recording.coverage_of(of_often), Coverage::kAll);
    EXPECT_EQ(recording.coverage_of(of_seldom), is_all ? Coverage::kAll : Coverage::kNone);
    EXPECT_EQ(recording.coverage_of(of_both), is_all ? Coverage::kAll : Coverage::kSome);
    Sample sample;
    of_often.collect(sample, recording.time());
    EXPECT_EQ(values_of(sample)[0], 100 + tick);
    of_seldom.collect(sample, recording.time());
    EXPECT_EQ(values_of(sample)[0], 100 + tick - tick % 3);
  }
}

}  // namespace
}  // namespace meterbank::recording
