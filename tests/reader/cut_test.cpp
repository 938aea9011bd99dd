// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iostream>
#include <optional>
#include <thread>

#include "../support/allocation_count.hpp"
#include "../support/depth.hpp"
#include "../support/orders_schema.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {
namespace {

using test::orders_with_cuts;
using test::Venue;

constexpr Timestamp kAnyTime{};
constexpr std::chrono::hours kNever{1};

CountersetSpec second_set(bool cuts, Consistency consistency = Consistency::kBlock) {
  CountersetSpec spec = test::kOrders;
  spec.name = "Second";
  spec.symbol = "second";
  spec.guid = {};
  spec.cuts = cuts;
  spec.consistency = consistency;
  return spec;
}

// The only epoch is the one that is settled when the first set is registered, unless a test asks
// for more.
class CutTest : public testing::Test {
 protected:
  Provider& start(std::chrono::microseconds period = kNever) {
    return provider_.emplace(*Provider::create(
        {.name = "orders", .directory = directory_.path(), .cut_period = period}));
  }
  Query compile(const std::vector<std::string>& patterns = {}) {
    catalog_.emplace(*Catalog::open({.directory = directory_.path()}));
    return *Query::compile(*catalog_, patterns);
  }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  std::optional<Catalog> catalog_;
  Sample sample_;
};

TEST_F(CutTest, IsExactWithoutWriters) {
  auto venues = *start().add(test::kOrders);
  Instance eu = *venues.create_instance("eu");
  Instance us = *venues.create_instance("us");
  eu.add(Venue::kAccepted, 3);
  auto query = compile();
  for (const Cut cut : {Cut::kTry, Cut::kEpoch}) {
    const CollectSummary summary = query.collect(sample_, kAnyTime, cut);
    EXPECT_EQ(summary.cut, CutQuality::kExact);
    EXPECT_EQ(summary.not_fresh, 0U);
    ASSERT_EQ(content_of(sample_).cuts.size(), 1U);
    EXPECT_EQ(content_of(sample_).cuts[0].quality, CutQuality::kExact);
    EXPECT_EQ(content_of(sample_).cuts[0].skew_ns, 0U);
    EXPECT_EQ(content_of(sample_).row(0)[0], 3U);
  }
}

TEST_F(CutTest, SaysNothingWhereNoneWasAskedFor) {
  auto venues = *start().add(test::kOrders);
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  query.collect(sample_, kAnyTime, Cut::kTry);
  EXPECT_EQ(content_of(sample_).cuts.size(), 1U);
  EXPECT_EQ(query.collect(sample_, kAnyTime).cut, CutQuality::kPerBlock);
  EXPECT_TRUE(content_of(sample_).cuts.empty());
}

TEST_F(CutTest, IndependentCountersHaveNoCutAndSaySo) {
  auto& provider = start();
  auto venues = *provider.add(test::kOrders);
  auto second = *provider.add(second_set(false, Consistency::kIndependent));
  Instance eu = *venues.create_instance("eu");
  Instance other = *second.create_instance("other");
  auto query = compile();
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kTry).cut, CutQuality::kPerBlock);
  ASSERT_EQ(content_of(sample_).cuts.size(), 2U);
  for (std::size_t index = 0; index < 2; ++index) {
    const bool blocks =
        plan_of(query)->selections[index].set->set->consistency == Consistency::kBlock;
    EXPECT_EQ(content_of(sample_).cuts[index].quality,
              blocks ? CutQuality::kExact : CutQuality::kPerBlock);
  }
}

TEST_F(CutTest, IndependentCountersOfADeadProviderAreExact) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto& provider = start();
    auto second = *provider.add(second_set(false, Consistency::kIndependent));
    Instance other = *second.create_instance("other");
    other.add(Venue::kAccepted, 8);
    static_cast<void>(::write(ready[1], "x", 1));
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  auto query = compile();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  catalog_->refresh();
  query.update(*catalog_);
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kEpoch).cut, CutQuality::kExact);
  ASSERT_EQ(content_of(sample_).status.size(), 1U);
  EXPECT_EQ(content_of(sample_).status[0], RowStatus::kDead);
  EXPECT_EQ(content_of(sample_).row(0)[0], 8U);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(CutTest, TakesEveryRowAsItWasAtTheEpoch) {
  auto& provider = start();
  auto second = *provider.add(second_set(true));
  auto venues = *provider.add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  Instance us = *venues.create_instance("us");
  Instance other = *second.create_instance("other");
  auto query = compile();
  eu.add(Venue::kAccepted, 3);
  us.add(Venue::kAccepted, 4);
  other.add(Venue::kAccepted, 5);
  const CollectSummary summary = query.collect(sample_, kAnyTime, Cut::kEpoch);
  EXPECT_EQ(summary.cut, CutQuality::kCut);
  for (const SelectionCut& cut : content_of(sample_).cuts) {
    EXPECT_EQ(cut.quality, CutQuality::kCut);
    EXPECT_EQ(cut.skew_ns, 0U);
  }
  // All three are younger than the epoch, so all show what they began with.
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(content_of(sample_).row(row)[0], 0U);
    EXPECT_EQ(content_of(sample_).status[row], RowStatus::kCheckpoint);
  }
  query.collect(sample_, kAnyTime, Cut::kTry);
  EXPECT_EQ(
      content_of(sample_).row(0)[0] + content_of(sample_).row(1)[0] + content_of(sample_).row(2)[0],
      12U);
}

TEST_F(CutTest, AnInstanceThatWasClosedSinceShowsTheValuesOfTheEpoch) {
  auto venues = *start().add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  eu.add(Venue::kAccepted, 3);
  eu.close();
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kEpoch).cut, CutQuality::kCut);
  EXPECT_EQ(content_of(sample_).status[0], RowStatus::kClosed);
  EXPECT_EQ(content_of(sample_).row(0)[0], 0U);
}

TEST_F(CutTest, NeverShowsLessThanWasReturnedBefore) {
  auto venues = *start().add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  eu.add(Venue::kAccepted, 3);
  query.collect(sample_, kAnyTime);
  EXPECT_EQ(content_of(sample_).row(0)[0], 3U);
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kEpoch).cut, CutQuality::kExact);
  EXPECT_EQ(content_of(sample_).row(0)[0], 3U);
}

TEST_F(CutTest, ProvidersHaveEpochsOfTheirOwn) {
  auto venues = *start().add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto beside =
      *Provider::create({.name = "beside", .directory = directory_.path(), .cut_period = kNever});
  auto second = *beside.add(second_set(true));
  Instance other = *second.create_instance("other");
  auto query = compile();
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kEpoch).cut, CutQuality::kPerBlock);
  for (const SelectionCut& cut : content_of(sample_).cuts) EXPECT_EQ(cut.quality, CutQuality::kCut);
}

TEST_F(CutTest, LastValuesOfAClosedProviderAreExact) {
  auto venues = *start().add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  eu.add(Venue::kAccepted, 3);
  provider_.reset();
  EXPECT_EQ(query.collect(sample_, kAnyTime, Cut::kEpoch).cut, CutQuality::kExact);
  EXPECT_EQ(content_of(sample_).status[0], RowStatus::kClosed);
  EXPECT_EQ(content_of(sample_).row(0)[0], 3U);
}

TEST_F(CutTest, TheHeartbeatBringsTheEpochForward) {
  auto venues = *start(std::chrono::milliseconds(1)).add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  eu.add(Venue::kAccepted, 3);
  while (query.collect(sample_, kAnyTime, Cut::kEpoch).cut != CutQuality::kCut ||
         content_of(sample_).row(0)[0] != 3) {
    std::this_thread::yield();
  }
  EXPECT_EQ(content_of(sample_).status[0], RowStatus::kFresh);
}

TEST_F(CutTest, AllocatesNothingOnceTheSampleIsPrepared) {
  auto venues = *start().add(orders_with_cuts());
  Instance eu = *venues.create_instance("eu");
  auto query = compile();
  query.prepare(sample_);
  const std::size_t before = test::allocations_made();
  query.collect(sample_, kAnyTime, Cut::kEpoch);
  query.collect(sample_, kAnyTime, Cut::kTry);
  EXPECT_EQ(test::allocations_made(), before);
}

// ---- Where rows lie ----
//
// Rows of tiles, of lines and of slots with a gap between them have their addresses in different
// ways. Each row says in its words which row it is.

class CutOfEachForm : public CutTest, public testing::WithParamInterface<bool> {
 protected:
  static constexpr std::uint64_t kRows = 100, kWords = 3, kWave = 1000;

  void create_instances() {
    CountersetSpec spec = orders_with_cuts();
    spec.many = GetParam();
    set_ = *start(std::chrono::milliseconds(1)).add(spec);
    for (std::uint64_t row = 0; row < kRows; ++row) {
      instances_.push_back(*set_->create_instance("i" + std::to_string(row)));
    }
    instances_.erase(instances_.begin() + 37);
    instances_.erase(instances_.begin() + 13);
  }
  // Writes to every second row, so that a cut has rows that changed after the epoch and others.
  void write(std::uint64_t wave) {
    for (std::uint64_t row = wave % 2; row < instances_.size(); row += 2) {
      instances_[row].update([&](Values& values) noexcept {
        for (std::uint32_t word = 0; word < kWords; ++word) {
          values.set(word, wave * kWave + row * kWords + word);
        }
      });
    }
  }
  [[nodiscard]] std::uint64_t wave_of(std::uint64_t row) const {
    return content_of(sample_).row(row)[0] / kWave;
  }
  // Rows that are not what was written to them, all words at once.
  [[nodiscard]] std::size_t wrong_rows() const {
    std::size_t wrong = 0;
    for (std::uint64_t row = 0; row < instances_.size(); ++row) {
      bool is_right = true;
      for (std::uint64_t word = 0; word < kWords; ++word) {
        const std::uint64_t written = wave_of(row) * kWave + row * kWords + word;
        is_right &= content_of(sample_).row(row)[word] == (wave_of(row) == 0 ? 0 : written);
      }
      if (!is_right) ++wrong;
    }
    return wrong;
  }
  // Whether the rows were all so at one moment: while a wave is written it has reached the first of
  // its rows, and all others hold the wave before.
  [[nodiscard]] bool is_of_one_moment() const {
    std::uint64_t last = 0;
    for (std::uint64_t row = 0; row < instances_.size(); ++row) last = std::max(last, wave_of(row));
    bool reached = true;
    for (std::uint64_t row = 0; row < instances_.size(); ++row) {
      const bool is_its = row % 2 == last % 2;
      if (is_its && wave_of(row) != last) reached = false;
      const std::uint64_t expected = !is_its ? last - 1 : reached ? last : last - 2;
      if (last > 1 && wave_of(row) != expected) return false;
    }
    return true;
  }

  std::optional<Registration> set_;
  std::vector<Instance> instances_;
};
INSTANTIATE_TEST_SUITE_P(Forms, CutOfEachForm, testing::Bool(), [](const auto& form) {
  return std::string(form.param ? "Tiles" : "Lines");
});

TEST_P(CutOfEachForm, EachRowHasItsOwnWordsOfOneMoment) {
  create_instances();
  auto query = compile();
  std::size_t cuts = 0, current = 0, saved = 0;
  for (std::uint64_t wave = 1; cuts < 20 || current == 0 || saved == 0; ++wave) {
    write(wave);
    const CutQuality quality = query.collect(sample_, kAnyTime, Cut::kEpoch).cut;
    ASSERT_EQ(wrong_rows(), 0U) << "wave " << wave;
    if (quality != CutQuality::kCut) continue;
    ASSERT_TRUE(is_of_one_moment()) << "wave " << wave;
    ++cuts;
    for (const RowStatus status : content_of(sample_).status) {
      ++(status == RowStatus::kFresh ? current : saved);
    }
  }
}

// ---- Causality ----
//
// Three threads write a block each. The second writes a number only after it has seen it from the
// first, the third from the second. So at no moment is a later block ahead of an earlier one.

struct Told {
  alignas(64) std::atomic<std::uint64_t> number{0};
};

struct Contradictions {
  std::uint64_t cuts = 0, exact = 0, per_block = 0, saved = 0, wrong = 0, naive_wrong = 0;
};

bool is_contradiction(const Sample& sample) {
  return content_of(sample).row(0)[0] < content_of(sample).row(1)[0] ||
         content_of(sample).row(1)[0] < content_of(sample).row(2)[0];
}

Contradictions read_cuts(Query& query, Query& naive, std::uint64_t wanted) {
  Contradictions counted;
  Sample sample, beside;
  while (counted.cuts < wanted) {
    const CutQuality quality = query.collect(sample, kAnyTime, Cut::kEpoch).cut;
    ++(quality == CutQuality::kCut     ? counted.cuts
       : quality == CutQuality::kExact ? counted.exact
                                       : counted.per_block);
    if (quality != CutQuality::kPerBlock && is_contradiction(sample)) ++counted.wrong;
    counted.saved += static_cast<std::uint64_t>(std::count(content_of(sample).status.begin(),
                                                           content_of(sample).status.end(),
                                                           RowStatus::kCheckpoint));
    naive.collect(beside, kAnyTime);
    if (is_contradiction(beside)) ++counted.naive_wrong;
  }
  return counted;
}

TEST_F(CutTest, NeverShowsAnEffectWithoutItsCause) {
  auto venues = *start(std::chrono::microseconds(500)).add(orders_with_cuts());
  std::array<Instance, 3> blocks{*venues.create_instance("a"), *venues.create_instance("b"),
                                 *venues.create_instance("c")};
  std::array<Told, 3> told;
  std::atomic<bool> stop{false};
  auto query = compile();
  auto naive = compile();
  std::vector<std::thread> writers;
  for (std::size_t place = 0; place < 3; ++place) {
    writers.emplace_back([&, place] {
      std::uint64_t number = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        const std::uint64_t next =
            place == 0 ? number + 1 : told[place - 1].number.load(std::memory_order_acquire);
        if (next == number) {
          std::this_thread::yield();
          continue;
        }
        number = next;
        if (number % 2 == 0) {
          blocks[place].set(Venue::kAccepted, number);
        } else {
          blocks[place].update(
              [number](Values& values) noexcept { values.set(Venue::kAccepted, number); });
        }
        told[place].number.store(number, std::memory_order_release);
      }
    });
  }
  const Contradictions counted = read_cuts(query, naive, test::depth(200'000, 10'000'000));
  stop = true;
  for (std::thread& writer : writers) writer.join();
  std::cout << "  " << counted.cuts << " cuts, " << counted.exact << " exact, " << counted.per_block
            << " per block, " << counted.saved
            << " rows from before a commit; the naive reader was wrong " << counted.naive_wrong
            << " times\n";
  EXPECT_EQ(counted.wrong, 0U);
  EXPECT_GT(counted.saved, 0U);
  if (test::runs_long()) {
    EXPECT_GT(counted.naive_wrong, 0U);
  }
}

}  // namespace
}  // namespace meterbank
