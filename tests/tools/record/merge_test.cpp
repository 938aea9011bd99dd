// SPDX-License-Identifier: Apache-2.0
//
// Several recordings become one that shows what they showed.
#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>

#include "../../support/temporary_directory.hpp"
#include "made_recording.hpp"
#include "record/merge/merge.hpp"

namespace meterbank::record {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class Merge : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const {
    return directory_.path() + "/" + name;
  }
  Result<MergeCounts> merge(
      const std::vector<std::string>& inputs,
      const std::function<bool()>& stop = [] { return false; }) {
    const auto plan = plan_merge(inputs, "test");
    if (!plan) return tl::make_unexpected(plan.error());
    std::filesystem::remove(merged());
    auto files = RingFiles::open({merged(), false, 0, 0}, plan->head);
    if (!files) return tl::make_unexpected(files.error());
    return merge_recordings(*plan, *files, stop);
  }
  [[nodiscard]] std::string merged() const { return file("merged.mbr"); }
  [[nodiscard]] std::string refusal(const std::vector<std::string>& inputs) {
    const auto merged = merge(inputs);
    return merged ? "merged" : merged.error().message();
  }

  test::TemporaryDirectory directory_;
};

// The values of `moments`, as if a recording of several hosts had them.
Moments of_host(const Moments& moments, const std::string& host) {
  Moments named;
  for (const auto& [time, values] : moments) {
    for (const auto& [path, value] : values) named[time][host + path] = value;
  }
  return named;
}

// The moments with values of this host, and these values.
Moments only_host(const Moments& moments, const std::string& host) {
  Moments of_it;
  for (const auto& [time, values] : moments) {
    for (const auto& [path, value] : values) {
      if (path.starts_with(host + " ")) of_it[time][path] = value;
    }
  }
  return of_it;
}

TEST_F(Merge, ShowsTheValuesOfEachHostUnderItsName) {
  MadeRecording web({}),
      db({.host = "db", .boot = "2", .monotonic_ns = 9'000'000 * kMs, .recorder = 9});
  web.ticks(10, 40);
  db.ticks(20, 60);
  const auto merged_counts = merge({web.write(file("web.mbr")), db.write(file("db.mbr"))});
  ASSERT_TRUE(merged_counts) << merged_counts.error().message();
  EXPECT_EQ(merged_counts->read, 70U);
  EXPECT_EQ(merged_counts->written, 50U);
  EXPECT_EQ(merged_counts->joined, 20U);
  const Moments all = moments_of(merged());
  EXPECT_EQ(only_host(all, "web1"), of_host(moments_of(file("web.mbr")), "web1"));
  EXPECT_EQ(only_host(all, "db"), of_host(moments_of(file("db.mbr")), "db"));
}

TEST_F(Merge, JoinsSamplesThatWereTakenNearlyAtOnceAndSaysHowFarApart) {
  MadeRecording web({}),
      db({.host = "db", .boot = "2", .monotonic_ns = 77'000 * kMs, .recorder = 9});
  web.ticks(10, 40);
  db.ticks(10, 40, 3 * kMs);
  const auto counts = merge({db.write(file("db.mbr")), web.write(file("web.mbr"))});
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(counts->written, 30U);
  EXPECT_EQ(counts->apart_ns, 3 * kMs);
  auto recording = *recording::Recording::open(merged());
  while (recording.next()) EXPECT_EQ(recording.window_ns(), 3 * kMs + 1000);
}

TEST_F(Merge, KeepsSamplesApartThatWereTakenAtDifferentTimes) {
  MadeRecording web({}),
      db({.host = "db", .boot = "2", .monotonic_ns = 77'000 * kMs, .recorder = 9});
  web.ticks(0, 1500);
  db.ticks(0, 1500, 400 * kMs);
  const auto counts = merge({db.write(file("db.mbr")), web.write(file("web.mbr"))});
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(counts->written, 3000U);
  const Moments all = moments_of(merged());
  EXPECT_EQ(only_host(all, "web1"), of_host(moments_of(file("web.mbr")), "web1"));
  EXPECT_EQ(only_host(all, "db"), of_host(moments_of(file("db.mbr")), "db"));
  // Also where a reader begins in the middle.
  auto recording = *recording::Recording::open(merged());
  for (std::uint64_t second = 100; second < 1400; second += 97) {
    ASSERT_TRUE(
        recording.seek(MadeRecording::kStart + second * MadeRecording::kSecond + 500 * kMs));
    auto query = *Query::compile(recording.catalog(), {"queues/eu/count"});
    Sample sample;
    query.collect(sample, recording.time());
    std::size_t right = 0;
    for (const Row& row : sample) {
      if ((*row.begin()).raw.value == second) ++right;
    }
    EXPECT_GE(right, 1U) << second;
  }
}

TEST_F(Merge, WritesASampleOnceThatSeveralHave) {
  MadeRecording whole({});
  whole.ticks(0, 20);
  whole.mark(19, "deployed");
  whole.gap(19, 25);
  whole.ticks(25, 700);
  whole.write(file("whole.mbr"));
  std::filesystem::copy_file(file("whole.mbr"), file("copy.mbr"));
  const auto counts = merge({file("whole.mbr"), file("copy.mbr")});
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(counts->written, 695U);
  EXPECT_EQ(counts->repeated, 695U);
  EXPECT_EQ(counts->gaps, 1U);
  EXPECT_EQ(counts->marks, 1U);
  EXPECT_EQ(moments_of(merged()), moments_of(file("whole.mbr")));
  auto recording = *recording::Recording::open(merged());
  while (recording.next()) {
  }
  ASSERT_EQ(recording.gaps().size(), 1U);
  EXPECT_EQ(recording.gaps()[0].ticks, 5U);
  ASSERT_EQ(recording.marks().size(), 1U);
  EXPECT_EQ(recording.marks()[0].text, "deployed");
}

TEST_F(Merge, MakesOneOfPartsThatFollowOrOverlap) {
  MadeRecording second({}), both({});
  second.ticks(150, 180);
  second.add_row("us");
  second.ticks(180, 300);
  both.ticks(0, 180);
  both.add_row("us");
  both.ticks(180, 300);
  MadeRecording until({});
  until.ticks(0, 180);
  const auto counts = merge({second.write(file("second.mbr")), until.write(file("until.mbr"))});
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(counts->written, 300U);
  EXPECT_EQ(counts->repeated, 30U);
  EXPECT_EQ(moments_of(merged()), moments_of(both.write(file("both.mbr"))));
}

TEST_F(Merge, TakesPartsOfOneRecordingWithDifferentCounters) {
  MadeRecording queues({}), stacks({.set = "stacks"});
  queues.ticks(0, 50);
  stacks.ticks(10, 30);
  const auto counts = merge({queues.write(file("q.mbr")), stacks.write(file("s.mbr"))});
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(counts->written, 50U);
  Moments expected = moments_of(file("q.mbr"));
  for (const auto& [time, values] : moments_of(file("s.mbr"))) {
    expected[time].insert(values.begin(), values.end());
  }
  EXPECT_EQ(moments_of(merged()), expected);
}

TEST_F(Merge, RefusesTwoRecordersOfOneSet) {
  MadeRecording first({.recorder = 1}), second({.recorder = 2});
  first.ticks(0, 50);
  second.ticks(20, 70, 500 * kMs);
  const auto text = refusal({first.write(file("1.mbr")), second.write(file("2.mbr"))});
  EXPECT_NE(text.find("2.mbr: queues of shop@42 was sampled by two recorders"), std::string::npos)
      << text;
}

TEST_F(Merge, TakesTwoRecordersThatFollowOneAnother) {
  MadeRecording first({.recorder = 1}), second({.recorder = 2}), both({});
  first.ticks(0, 50);
  second.ticks(50, 90);
  both.ticks(0, 90);
  ASSERT_TRUE(merge({second.write(file("2.mbr")), first.write(file("1.mbr"))}));
  EXPECT_EQ(moments_of(merged()), moments_of(both.write(file("both.mbr"))));
}

TEST_F(Merge, RefusesAClockThatWasSetAmongThoseOfOtherMachines) {
  MadeRecording web({}), db({.host = "db", .boot = "2", .recorder = 9});
  web.ticks(0, 50);
  db.ticks(0, 20);
  db.tick(20, 0, 3'000'000'000);
  db.tick(21, 0, 3'000'000'000);
  const auto text = refusal({web.write(file("web.mbr")), db.write(file("db.mbr"))});
  EXPECT_NE(text.find("the clock of db jumped by 3.000 s"), std::string::npos) << text;
  // Alone, its own clock puts its samples in order.
  EXPECT_TRUE(merge({file("db.mbr")}));
}

TEST_F(Merge, RefusesWhatDoesNotSayItsBoot) {
  MadeRecording web({}), other({.host = "db", .boot = ""});
  web.ticks(0, 5);
  other.ticks(0, 5);
  const auto text = refusal({web.write(file("web.mbr")), other.write(file("db.mbr"))});
  EXPECT_NE(text.find("does not say which boot"), std::string::npos) << text;
}

TEST_F(Merge, MergesWhatIsReadableAndNamesWhatIsNot) {
  MadeRecording web({}), db({.host = "db", .boot = "2", .recorder = 9});
  web.ticks(0, 50);
  db.ticks(0, 20);
  db.begin_chunk();
  db.unreadable_ticks(20, 30);
  db.ticks(30, 50);
  const auto counts = merge({web.write(file("web.mbr")), db.write(file("db.mbr"))});
  ASSERT_TRUE(counts) << counts.error().message();
  ASSERT_EQ(counts->problems.size(), 1U);
  EXPECT_NE(counts->problems[0].find("db.mbr, offset"), std::string::npos) << counts->problems[0];
  EXPECT_EQ(only_host(moments_of(merged()), "web1").size(), 50U);
  EXPECT_EQ(only_host(moments_of(merged()), "db").size(), 40U);
  auto recording = *recording::Recording::open(merged());
  while (recording.next()) {
  }
  ASSERT_EQ(recording.marks().size(), 1U);
  EXPECT_NE(recording.marks()[0].text.find("not merged: "), std::string::npos);
}

TEST_F(Merge, StopsWhenItIsTold) {
  MadeRecording web({});
  web.ticks(0, 50);
  int asked = 0;
  const auto counts = merge({web.write(file("web.mbr"))}, [&] { return ++asked > 10; });
  ASSERT_TRUE(counts);
  EXPECT_TRUE(counts->was_stopped);
  EXPECT_EQ(counts->written, 10U);
}

TEST_F(Merge, TakesNoMoreMemoryForLongerRecordings) {
  const auto most_memory = [&](std::uint64_t seconds) {
    for (const Machine& machine : {Machine{}, Machine{.host = "db", .boot = "2", .recorder = 9}}) {
      MadeRecording made(machine);
      made.ticks(0, seconds);
      made.write(file(machine.host + ".mbr"));
    }
    std::size_t most = 0;
    const auto counts = merge({file("web1.mbr"), file("db.mbr")}, [&] {
      most = std::max<std::size_t>(most, mallinfo2().uordblks);
      return false;
    });
    EXPECT_TRUE(counts);
    return most;
  };
  const std::size_t first = most_memory(700);
  // A chunk of 600 samples costs its place in an index.
  EXPECT_LT(most_memory(20'000), first + 256 * 1024);
}

}  // namespace
}  // namespace meterbank::record
