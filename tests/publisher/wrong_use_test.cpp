// SPDX-License-Identifier: Apache-2.0
//
// Arguments and handles that a caller should not have used: what they may not do to values.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

enum class Engine : std::uint32_t { kStarts, kSpeed, kBalance, kState, kTorque };

constexpr std::array kEngineCounters{
    CounterSpec{.id = 1, .name = "Starts/sec", .symbol = "starts"},
    CounterSpec{.id = 2,
                .name = "Speed",
                .symbol = "speed",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kReal,
                .timed = true},
    CounterSpec{.id = 3,
                .name = "Balance",
                .symbol = "balance",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
    CounterSpec{.id = 4,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 16},
    CounterSpec{.id = 5,
                .name = "Torque",
                .symbol = "torque",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 0, .least = 1, .most = 64}},
};
constexpr CountersetSpec kEngines{
    .name = "Engines", .symbol = "engines", .counters = kEngineCounters};
constexpr std::array kPlainCounters{
    CounterSpec{.id = 1, .name = "Done/sec", .symbol = "done"},
    CounterSpec{.id = 2, .name = "Lost/sec", .symbol = "lost"},
    CounterSpec{.id = 3, .name = "Late/sec", .symbol = "late"},
};
constexpr CountersetSpec kPlain{.name = "Plain", .symbol = "plain", .counters = kPlainCounters};

CountersetSpec independent() {
  CountersetSpec spec = kPlain;
  spec.consistency = Consistency::kIndependent;
  return spec;
}

class WrongUse : public testing::Test {
 protected:
  WrongUse()
      : provider_(*Provider::create({.name = "wrong",
                                     .directory = directory_.path(),
                                     .heartbeat = std::chrono::milliseconds(0),
                                     .quarantine = std::chrono::milliseconds(0)})) {}

  static BlockParts<SharedWord> block_of(const InstanceWriter& instance) {
    struct Open : InstanceWriter {
      static auto member() { return &Open::writer_; }
    };
    return (instance.*Open::member()).parts();
  }
  static void expect_equal_copies(const InstanceWriter& instance) {
    const BlockParts<SharedWord> block = block_of(instance);
    EXPECT_EQ(StdAtomics::load_acquire(*block.seq) % 2, 0U);
    for (std::uint32_t word = 0; word < block.words; ++word) {
      EXPECT_EQ(StdAtomics::load_acquire(block.copy0[word]),
                StdAtomics::load_acquire(block.copy1[word]))
          << word;
    }
  }
  // What a reader decodes.
  static Distribution torque_of(const Instance& instance) {
    const CounterPlace place = instance.recorder(Engine::kTorque).place();
    const BlockParts<SharedWord> block = block_of(instance);
    std::vector<std::uint64_t> words(block.words);
    StdAtomics::copy_words(words.data(), block.copy0, words.size());
    const auto seen = Distribution::of({place.shape, place.own, place.more}, words);
    EXPECT_TRUE(seen) << "the parts do not make up the count";
    return seen.value_or(Distribution());
  }

  test::TemporaryDirectory directory_;
  Provider provider_;
};

TEST_F(WrongUse, PositionsOutsideTheBlockLoseNothingThatHandlesWriteBesideThem) {
  for (const bool cuts : {false, true}) {
    CountersetSpec spec = kEngines;
    spec.cuts = cuts;
    const std::string name = cuts ? "Engines with cuts" : "Engines";
    spec.name = name;
    spec.symbol = cuts ? "engines_with_cuts" : "engines";
    Instance engine = *provider_.add(spec)->create_instance("one");
    Gauge speed = engine.gauge(Engine::kSpeed);
    Gauge balance = engine.gauge(Engine::kBalance);
    TextCounter state = engine.text(Engine::kState);
    Recorder torque = engine.recorder(Engine::kTorque);
    const BlockParts<SharedWord> block = block_of(engine);
    const auto word = [&](std::uint32_t at) { return StdAtomics::load_acquire(block.copy0[at]); };
    std::uint64_t recorded = 0;
    for (const std::uint32_t outside :
         {block.words, 4095U, 4096U, 65'535U, 65'536U, 65'537U, 0x7fffffffU, 0xffffffffU}) {
      for (const bool throws : {false, true}) {
        SCOPED_TRACE(testing::Message() << outside << (throws ? ", thrown" : ""));
        process_epoch.count.fetch_add(1, std::memory_order_seq_cst);
        const std::uint64_t starts = engine.value(Engine::kStarts);
        const double before = speed.value();
        const auto change = [&](Values& values) {
          values.set(outside, 1);
          values.add(Engine::kStarts, 1);
          values.set(speed, before + 1);
          values.set_signed(balance, -5);
          values.set(state, "running");
          values.record(torque, 10);
          values.add(outside, 1);
          if (throws) throw std::runtime_error("out of an update");
        };
        if (throws) {
          EXPECT_THROW(engine.update(change), std::runtime_error);
        } else {
          engine.update(change);
          ++recorded;
        }
        expect_equal_copies(engine);
        EXPECT_EQ(engine.value(Engine::kStarts), starts + (throws ? 0 : 1));
        EXPECT_EQ(speed.value(), before + (throws ? 0 : 1));
        EXPECT_EQ(balance.value(), -5);
        EXPECT_EQ(word(state.place().own), 7U);
        EXPECT_EQ(word(state.place().more), 0x00676e696e6e7572U) << "running";
        EXPECT_EQ(torque_of(engine).count, recorded);
        torque.record(20);
        ++recorded;
        speed.set(speed.value());
        expect_equal_copies(engine);
      }
    }
  }
}

TEST_F(WrongUse, AnUpdateInsideAnUpdateLeavesBothCopiesEqual) {
  Instance it = *provider_.add(kPlain)->create_instance("it");
  for (const bool inner_throws : {false, true}) {
    for (const bool outer_throws : {false, true}) {
      const auto throw_if = [](bool throws) {
        if (throws) throw std::runtime_error("out of an update");
      };
      try {
        it.update([&](Values& values) {
          values.add(0, 10);
          try {
            it.update([&](Values& inner) {
              inner.add(1, 1);
              inner.add(0, 1);
              throw_if(inner_throws);
            });
          } catch (const std::runtime_error&) {
          }
          it.add(2, 1);
          values.set(0xffffffff, 1);
          values.add(2, 5);
          throw_if(outer_throws);
        });
      } catch (const std::runtime_error&) {
      }
      expect_equal_copies(it);
    }
  }
}

TEST_F(WrongUse, AnInstanceThatIsMovedInsideItsUpdateKeepsTheUpdate) {
  for (const CountersetSpec& spec : {kPlain, independent()}) {
    const Registration set = *provider_.add(spec);
    Instance before = *set.create_instance("it");
    const std::uint64_t seq = StdAtomics::load_acquire(*block_of(before).seq);
    Instance after;
    before.update([&](Values& values) {
      values.set(0, 1);
      after = std::move(before);
      values.set(2, 3);
    });
    EXPECT_EQ(after.value(0), 1U);
    EXPECT_EQ(after.value(2), 3U);
    expect_equal_copies(after);
    const bool is_block = spec.consistency == Consistency::kBlock;
    EXPECT_EQ(StdAtomics::load_acquire(*block_of(after).seq), seq + (is_block ? 2 : 0));
    before.set(0, 9);
    EXPECT_EQ(after.value(0), 1U);
    provider_ = *Provider::create({.name = "again", .directory = directory_.path()});
  }
}

// As long as a handle can write to a slot, no other instance gets it.
TEST_F(WrongUse, AHandleThatWasMovedFromReachesNoOtherInstance) {
  const Registration set = *provider_.add(kEngines);
  std::optional<Counter> counter;
  std::optional<Gauge> gauge;
  std::optional<Recorder> recorder;
  std::optional<TextCounter> text;
  {
    Instance first = *set.create_instance("first");
    counter = first.counter(Engine::kStarts);
    gauge = first.gauge(Engine::kSpeed);
    recorder = first.recorder(Engine::kTorque);
    text = first.text(Engine::kState);
    const Counter c = std::move(*counter);
    const Gauge g = std::move(*gauge);
    const Recorder r = std::move(*recorder);
    const TextCounter t = std::move(*text);
  }
  for (int round = 0; round < 200; ++round) {
    Instance next = *set.create_instance("next");
    counter->add(1);
    gauge->set(1);
    recorder->record(2);
    text->set("old");
    ASSERT_EQ(next.value(Engine::kStarts), 0U);
    ASSERT_EQ(next.value(Engine::kSpeed), 0U);
    ASSERT_EQ(next.value(Engine::kTorque), 0U);
    ASSERT_EQ(next.value(Engine::kState), 0U);
  }
}

TEST_F(WrongUse, HandlesOfAClosedInstanceOrProviderCountIntoNothing) {
  std::optional<Registration> set = *provider_.add(kEngines);
  Instance it = *set->create_instance("it");
  Counter counter = it.counter(Engine::kStarts);
  Gauge gauge = it.gauge(Engine::kSpeed);
  Recorder recorder = it.recorder(Engine::kTorque);
  TextCounter text = it.text(Engine::kState);
  InstanceWriter writer = *set->find("it");
  const auto use_all = [&] {
    counter.add(1);
    gauge.set(2);
    recorder.record(3);
    text.set("late");
    writer.update([&](Values& values) {
      values.add(Engine::kStarts, 1);
      values.set(gauge, 3);
      values.record(recorder, 4);
      values.set(text, "later");
    });
  };
  it.close();
  use_all();
  set.reset();
  use_all();
  provider_ = *Provider::create({.name = "other", .directory = directory_.path()});
  use_all();
  EXPECT_EQ(counter.value(), 6U);
}

// Nothing but a commit may change a word of a block: the other copy would keep the old value.
TEST_F(WrongUse, AnAdditionFromAnyThreadChangesNoBlockSet) {
  Instance it = *provider_.add(kPlain)->create_instance("it");
  it.set(0, 4);
  it.counter(0).add_from_any_thread(1);
  expect_equal_copies(it);
  it.update([](Values& values) { values.add(0, 1); });
  EXPECT_EQ(it.value(0), 5U);
}

TEST_F(WrongUse, AHandleOfAWiderSetChangesNothingBeyondTheBlock) {
  Instance engine = *provider_.add(kEngines)->create_instance("one");
  Instance it = *provider_.add(kPlain)->create_instance("it");
  const TextCounter state = engine.text(Engine::kState);
  const Recorder torque = engine.recorder(Engine::kTorque);
  it.update([&](Values& values) {
    values.set(0, 1);
    values.set(state, "running");
    values.record(torque, 2);
    values.set(2, 3);
  });
  EXPECT_EQ(it.value(0), 1U);
  EXPECT_EQ(it.value(2), 3U);
  expect_equal_copies(it);
}

TEST(GaugeValues, BeyondTheRangeOfAFormAreHeldAtItsEndsAndNotANumberIsZero) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  using enum ValueForm;
  const auto as_signed = [](double value) {
    return static_cast<std::int64_t>(detail::bits_of(kSigned, value));
  };
  EXPECT_EQ(detail::bits_of(kUnsigned, kNaN), 0U);
  EXPECT_EQ(detail::bits_of(kUnsigned, -1), 0U);
  EXPECT_EQ(detail::bits_of(kUnsigned, -kInfinity), 0U);
  EXPECT_EQ(detail::bits_of(kUnsigned, kInfinity), UINT64_MAX);
  EXPECT_EQ(detail::bits_of(kUnsigned, 0x1p64), UINT64_MAX);
  EXPECT_EQ(as_signed(kNaN), 0);
  EXPECT_EQ(as_signed(kInfinity), INT64_MAX);
  EXPECT_EQ(as_signed(0x1p63), INT64_MAX);
  EXPECT_EQ(as_signed(-0x1p63), INT64_MIN);
  EXPECT_EQ(as_signed(-kInfinity), INT64_MIN);
  EXPECT_EQ(detail::bits_of(kReal, -kInfinity), std::bit_cast<std::uint64_t>(-kInfinity));
}

TEST(TextValues, AreCutBetweenCharactersOrAtTheLimitIfNotUtf8) {
  const std::string euro = "\xe2\x82\xac";
  EXPECT_EQ(detail::cut_text("ab" + euro + euro, 8), "ab" + euro + euro);
  EXPECT_EQ(detail::cut_text("abc" + euro + euro, 8), "abc" + euro);
  EXPECT_EQ(detail::cut_text("abcd" + euro + euro, 8), "abcd" + euro);
  EXPECT_EQ(detail::cut_text(std::string("a\0b\0cdefgh", 10), 8), std::string("a\0b\0cdef", 8));
  EXPECT_EQ(detail::cut_text(std::string(300, '\x80'), 256).size(), 256U) << "no characters";
  EXPECT_EQ(detail::cut_text("abcdef\xf0\x9f\x98\x80", 8), "abcdef");
  EXPECT_EQ(detail::cut_text("", 8), "");
  EXPECT_EQ(detail::cut_text("abc", 0), "");
}

}  // namespace
}  // namespace meterbank
