// SPDX-License-Identifier: Apache-2.0
//
// Positions outside the block are ignored: in every form, by every operation, however it ends.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../process/numbered_set.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/shm/block.hpp"

namespace meterbank {
namespace {

using Words = std::vector<std::uint64_t>;

enum class Narrow : std::int8_t {};
enum class Signed : std::int32_t {};
enum class Wide : std::uint64_t {};
enum class WideSigned : std::int64_t {};

struct SetForm {
  std::string name;
  std::uint32_t words = 1;
  Consistency consistency = Consistency::kBlock;
  bool many = false;
  bool checkpoint = true;
  bool stamped = false;
  bool cuts = false;
};

// The block of an instance, as its memory holds it.
class BlockEye {
  struct Open : InstanceWriter {
    static auto member() { return &Open::writer_; }
  };

 public:
  explicit BlockEye(const InstanceWriter& instance) : parts_((instance.*Open::member()).parts()) {}

  [[nodiscard]] Words copy0() const { return words_of(parts_.copy0); }
  [[nodiscard]] Words copy1() const { return words_of(parts_.copy1); }
  // As a reader takes it.
  [[nodiscard]] Words read() const {
    const BlockParts<const SharedWord> block{
        .seq = parts_.seq, .copy0 = parts_.copy0, .copy1 = parts_.copy1, .words = parts_.words};
    Words words(parts_.words);
    std::uint64_t version = 0;
    EXPECT_TRUE(try_read<StdAtomics>(block, words.data(), version));
    return words;
  }
  // As a reader of a cut takes it.
  [[nodiscard]] Words read_at(std::uint64_t epoch) const {
    const BlockParts<const SharedWord> block{
        .seq = parts_.seq,
        .copy0 = parts_.copy0,
        .copy1 = parts_.copy1,
        .words = parts_.words,
        .cut = parts_.checkpoint + checkpoint_words(parts_.words)};
    Words words(parts_.words);
    std::uint64_t version = 0;
    const CutStatus status = read_at_epoch<StdAtomics>(block, epoch, words.data(), version);
    EXPECT_TRUE(status == CutStatus::kCurrent || status == CutStatus::kSaved);
    return words;
  }
  [[nodiscard]] std::uint64_t seq() const { return StdAtomics::load_acquire(*parts_.seq); }

 private:
  [[nodiscard]] Words words_of(const SharedWord* copy) const {
    Words words(parts_.words);
    for (std::size_t word = 0; word < words.size(); ++word) {
      words[word] = StdAtomics::load_acquire(copy[word]);
    }
    return words;
  }

  BlockParts<SharedWord> parts_;
};

// What the block has to hold.
class Model {
 public:
  explicit Model(std::uint32_t words) : words_(words) {}
  void set(std::uint64_t position, std::uint64_t value) {
    if (position < words_.size()) words_[position] = value;
  }
  void add(std::uint64_t position, std::uint64_t delta) { set(position, value(position) + delta); }
  [[nodiscard]] std::uint64_t value(std::uint64_t position) const {
    return position < words_.size() ? words_[position] : 0;
  }
  [[nodiscard]] const Words& words() const { return words_; }

 private:
  Words words_;
};

enum class Ending : std::uint8_t { kCommit, kCaughtInside, kException, kThrownAgain };
constexpr std::array kEndings{Ending::kCommit, Ending::kCaughtInside, Ending::kException,
                              Ending::kThrownAgain};
[[nodiscard]] constexpr bool is_aborted(Ending ending) {
  return ending == Ending::kException || ending == Ending::kThrownAgain;
}

void end_as(Ending ending) {
  if (ending == Ending::kCommit) return;
  if (ending == Ending::kException) throw std::runtime_error("out of an update");
  try {
    throw std::runtime_error("inside an update");
  } catch (const std::runtime_error&) {
    if (ending == Ending::kThrownAgain) throw;
  }
}

struct Step {
  bool is_set = false;
  std::uint64_t position = 0;
  std::uint64_t value = 0;
};

class Positions : public testing::TestWithParam<SetForm> {
 protected:
  Positions()
      : set_(GetParam().words),
        provider_(*Provider::create({.name = "positions",
                                     .directory = directory_.path(),
                                     .heartbeat = std::chrono::milliseconds(0)})),
        registration_(*provider_.add(spec())),
        instance_(*registration_.create_instance("it")),
        eye_(instance_),
        model_(static_cast<std::uint32_t>(eye_.copy0().size())) {
    const std::uint64_t words = eye_.copy0().size();
    positions_ = {0,        words / 2,  words - 1,  words,      words + 1,
                  4095,     4096,       65'535,     65'536,     65'537,
                  0x1'0001, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  }

  [[nodiscard]] CountersetSpec spec() const {
    CountersetSpec spec = set_.spec();
    spec.consistency = GetParam().consistency;
    spec.many = GetParam().many;
    spec.checkpoint = GetParam().checkpoint;
    spec.stamped = GetParam().stamped;
    spec.cuts = GetParam().cuts;
    return spec;
  }
  [[nodiscard]] std::uint32_t any_position() {
    if (random_() % 3 == 0) return static_cast<std::uint32_t>(random_() % eye_.copy0().size());
    if (random_() % 8 == 0) return static_cast<std::uint32_t>(random_());
    return static_cast<std::uint32_t>(positions_[random_() % positions_.size()]);
  }
  [[nodiscard]] std::vector<Step> any_steps() {
    std::vector<Step> steps(random_() % 6);
    for (Step& step : steps) step = {random_() % 2 == 0, any_position(), random_()};
    return steps;
  }

  void update(const std::vector<Step>& steps, Ending ending) {
    Model inside = model_;
    const auto change = [&](Values& values) {
      for (const Step& step : steps) {
        const auto position = static_cast<std::uint32_t>(step.position);
        if (step.is_set) {
          values.set(position, step.value);
          inside.set(position, step.value);
        } else {
          values.add(position, step.value);
          inside.add(position, step.value);
        }
        ASSERT_EQ(values.value(position), inside.value(position)) << position;
      }
      end_as(ending);
    };
    if (is_aborted(ending)) {
      EXPECT_THROW(instance_.update(change), std::runtime_error);
    } else {
      instance_.update(change);
    }
    // Independent counters change when they are written; nothing takes that back.
    if (!is_aborted(ending) || GetParam().consistency == Consistency::kIndependent) model_ = inside;
  }
  void expect_model() const {
    ASSERT_EQ(eye_.copy0(), model_.words());
    ASSERT_EQ(eye_.copy1(), model_.words());
    ASSERT_EQ(eye_.read(), model_.words());
    ASSERT_EQ(eye_.seq() % 2, 0U);
  }
  void next_epoch() { process_epoch.count.fetch_add(1, std::memory_order_seq_cst); }

  test::NumberedSet set_;
  test::TemporaryDirectory directory_;
  Provider provider_;
  Registration registration_;
  Instance instance_;
  BlockEye eye_;
  Model model_;
  std::vector<std::uint64_t> positions_;
  std::mt19937_64 random_{20'261'123};
};

TEST_P(Positions, OutsideTheBlockAreIgnoredByEachOperation) {
  for (const std::uint64_t position : positions_) {
    SCOPED_TRACE(position);
    const auto counter = static_cast<std::uint32_t>(position);
    instance_.set(counter, position + 1);
    model_.set(position, position + 1);
    expect_model();
    instance_.add(counter, 7);
    model_.add(position, 7);
    expect_model();
    EXPECT_EQ(instance_.value(counter), model_.value(position));
    Counter handle = instance_.counter(counter);
    handle.add(5);
    model_.add(position, 5);
    expect_model();
    handle.set(position + 9);
    model_.set(position, position + 9);
    expect_model();
  }
}

// A good word first and last, a position anywhere in between: each pair of positions, each ending.
TEST_P(Positions, OutsideTheBlockLoseNothingOfTheSameUpdate) {
  std::uint64_t value = 0;
  for (const Ending ending : kEndings) {
    for (const std::uint64_t first : positions_) {
      for (const std::uint64_t second : positions_) {
        SCOPED_TRACE(testing::Message()
                     << first << " and " << second << ", ending " << static_cast<int>(ending));
        if (++value % 3 == 0) next_epoch();
        update({{true, first, ++value}, {true, 0, ++value}, {false, second, ++value}}, ending);
        expect_model();
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Positions, OutsideTheBlockChangeNothingOfARandomHistory) {
  const int steps = GetParam().words > 1'000 ? 300 : 5'000;
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    if (random_() % 5 == 0) next_epoch();
    const std::uint32_t position = any_position();
    const std::uint64_t value = random_();
    switch (random_() % 4) {
      case 0:
        instance_.set(position, value);
        model_.set(position, value);
        break;
      case 1:
        instance_.add(position, value);
        model_.add(position, value);
        break;
      default:
        update(any_steps(), kEndings[random_() % kEndings.size()]);
    }
    expect_model();
    if (HasFatalFailure()) return;
  }
}

TEST_P(Positions, FromEnumsOfAnyWidthAreNotTruncated) {
  const auto reject_all = [](auto& target) {
    target.set(Wide{0x1'0000'0000}, 91);
    target.add(Wide{0x1'0000'0000}, 92);
    target.set(Wide{0xffff'ffff'0000'0000}, 93);
    target.set(WideSigned{-1}, 94);
    target.set(WideSigned{INT64_MIN}, 95);
    target.set(Signed{-1}, 96);
    target.set(Signed{INT32_MIN}, 97);
    target.set(Narrow{-1}, 98);
    target.add(std::size_t{1} << 40, 99);
    EXPECT_EQ(target.value(Wide{0x1'0000'0000}), 0U);
    EXPECT_EQ(target.value(WideSigned{-1}), 0U);
  };
  instance_.set(0, 1);
  model_.set(0, 1);
  reject_all(instance_);
  expect_model();
  instance_.update([&](Values& values) { reject_all(values); });
  expect_model();
  instance_.counter(Wide{0x1'0000'0000}).add(1);
  instance_.gauge(Wide{0x1'0000'0000}).set(1.0);
  expect_model();
  instance_.set(Wide{0}, 2);
  instance_.add(WideSigned{0}, 3);
  instance_.add(Narrow{0}, 4);
  model_.set(0, 9);
  expect_model();
}

TEST_P(Positions, OutsideTheBlockChangeNoStateOfAnEarlierEpoch) {
  if (!GetParam().cuts) GTEST_SKIP() << "a set without cuts";
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Words before = model_.words();
    next_epoch();
    const std::uint64_t epoch = process_epoch.count.load(std::memory_order_seq_cst);
    EXPECT_EQ(eye_.read_at(epoch), before) << "no commit has seen the epoch";
    for (int step = 0; step < 3; ++step) {
      update(any_steps(), kEndings[random_() % kEndings.size()]);
      expect_model();
      EXPECT_EQ(eye_.read_at(epoch), before) << "after update " << step;
    }
  }
}

TEST_P(Positions, AnUpdateOfNothingButPositionsOutsideTheBlockIsNoCommit) {
  const std::uint64_t seq = eye_.seq();
  instance_.update([](Values&) {});
  update({{true, eye_.copy0().size(), 1}, {true, 4096, 1}, {true, 0xffffffff, 1}}, Ending::kCommit);
  EXPECT_EQ(eye_.seq(), seq);
  expect_model();
}

constexpr Consistency kIndependent = Consistency::kIndependent;
INSTANTIATE_TEST_SUITE_P(
    Of, Positions,
    testing::Values(
        SetForm{.name = "OneWord", .words = 1},
        SetForm{.name = "SecondCopyInTheSameLine", .words = 3}, SetForm{.name = "Line", .words = 8},
        SetForm{.name = "LineWithoutCheckpoint", .words = 6, .checkpoint = false},
        SetForm{.name = "WideLine", .words = 100}, SetForm{.name = "WidestLine", .words = 4096},
        SetForm{.name = "Tile", .words = 5, .many = true},
        SetForm{.name = "TileWithCuts", .words = 5, .many = true, .cuts = true},
        SetForm{.name = "Cuts", .words = 3, .cuts = true},
        SetForm{.name = "WideCuts", .words = 70, .cuts = true},
        SetForm{.name = "Stamped", .words = 4, .stamped = true},
        SetForm{.name = "StampedCuts", .words = 4, .stamped = true, .cuts = true},
        SetForm{.name = "Independent", .words = 3, .consistency = kIndependent},
        SetForm{.name = "WideIndependent", .words = 33, .consistency = kIndependent},
        SetForm{.name = "IndependentTile", .words = 5, .consistency = kIndependent, .many = true}),
    [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace meterbank
