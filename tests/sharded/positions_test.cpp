// SPDX-License-Identifier: Apache-2.0
//
// Positions outside the block are ignored by sharded sets too, in whatever block a thread counts.
#include <array>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "processors.hpp"
#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Blocks;
using test::Form;
using test::Job;
using test::ShardedSet;

enum class Wide : std::uint64_t {};

constexpr std::uint32_t kWords = std::size(test::kJobCounters);
constexpr std::array<std::uint32_t, 13> kOutside{
    kWords, kWords + 1, 63,         4095,       4096,       65'535,    65'536,
    65'537, 65'540,     0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

struct Change {
  Job counter = Job::kDone;
  std::uint32_t outside = 0xffffffff;
  std::uint64_t value = 0;

  template <typename Target>
  void apply(Target& target) const {
    target.add(outside, value);
    if (counter == Job::kLongest) {
      target.raise(counter, value);
    } else if (counter == Job::kShortest) {
      target.lower(counter, value);
    } else {
      target.add(counter, value);
    }
    target.raise(outside, value);
    target.lower(outside, value);
  }
};

struct Case {
  Form form;
  std::uint32_t shards = 0;  // 1: all but one thread share
};

class ShardedPositions : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (GetParam().form.blocks == Blocks::kOfProcessors && !test::has_sequences()) GTEST_SKIP();
    set_.emplace(GetParam().form, GetParam().shards);
    instance_ = set_->create("it");
    instance_.raise(Job::kLongest, 5);
    instance_.lower(Job::kShortest, 1'000'000);
    model_ = {0, 0, 5, 1'000'000, 0};
    set_->look();
  }
  [[nodiscard]] bool is_block() const { return GetParam().form.consistency == Consistency::kBlock; }
  void note(const Change& change) {
    std::uint64_t& word = model_.at(static_cast<std::size_t>(change.counter));
    if (change.counter == Job::kLongest) {
      word = std::max(word, change.value);
    } else if (change.counter == Job::kShortest) {
      word = std::min(word, change.value);
    } else {
      word += change.value;
    }
  }
  void expect_model() {
    set_->collect();
    for (std::uint32_t word = 0; word < kWords; ++word) {
      ASSERT_EQ(set_->value(static_cast<Job>(word)), model_[word]) << word;
    }
    expect_equal_copies();
  }
  // A processor's block rests at either copy, and the shared one has no commits.
  void expect_equal_copies() const {
    const detail::Shards& shards = test::shards_of(instance_);
    if (shards.rseq != 0) return;
    for (std::uint32_t shard = 0; shard < shards.own; ++shard) {
      const BlockParts<SharedWord> block = shards.first[shard].writer.parts();
      for (std::uint32_t word = 0; word < block.words; ++word) {
        ASSERT_EQ(StdAtomics::load_acquire(block.copy0[word]),
                  StdAtomics::load_acquire(block.copy1[word]))
            << "shard " << shard << ", word " << word;
      }
    }
  }

  std::optional<ShardedSet> set_;
  ShardedInstance instance_;
  std::array<std::uint64_t, kWords> model_{};
};

TEST_P(ShardedPositions, OutsideTheBlockChangeNothingOfARandomHistory) {
  std::mt19937_64 random(20'261'123);
  const auto any_change = [&] {
    return Change{static_cast<Job>(random() % kWords), kOutside[random() % kOutside.size()],
                  random() % 2'000'000};
  };
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    std::vector<Change> changes(random() % 5);
    for (Change& change : changes) change = any_change();
    const auto one_by_one = [&] {
      for (const Change& change : changes) change.apply(instance_);
    };
    const bool is_update = random() % 2 == 0;
    const bool throws = is_update && random() % 2 == 0;
    // Whether independent counters keep what such an update changed depends on the thread's block.
    if (throws && !is_block()) changes.clear();
    const auto together = [&] {
      try {
        instance_.update([&](ShardValues& values) {
          for (const Change& change : changes) change.apply(values);
          values.add(kOutside[0], 1);
          if (throws) throw std::runtime_error("out of an update");
        });
      } catch (const std::runtime_error&) {
      }
    };
    const auto act = [&] { is_update ? together() : one_by_one(); };
    if (random() % 3 == 0) {
      std::thread(act).join();
    } else {
      act();
    }
    if (!throws) {
      for (const Change& change : changes) note(change);
    }
    expect_model();
    if (HasFatalFailure()) return;
  }
}

TEST_P(ShardedPositions, AreNotTruncatedFromSixtyFourBits) {
  instance_.add(Wide{0x1'0000'0000}, 7);
  instance_.raise(Wide{0x1'0000'0002}, 1'000);
  instance_.lower(Wide{0x1'0000'0003}, 1);
  instance_.update([](ShardValues& values) {
    values.add(Wide{0x1'0000'0000}, 7);
    values.raise(Wide{0x1'0000'0002}, 1'000);
    values.lower(std::int64_t{-1}, 1);
  });
  instance_.counter(Wide{0x1'0000'0000}).add(7);
  expect_model();
  instance_.add(Wide{0}, 7);
  note({.counter = Job::kDone, .value = 7});
  expect_model();
}

std::string name_of_case(const testing::TestParamInfo<Case>& made) {
  return test::name_of_form({made.param.form, 0}) + (made.param.shards == 1 ? "AndShared" : "");
}
INSTANTIATE_TEST_SUITE_P(Of, ShardedPositions,
                         testing::Values(Case{{Consistency::kBlock, Blocks::kOfThreads}},
                                         Case{{Consistency::kBlock, Blocks::kOfThreads}, 1},
                                         Case{{Consistency::kIndependent, Blocks::kOfThreads}},
                                         Case{{Consistency::kIndependent, Blocks::kOfThreads}, 1},
                                         Case{{Consistency::kBlock, Blocks::kOfProcessors}},
                                         Case{{Consistency::kIndependent, Blocks::kOfProcessors}}),
                         name_of_case);

}  // namespace
}  // namespace meterbank
