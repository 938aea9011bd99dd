// SPDX-License-Identifier: Apache-2.0
//
// Rows that share their name or their id with others of the same provider.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/own_record.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank::name_and_id_test {
namespace {

using Lines = std::vector<std::string>;

constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};

constexpr std::array kCounters{CounterSpec{.id = 1,
                                           .name = "Crests/sec",
                                           .symbol = "crests",
                                           .type = CounterType::kBulkCount,
                                           .aggregate = kAggregateSum},
                               CounterSpec{.id = 2,
                                           .name = "Height",
                                           .symbol = "height",
                                           .type = CounterType::kLargeRawCount,
                                           .aggregate = kAggregateSum}};
constexpr std::uint32_t kCrests = 0, kHeight = 1;  // words

CountersetSpec waves(InstanceIdentity identity = InstanceIdentity::kNameAndId) {
  return {.name = "Waves",
          .symbol = "waves",
          .guid = "{6b1f0a55-90c4-4b0e-8a53-1d9c3f1c2b11}"_guid,
          .identity = identity,
          .counters = kCounters};
}

class NamesAndIds : public testing::Test {
 protected:
  Registration start(const std::string& name, const CountersetSpec& spec = waves()) {
    providers_.push_back(*Provider::create({.name = name,
                                            .directory = directory_.path(),
                                            .quarantine = std::chrono::milliseconds{0}}));
    return *providers_.back().add(spec);
  }
  Instance& create(const Registration& set, const std::string& name, std::uint32_t id,
                   std::uint64_t height = 0) {
    kept_.push_back(*set.create_instance(name, {.id = id}));
    kept_.back().set(kHeight, height);
    return kept_.back();
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }

  // "waves/a#1/height=5" of each row, or "\Waves(a#1)\Height=5".
  static Lines rows_of(auto& query, PathSpelling spelling = PathSpelling::kShort) {
    Sample sample;
    query.collect(sample, std::chrono::seconds(10));
    Lines lines;
    for (const test::KeptValue& value : test::cooked_values(nullptr, sample)) {
      lines.push_back(print_path(value.counter_path(spelling)) + "=" +
                      std::to_string(value.raw.value));
    }
    return lines;
  }
  [[nodiscard]] Lines look(const std::string& pattern,
                           PathSpelling spelling = PathSpelling::kShort) const {
    Query query = *Query::compile(open(), {pattern});
    return rows_of(query, spelling);
  }
  // What is printed is unique and selects itself, in both spellings.
  void expect_each_selects_itself(const std::string& pattern) const {
    for (const PathSpelling spelling : {PathSpelling::kShort, PathSpelling::kWindows}) {
      Lines lines = look(pattern, spelling);
      for (const std::string& line : lines) {
        EXPECT_EQ(look(line.substr(0, line.rfind('=')), spelling), Lines{line});
      }
      std::sort(lines.begin(), lines.end());
      EXPECT_EQ(std::adjacent_find(lines.begin(), lines.end()), lines.end());
    }
  }

  test::TemporaryDirectory directory_;
  std::deque<Provider> providers_;
  std::deque<Instance> kept_;
};

TEST_F(NamesAndIds, ShowWhichRuleTheSetHas) {
  start("a");
  start("b", waves(InstanceIdentity::kUnique));
  const Catalog catalog = open();
  EXPECT_EQ(catalog.providers()[0]->sets[0].set->identity, InstanceIdentity::kNameAndId);
  EXPECT_EQ(catalog.providers()[1]->sets[0].set->identity, InstanceIdentity::kUnique);
}

TEST_F(NamesAndIds, TellRowsOfOneNameApartByTheirIds) {
  const Registration set = start("a");
  create(set, "wave", 1, 10);
  create(set, "WAVE", 2, 20);
  create(set, "other", 1, 30);
  EXPECT_EQ(look("waves/height"),
            (Lines{"waves/wave#1/height=10", "waves/WAVE#2/height=20", "waves/other/height=30"}));
  EXPECT_EQ(look("waves/height", PathSpelling::kWindows),
            (Lines{R"(\Waves(wave#1)\Height=10)", R"(\Waves(WAVE#2)\Height=20)",
                   R"(\Waves(other)\Height=30)"}));
  expect_each_selects_itself("waves");
}

TEST_F(NamesAndIds, ResolveANumberByNameAndId) {
  const Registration set = start("a");
  create(set, "Small Wave", 0, 1);
  create(set, "Medium Wave", 0, 2);
  create(set, "Large Wave", 0, 3);
  create(set, "Large Wave", 5, 4);
  EXPECT_EQ(look("waves/Medium Wave#0/height"), Lines{"waves/Medium Wave/height=2"});
  EXPECT_EQ(look("waves/Large Wave#0/height"), Lines{"waves/Large Wave#0/height=3"});
  EXPECT_EQ(look("waves/*#0/height").size(), 3U);
  EXPECT_EQ(look("waves/*#5/height"), Lines{"waves/Large Wave#5/height=4"});
  expect_each_selects_itself("waves");
}

TEST_F(NamesAndIds, TakeTheSmallestIdWhereANameStandsAlone) {
  const Registration set = start("a");
  create(set, "wave", 9, 90);
  create(set, "wave", 4, 40);
  create(set, "wave", 7, 70);
  EXPECT_EQ(look("waves/Wave/height"), Lines{"waves/wave#4/height=40"});
  EXPECT_EQ(look(R"(\Waves(wave)\Height)"), Lines{"waves/wave#4/height=40"});
  EXPECT_EQ(look("waves/wave#*/height").size(), 3U);
  EXPECT_EQ(look("waves/wav?/height").size(), 3U);
  // No instance has the id: a position, in the order of the ids.
  EXPECT_EQ(look("waves/wave#0/height"), Lines{"waves/wave#4/height=40"});
  EXPECT_EQ(look("waves/wave#2/height"), Lines{"waves/wave#9/height=90"});
  EXPECT_EQ(look("waves/wave#3/height"), Lines{});
}

TEST_F(NamesAndIds, AreWrittenWithoutANumberOnceTheOtherIsGone) {
  const Registration set = start("a");
  create(set, "wave", 1, 10);
  Instance& second = create(set, "wave", 2, 20);
  Catalog catalog = open();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  EXPECT_EQ(rows_of(query).size(), 2U);
  second.close();
  ASSERT_TRUE(catalog.refresh());
  query.update(catalog);
  EXPECT_EQ(rows_of(query), Lines{"waves/wave/height=10"});
  create(set, "wave", 3, 30);
  ASSERT_TRUE(catalog.refresh());
  query.update(catalog);
  EXPECT_EQ(rows_of(query), (Lines{"waves/wave#1/height=10", "waves/wave#3/height=30"}));
}

TEST_F(NamesAndIds, KeepNamesThatLookLikeANumberedOne) {
  const Registration set = start("a");
  create(set, "wave", 1, 10);
  create(set, "wave", 2, 20);
  create(set, "wave#1", 0, 30);
  create(set, "a#1", 0, 40);
  create(set, "a#1", 1, 50);
  EXPECT_EQ(look("waves/height"),
            (Lines{"waves/wave#1/height=10", "waves/wave#2/height=20", R"(waves/wave\#1/height=30)",
                   "waves/a#1#0/height=40", "waves/a#1#1/height=50"}));
  expect_each_selects_itself("waves");
}

TEST_F(NamesAndIds, AreToldApartInEachOfSeveralProviders) {
  const Registration first = start("a"), second = start("b");
  create(first, "wave", 1, 10);
  create(first, "wave", 2, 20);
  create(second, "wave", 1, 30);
  create(second, "lone", 1, 40);
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(look("waves/height", PathSpelling::kWindows),
            (Lines{R"(\\a@)" + pid + R"(\Waves(wave#1)\Height=10)",
                   R"(\\a@)" + pid + R"(\Waves(wave#2)\Height=20)",
                   R"(\\b@)" + pid + R"(\Waves(wave)\Height=30)", R"(\Waves(lone)\Height=40)"}));
  for (const std::string& line : look("waves/height", PathSpelling::kWindows)) {
    EXPECT_EQ(look(line.substr(0, line.rfind('=')), PathSpelling::kWindows), Lines{line});
  }
}

TEST_F(NamesAndIds, AreExcludedByTheirPaths) {
  const Registration set = start("a");
  create(set, "wave", 1, 10);
  create(set, "wave", 2, 20);
  Query one = *Query::compile(open(), {"waves/height"}, {"waves/wave#1/*"});
  EXPECT_EQ(rows_of(one), Lines{"waves/wave#2/height=20"});
  Query none = *Query::compile(open(), {"waves/height"}, {"waves/wave/*"});
  EXPECT_EQ(rows_of(none), Lines{});
}

TEST_F(NamesAndIds, AllCountInATotal) {
  CountersetSpec spec = waves();
  spec.instances = InstanceKind::kMultipleAggregate;
  const Registration set = start("a", spec);
  create(set, "wave", 1, 10);
  create(set, "wave", 2, 20);
  create(set, "other", 1, 30);
  EXPECT_EQ(look("waves/_Total/height"), Lines{"waves/_Total/height=60"});
}

TEST_F(NamesAndIds, AnswerItemsByBothAndByTheNameTheSmallestId) {
  const Registration set = start("a");
  create(set, "wave", 9, 90);
  create(set, "wave", 4, 40);
  create(set, "other", 9, 50);
  const auto found = [this](std::string name, std::uint32_t id) {
    ItemQuery query = ItemQuery::compile(open(), {{waves().guid, std::move(name), id, 2}});
    return rows_of(query);
  };
  EXPECT_EQ(found("wave", 9), Lines{"waves/wave#9/height=90"});
  EXPECT_EQ(found("wave", kAnyInstanceId),
            (Lines{"waves/wave#4/height=40", "waves/wave#9/height=90"}));
  EXPECT_EQ(found("*", 9), (Lines{"waves/wave#9/height=90", "waves/other/height=50"}));
  EXPECT_EQ(found("wave", 5), Lines{});
}

// ---- Two samples ----

class RatesOfNamesAndIds : public NamesAndIds {
 protected:
  // Of the counter `crests` between two samples, by path: a rate, or why there is none.
  struct Cooked {
    CookStatus status{};
    double rate = 0;
    friend bool operator==(const Cooked&, const Cooked&) = default;
  };
  using Cookeds = std::map<std::string, Cooked>;

  template <typename F>
  Cookeds rates_while(F&& change) {
    Catalog catalog = open();
    Query query = *Query::compile(catalog, {"waves/*/crests"});
    Sample before, after;
    query.collect(before, kStart);
    change();
    EXPECT_TRUE(catalog.refresh());
    query.update(catalog);
    query.collect(after, kTwoSecondsLater);
    Cookeds cooked;
    for (const test::KeptValue& value : test::cooked_values(before, after)) {
      cooked[value.short_path()] = {value.cooked.status, value.cooked.value};
    }
    return cooked;
  }
};

TEST_F(RatesOfNamesAndIds, BelongToTheRowOfTheIdAlone) {
  const Registration set = start("a");
  Instance& first = create(set, "wave", 1);
  Instance& second = create(set, "wave", 2);
  const Cookeds cooked = rates_while([&] {
    create(set, "wave", 3).add(kCrests, 1000);
    first.add(kCrests, 10);
    second.add(kCrests, 20);
  });
  EXPECT_EQ(cooked, (Cookeds{{"waves/wave#1/crests", {CookStatus::kNew, 5}},
                             {"waves/wave#2/crests", {CookStatus::kNew, 10}},
                             {"waves/wave#3/crests", {CookStatus::kFirstSample, 0}}}));
}

TEST_F(RatesOfNamesAndIds, BeginAnewWithAnInstanceThatIsCreatedAnew) {
  const Registration set = start("a");
  Instance& first = create(set, "wave", 1);
  create(set, "wave", 2);
  const Cookeds cooked = rates_while([&] {
    first.close();
    create(set, "wave", 1).add(kCrests, 1000);  // in the same slot
  });
  EXPECT_EQ(cooked, (Cookeds{{"waves/wave#1/crests", {CookStatus::kReset, 0}},
                             {"waves/wave#2/crests", {CookStatus::kUnchanged, 0}}}));
}

TEST_F(RatesOfNamesAndIds, DoNotTakeAnotherIdForTheInstanceBefore) {
  const Registration set = start("a");
  Instance& first = create(set, "wave", 1);
  const Cookeds cooked = rates_while([&] {
    first.close();
    create(set, "wave", 2).add(kCrests, 1000);  // in the same slot
  });
  EXPECT_EQ(cooked, (Cookeds{{"waves/wave/crests", {CookStatus::kFirstSample, 0}}}));
}

// ---- Computed rows ----

TEST_F(NamesAndIds, TellComputedRowsApartFromEachOtherAndFromCreatedOnes) {
  providers_.push_back(*Provider::create({.name = "a", .directory = directory_.path()}));
  const Registration set =
      *providers_.back().add(waves(), [](CallbackRequest& request) -> std::uint32_t {
        for (const std::uint32_t id : {1U, 2U, 2U}) {  // the pair that comes twice counts once
          request.add("wave", id, std::array<std::uint64_t, 2>{0, id * 10});
        }
        request.add("other", 1, std::array<std::uint64_t, 2>{0, 30});
        return 0;
      });
  create(set, "other", 7, 70);
  Query query = *Query::compile(open(), {"waves/*/height"});
  Lines lines = rows_of(query);
  lines = rows_of(query);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"waves/other#1/height=30", "waves/other#7/height=70",
                          "waves/wave#1/height=10", "waves/wave#2/height=20"}));
}

// ---- A provider that lies ----

// The memory of a provider of this process, published again with another schema flag.
class CopyWithoutTheFlag {
 public:
  CopyWithoutTheFlag(const std::string& record_path, std::string directory) {
    std::ifstream file(record_path);
    const PointerRecord record =
        *PointerRecord::parse(std::string{std::istreambuf_iterator<char>(file), {}});
    extent_.emplace(*OwnedExtent::create("liar", record.bytes));
    std::byte* const to = extent_->data();
    EXPECT_EQ(::pread(static_cast<int>(record.descriptor), to, record.bytes, 0),
              static_cast<::ssize_t>(record.bytes));
    auto& header = *reinterpret_cast<SegmentHeader*>(to);
    header.extents[0] = {extent_->size(), extent_->inode(),
                         static_cast<std::uint32_t>(extent_->descriptor()), 0};
    header.name_bytes = 4;
    std::copy_n("liar", 4, header.name.begin());
    // relaxed, both: this thread alone has the copy.
    const Ref place = header.registrations[0].load(std::memory_order_relaxed);
    const Ref schema = reinterpret_cast<RegistrationRecord*>(to + offset_of(place))->schema;
    auto& flags = reinterpret_cast<SchemaHeader*>(to + offset_of(schema))->flags;
    EXPECT_EQ(flags, kSchemaNameAndId);
    flags = 0x80000000;  // and a flag that this version does not know
    EXPECT_TRUE(write_record(directory, test::own_record("liar", *extent_)));
  }

 private:
  std::optional<OwnedExtent> extent_;
};

TEST_F(NamesAndIds, ChangeNoOtherRowsWhereASetSaysThatTheyAreUnique) {
  const test::TemporaryDirectory elsewhere;
  {
    Provider honest = *Provider::create(
        {.name = "b", .directory = elsewhere.path(), .heartbeat = std::chrono::milliseconds(0)});
    const Registration set = *honest.add(waves());
    create(set, "wave", 1, 10);
    create(set, "wave", 2, 20);
    create(set, "lone", 2, 30);
    const CopyWithoutTheFlag liar(honest.record(), directory_.path());
    const Registration other = start("a");
    create(other, "lone", 3, 40);

    EXPECT_EQ(open().providers()[1]->sets[0].set->identity, InstanceIdentity::kUnique);
    EXPECT_EQ(look("liar:waves/*/height"),
              (Lines{"waves/wave/height=10", "waves/wave/height=20",
                     "liar@" + std::to_string(::getpid()) + ":waves/lone/height=30"}));
    EXPECT_EQ(look("liar:waves/wave/height"), Lines{"waves/wave/height=10"});
    EXPECT_EQ(look("liar:waves/wave#2/height"), Lines{"waves/wave/height=20"});
    EXPECT_EQ(look("a:waves/lone/height").size(), 1U);
    kept_.clear();
  }
}

}  // namespace
}  // namespace meterbank::name_and_id_test
