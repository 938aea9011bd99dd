// SPDX-License-Identifier: Apache-2.0
//
// Death inside a commit of a distribution, a text or a timed value: see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "../../support/depth.hpp"
#include "../../support/recorded_pattern.hpp"
#include "../../support/temporary_directory.hpp"
#include "../numbered_set.hpp"
#include "crash_sweep.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

using test::RecordedPattern;
using test::SegmentEye;
using test::Tally;

// ---- Distributions ----

enum class Call : std::uint32_t { kLatency, kServed };
constexpr std::array kCallCounters{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .form = ValueForm::kDistribution,
                .buckets = RecordedPattern::kBuckets},
    CounterSpec{.id = 2, .name = "Served/sec", .symbol = "served"},
};

// How a value is recorded.
enum class Recording : std::uint8_t {
  kAlone,
  kWithAnother,  // in an update that counts it in another counter too
  kWordByWord    // the control
};

struct RecordingShape {
  Recording recording = Recording::kAlone;
  std::uint64_t before = 0;   // values at full speed
  std::uint64_t values = 10;  // values step by step
};

class RecordAct final : public test::JudgedAct {
 public:
  RecordAct(std::string directory, RecordingShape shape)
      : directory_(std::move(directory)), shape_(shape) {}

  void prepare() override {
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
    instance_ = *provider_->add({.name = "Calls", .symbol = "calls", .counters = kCallCounters})
                     ->create_instance("it");
    recorder_ = instance_.recorder(Call::kLatency);
    while (done_ < shape_.before) record();
  }
  void perform() override {
    for (std::uint64_t value = 0; value < shape_.values; ++value) record();
  }
  void forget() override { last_ = shape_.before; }
  void bind(SegmentEye& eye) override {
    block_ = test::only_block(eye);
    ASSERT_NE(block_.checkpoint, nullptr);
  }
  void look(SegmentEye&, Tally& tally) override {
    std::array<std::uint64_t, 64> words{};
    std::uint64_t version = 0;
    if (!try_read<StdAtomics>(block_, words.data(), version)) {
      return tally.note(tally.unreadable, "block");
    }
    const auto recorded = judge(words, tally, "block");
    if (recorded < last_) tally.note(tally.backwards, "recorded");
    last_ = recorded;
    if (!try_read_checkpoint<StdAtomics>(block_, words.data(), version)) {
      return tally.note(tally.unreadable, "checkpoint");
    }
    if (judge(words, tally, "checkpoint") > last_) tally.note(tally.malformed, "checkpoint");
  }
  bool is_complete() const override { return last_ == shape_.before + shape_.values; }

 private:
  // The number of values that these words are of.
  [[nodiscard]] std::uint64_t judge(const std::array<std::uint64_t, 64>& words, Tally& tally,
                                    const std::string& what) const {
    const auto recorded =
        RecordedPattern::recorded(place_, {words.data(), std::size_t{block_.words}});
    if (!recorded) {
      tally.note(tally.torn, what);
      return last_;
    }
    const std::uint64_t served = words[static_cast<std::size_t>(Call::kServed)];
    if (shape_.recording == Recording::kWithAnother && served != *recorded) {
      tally.note(tally.torn, what + " and its other counter");
    }
    return *recorded;
  }
  void record() {
    const double value = RecordedPattern::value(done_++);
    if (shape_.recording == Recording::kAlone) return recorder_.record(value);
    if (shape_.recording == Recording::kWordByWord) {
      const DistributionPlace place = recorder_.distribution();
      const auto changes =
          changes_of(place, value, [this](std::uint32_t word) { return instance_.value(word); });
      for (std::size_t i = 0; i < changes.count; ++i) {
        instance_.set(changes.entries[i].word, changes.entries[i].value);
      }
      return;
    }
    instance_.update([&](Values& values) noexcept {
      values.add(Call::kServed, 1);
      values.record(recorder_, value);
    });
  }

  std::string directory_;
  RecordingShape shape_;
  // In the child.
  std::optional<Provider> provider_;
  Instance instance_;
  Recorder recorder_;
  std::uint64_t done_ = 0;
  // In this process.
  static constexpr DistributionPlace kPlace{
      *DistributionShape::of(RecordedPattern::kBuckets.scale, RecordedPattern::kBuckets.least,
                             RecordedPattern::kBuckets.most, 16),
      static_cast<std::uint32_t>(Call::kLatency), kCallCounters.size()};
  DistributionPlace place_ = kPlace;
  BlockParts<const SharedWord> block_;
  std::uint64_t last_ = 0;
};

TEST(CrashSweep, ADistributionHasAValueWhollyOrNotAtAllWhereverItsRecordingDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  for (RecordingShape shape : {RecordingShape{.recording = Recording::kAlone, .values = 16},
                               {.recording = Recording::kAlone, .before = 1020, .values = 8},
                               {.recording = Recording::kWithAnother, .values = 16},
                               {.recording = Recording::kWithAnother, .before = 2044}}) {
    const test::TemporaryDirectory directory;
    if (test::runs_long()) shape.values *= 10;
    RecordAct act(directory.path(), shape);
    test::sweep(directory.path(), act, test::runs_long() ? 8 : 4, tally);
  }
  test::expect_clean(tally, 3'000, 30'000);
}

// ---- Texts and timed values ----

enum class Stage : std::uint32_t { kState, kTemperature, kTurn };
constexpr std::uint32_t kTextBytes = 24;
constexpr std::array kStageCounters{
    CounterSpec{.id = 1,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = kTextBytes},
    CounterSpec{.id = 2,
                .name = "Temperature",
                .symbol = "temperature",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kReal,
                .timed = true},
    CounterSpec{.id = 3, .name = "Turn", .symbol = "turn", .type = CounterType::kLargeRawCount},
};

// Of all lengths up to the longest, so that a text of one number and the length of another show.
std::string text_of(std::uint64_t turn) {
  return turn == 0 ? std::string()
                   : std::string(turn * 7 % (kTextBytes + 1), static_cast<char>('a' + turn % 26));
}
double temperature_of(std::uint64_t turn) { return -0.25 * static_cast<double>(turn); }

// Each turn sets the text, the value, or all with their number in one update.
class SetAct final : public test::JudgedAct {
 public:
  enum class Which : std::uint8_t { kText, kGauge, kAll };
  SetAct(std::string directory, Which which, std::uint64_t turns)
      : directory_(std::move(directory)), which_(which), turns_(turns) {}

  void prepare() override {
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
    instance_ = *provider_->add({.name = "Stages", .symbol = "stages", .counters = kStageCounters})
                     ->create_instance("it");
    state_ = instance_.text(Stage::kState);
    temperature_ = instance_.gauge(Stage::kTemperature);
  }
  void perform() override {
    for (std::uint64_t turn = 1; turn <= turns_; ++turn) {
      const std::string text = text_of(turn);
      if (which_ == Which::kText) {
        state_.set(text);
      } else if (which_ == Which::kGauge) {
        temperature_.set(temperature_of(turn));
      } else {
        instance_.update([&](Values& values) noexcept {
          values.set(Stage::kTurn, turn);
          values.set(state_, text);
          values.set(temperature_, temperature_of(turn));
        });
      }
    }
  }
  void forget() override {
    turn_ = 0;
    text_ns_ = value_ns_ = 0;
  }
  void bind(SegmentEye& eye) override {
    block_ = test::only_block(eye);
    ASSERT_EQ(block_.words, kWords);
  }
  void look(SegmentEye&, Tally& tally) override {
    std::array<std::uint64_t, kWords> words{};
    std::uint64_t version = 0;
    if (!try_read<StdAtomics>(block_, words.data(), version)) {
      return tally.note(tally.unreadable, "block");
    }
    std::uint64_t turn = turn_;
    while (turn <= turns_ && !fits(words, turn)) ++turn;
    if (turn > turns_) return tally.note(tally.torn, "of no turn, or of one before");
    turn_ = turn;
    judge_time(words[kTextTime], which_ != Which::kGauge, text_ns_, tally);
    judge_time(words[kValueTime], which_ != Which::kText, value_ns_, tally);
  }
  bool is_complete() const override { return turn_ == turns_; }

 private:
  // Behind the three counters: the text, its time, the time of the value.
  static constexpr std::uint32_t kText = 3;
  static constexpr std::uint32_t kTextTime = kText + kTextBytes / 8;
  static constexpr std::uint32_t kValueTime = kTextTime + 1;
  static constexpr std::uint32_t kWords = kValueTime + 1;

  bool fits(const std::array<std::uint64_t, kWords>& words, std::uint64_t turn) const {
    const std::string text = which_ == Which::kGauge ? std::string() : text_of(turn);
    if (words[0] != text.size()) return false;
    if (std::memcmp(words.data() + kText, text.data(), text.size()) != 0) return false;
    const double value = which_ == Which::kText ? 0 : temperature_of(turn);
    return std::bit_cast<double>(words[1]) == value &&
           words[2] == (which_ == Which::kAll ? turn : 0);
  }
  // Known since the first turn, with it, and never back.
  void judge_time(std::uint64_t now, bool is_set, std::uint64_t& last, Tally& tally) const {
    if ((now != 0) != (is_set && turn_ != 0)) tally.note(tally.torn, "value without its time");
    if (now < last) tally.note(tally.backwards, "time");
    last = now;
  }

  std::string directory_;
  Which which_;
  std::uint64_t turns_;
  // In the child.
  std::optional<Provider> provider_;
  Instance instance_;
  TextCounter state_;
  Gauge temperature_;
  // In this process.
  BlockParts<const SharedWord> block_;
  std::uint64_t turn_ = 0;
  std::uint64_t text_ns_ = 0, value_ns_ = 0;
};

TEST(CrashSweep, ATextOrAValueIsTheOldOrTheNewOneWithItsTimeWhereverItsChangeDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  for (const auto which : {SetAct::Which::kText, SetAct::Which::kGauge, SetAct::Which::kAll}) {
    const test::TemporaryDirectory directory;
    SetAct act(directory.path(), which, test::runs_long() ? 60 : 10);
    test::sweep(directory.path(), act, test::runs_long() ? 8 : 4, tally);
  }
  test::expect_clean(tally, 3'000, 30'000);
}

// ---- Control: the same judgement of an operation with a known fault must find it ----

TEST(CrashSweepControl, ADistributionThatIsChangedWordByWordIsFoundTorn) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  RecordAct act(directory.path(), {.recording = Recording::kWordByWord, .values = 10});
  act.forget();
  Tally tally;
  test::step_through(directory.path(), act, tally, [&](SegmentEye& eye) {
    act.bind(eye);
    act.look(eye, tally);
  });
  EXPECT_GT(tally.torn, 0U);
  EXPECT_EQ(tally.unreadable, 0U);
}

}  // namespace
}  // namespace meterbank
