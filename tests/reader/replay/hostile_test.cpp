// SPDX-License-Identifier: Apache-2.0
//
// What a damaged or forged recording may tell a Replay.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hand_made.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank {
namespace {

using test::provider_called;
using test::registered;
using test::two_counters;

constexpr Timestamp kAnyTime{};

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode{} : result.error().code;
}

class HostileReplay : public testing::Test {
 protected:
  [[nodiscard]] Result<ReplayRowId> begin(ReplayedInstance instance) {
    return replay_.begin_instance(set_, instance);
  }

  Replay replay_;
  ReplayProviderId provider_ = replay_.add_provider(provider_called("shop")).value();
  ReplaySetId set_ = replay_.add_set(provider_, registered(two_counters())).value();
};

TEST_F(HostileReplay, RefusesASlotThatIsTaken) {
  const auto row = begin({.slot = 4, .name = "a"});
  ASSERT_TRUE(row);
  EXPECT_EQ(code_of(begin({.slot = 4, .name = "b"})), ErrorCode::kExists);
  replay_.show(kAnyTime);
  EXPECT_EQ(code_of(begin({.slot = 4, .name = "b", .generation = 9})), ErrorCode::kExists);
  replay_.end_instance(set_, *row);
  const auto next = begin({.slot = 4, .name = "b"});
  EXPECT_TRUE(next);
  EXPECT_EQ(code_of(begin({.slot = 4, .name = "c"})), ErrorCode::kExists);
  replay_.end_instance(set_, *next);
  EXPECT_TRUE(begin({.slot = 4, .name = "c"}));
  replay_.show(kAnyTime);
  ASSERT_EQ(replay_.catalog().providers()[0]->sets[0].instances.size(), 1U);
  EXPECT_EQ(replay_.catalog().providers()[0]->sets[0].instances[0].name, "c");
}

TEST_F(HostileReplay, RefusesWhatNoReaderHas) {
  const std::string long_name(1024, 'x');
  EXPECT_EQ(code_of(begin({.slot = InstanceView::kSlotMask + 1})), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(begin({.slot = 0, .name = long_name})), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(begin({.slot = 0, .name = "\xff"})), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(begin({.slot = 0, .generation = std::uint64_t{1} << 62})), ErrorCode::kCorrupt);
  EXPECT_EQ(replay_.bytes(), 0U) << "what is refused takes nothing";
  EXPECT_TRUE(begin({.slot = InstanceView::kSlotMask,
                     .name = std::string_view(long_name).substr(1),
                     .id = 0xffffffff,
                     .generation = (std::uint64_t{1} << 62) - 1}));
}

TEST_F(HostileReplay, MemoryFollowsTheRowsAndNotTheirSlots) {
  constexpr std::uint32_t kRows = 1000;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    ASSERT_TRUE(begin({.slot = row * 2'000'003, .name = "x"}));
  }
  replay_.show(kAnyTime);
  EXPECT_LE(replay_.bytes(), 2 * kRows * 128);
  Query query = *Query::compile(replay_.catalog(), {});
  Sample sample;
  query.collect(sample, kAnyTime);
  EXPECT_EQ(sample.statuses().size(), kRows);
}

TEST_F(HostileReplay, KeepsToTheMemoryThatTheOptionsAllow) {
  for (const bool of_user : {false, true}) {
    CatalogOptions options;
    (of_user ? options.user_bytes_max : options.segment_bytes_max) = 64 * 1024;
    Replay replay(options);
    const auto provider = replay.add_provider(provider_called("shop")).value();
    const auto set = replay.add_set(provider, registered(two_counters())).value();
    std::uint32_t rows = 0;
    const auto add = [&] { return replay.begin_instance(set, {.slot = rows, .name = "x"}); };
    while (add()) ++rows;
    EXPECT_EQ(code_of(add()), ErrorCode::kLimit);
    EXPECT_GT(rows, 100U);
    EXPECT_LE(replay.bytes(), 64U * 1024);
    replay.remove_set(set);
    EXPECT_EQ(replay.bytes(), 0U);
  }
}

TEST_F(HostileReplay, RefusesMoreRegistrationsThanAProviderCanHave) {
  std::vector<ReplaySetId> sets{set_};
  for (Ref registration = 2; registration <= kRegistrationsMax; ++registration) {
    sets.push_back(replay_.add_set(provider_, registered(two_counters(), registration)).value());
  }
  const auto add = [this](Ref registration) {
    return replay_.add_set(provider_, registered(two_counters(), registration));
  };
  EXPECT_EQ(code_of(add(1)), ErrorCode::kExists);
  EXPECT_EQ(code_of(add(kRegistrationsMax + 1)), ErrorCode::kLimit);
  // Those that it had before count as well, as in its segment.
  replay_.remove_set(sets.back());
  EXPECT_EQ(code_of(add(kRegistrationsMax + 1)), ErrorCode::kLimit);
  EXPECT_TRUE(add(kRegistrationsMax));
}

TEST_F(HostileReplay, RefusesProvidersThatContradictEachOther) {
  EXPECT_EQ(code_of(replay_.add_provider(provider_called("other"))), ErrorCode::kExists);
  auto facts = provider_called("other", 1);
  facts.segment_id[1] = 1;
  EXPECT_EQ(code_of(replay_.add_provider(facts)), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(replay_.add_provider(provider_called("", 1))), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(replay_.add_provider(provider_called(std::string(64, 'x'), 1))),
            ErrorCode::kCorrupt);
  facts = provider_called("other", 1);
  facts.state = static_cast<ProviderState>(99);
  EXPECT_EQ(code_of(replay_.add_provider(facts)), ErrorCode::kCorrupt);
  auto set = registered(two_counters(), 2);
  set.state = static_cast<RegistrationState>(99);
  EXPECT_EQ(code_of(replay_.add_set(provider_, set)), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of(replay_.change_provider(provider_, provider_called("shop", 1))),
            ErrorCode::kInvalidArgument);
  facts = provider_called("without", 2);
  facts.has_segment = false;
  const auto id = replay_.add_provider(facts).value();
  EXPECT_EQ(code_of(replay_.add_set(id, registered(two_counters()))), ErrorCode::kCorrupt);
}

TEST_F(HostileReplay, EscapesWhatIsPrintedAsItIs) {
  auto facts = provider_called("shop");
  facts.error = {ErrorCode::kDenied, 0, "no \x1b[2J", "try \x07"};
  facts.errors = {facts.error};
  ASSERT_TRUE(replay_.change_provider(provider_, facts));
  replay_.show(kAnyTime);
  const ProviderView& view = *replay_.catalog().providers()[0];
  for (const Error& error : {view.error, view.errors[0]}) {
    EXPECT_EQ((error.what + error.remedy).find_first_of("\x1b\x07"), std::string::npos);
  }
}

struct Damage {
  const char* what;
  std::function<void(Counterset&)> act;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"no name", [](Counterset& set) { set.name.clear(); }},
      {"name", [](Counterset& set) { set.name = "\xc3"; }},
      {"long symbol", [](Counterset& set) { set.symbol.assign(1024, 'x'); }},
      {"long help", [](Counterset& set) { set.help.assign((1U << 20) + 1, 'x'); }},
      {"kind", [](Counterset& set) { set.instances = static_cast<InstanceKind>(77); }},
      {"identity", [](Counterset& set) { set.identity = static_cast<InstanceIdentity>(9); }},
      {"consistency", [](Counterset& set) { set.consistency = static_cast<Consistency>(9); }},
      {"no counters", [](Counterset& set) { set.counters.clear(); }},
      {"no words", [](Counterset& set) { set.form.words = 0; }},
      {"few words", [](Counterset& set) { set.form.words = 1; }},
      {"many words", [](Counterset& set) { set.form.words = 0xffffffff; }},
      {"stamp beyond", [](Counterset& set) { set.stamp_word = 2; }},
      {"stamp in a counter", [](Counterset& set) { set.stamp_word = 0; }},
      {"two ids", [](Counterset& set) { set.counters[1].id = 1; }},
      {"no id", [](Counterset& set) { set.counters[1].id = kNoCounter; }},
      {"word", [](Counterset& set) { set.counters[1].word = 0x7fffffff; }},
      {"base", [](Counterset& set) { set.counters[0].base = 2; }},
      {"time", [](Counterset& set) { set.counters[0].time = 2; }},
      {"frequency", [](Counterset& set) { set.counters[0].frequency = 99; }},
      {"multi", [](Counterset& set) { set.counters[0].multi = 0xfffffffe; }},
      {"scale", [](Counterset& set) { set.counters[0].scale = -11; }},
      {"aggregate", [](Counterset& set) { set.counters[0].aggregate = 5; }},
      {"joined by", [](Counterset& set) { set.counters[0].joined_by = 5; }},
      {"unit", [](Counterset& set) { set.counters[0].unit = "\xff"; }},
      {"no counter name",
       [](Counterset& set) { set.counters[0].name = set.counters[0].symbol = ""; }},
      {"form", [](Counterset& set) { set.counters[0].form = static_cast<ValueForm>(9); }},
      {"text without words", [](Counterset& set) { set.counters[0].form = ValueForm::kText; }},
      {"timed without words", [](Counterset& set) { set.counters[0].timed = true; }},
      {"words beyond", [](Counterset& set) { set.counters[0].more_words = 1; }},
      {"words far beyond", [](Counterset& set) { set.counters[0].more_words = 0xffffffff; }},
      {"buckets beyond",
       [](Counterset& set) {
         set.counters[0].form = ValueForm::kDistribution;
         set.counters[0].shape = {1, 0, 100};
         set.counters[0].more_words = set.counters[0].shape.more_words();
       }},
      {"more buckets than words",
       [](Counterset& set) {
         set.form.words = 2 + 7;
         set.counters[0].form = ValueForm::kDistribution;
         set.counters[0].shape = {1, 0, 2000};
         set.counters[0].more_words = 7;
       }},
      {"scale of buckets",
       [](Counterset& set) {
         set.form.words = 2 + 7;
         set.counters[0].form = ValueForm::kDistribution;
         set.counters[0].shape = {99, 0, 1};
         set.counters[0].more_words = 7;
       }},
  };
  return all;
}

TEST_F(HostileReplay, RefusesCountersetsThatDoNotHoldTogether) {
  for (const Damage& damage : damages()) {
    Counterset set = two_counters("other");
    damage.act(set);
    const auto added = replay_.add_set(provider_, registered(set, 2));
    ASSERT_FALSE(added) << damage.what;
    EXPECT_EQ(added.error().code, ErrorCode::kCorrupt) << damage.what;
    EXPECT_FALSE(replay_.add_answered(set_, std::make_shared<const Counterset>(set), 1))
        << damage.what;
  }
  EXPECT_TRUE(replay_.add_set(provider_, registered(two_counters("other"), 2)));
}

// Such rows would outlive their provider.
TEST_F(HostileReplay, RefusesRowsThatWereAnsweredForAnsweredRows) {
  const auto schema = std::make_shared<const Counterset>(two_counters());
  const auto answered = replay_.add_answered(set_, schema, 5);
  ASSERT_TRUE(answered);
  EXPECT_EQ(code_of(replay_.add_answered(*answered, schema, 6)), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace meterbank
