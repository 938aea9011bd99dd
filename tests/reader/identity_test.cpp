// SPDX-License-Identifier: Apache-2.0
//
// What a provider can do to the rows, totals and names of others: nothing.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/other_user.hpp"
#include "../support/sample_words.hpp"
#include "../support/scripted_provider.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank::identity_test {
namespace {

using test::OtherUser;
using Rows = std::vector<std::string>;

constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};

constexpr std::array kCounters{CounterSpec{.id = 1,
                                           .name = "Jobs/sec",
                                           .symbol = "jobs",
                                           .type = CounterType::kBulkCount,
                                           .aggregate = kAggregateSum},
                               CounterSpec{.id = 2,
                                           .name = "Fill",
                                           .symbol = "fill",
                                           .type = CounterType::kLargeRawCount,
                                           .aggregate = kAggregateSum}};
constexpr std::array kOtherCounters{CounterSpec{.id = 2,
                                                .name = "Fill",
                                                .symbol = "fill",
                                                .type = CounterType::kRawCount,
                                                .aggregate = kAggregateSum},
                                    CounterSpec{.id = 3,
                                                .name = "Red",
                                                .symbol = "red",
                                                .type = CounterType::kLargeRawCount,
                                                .aggregate = kAggregateSum}};
constexpr std::uint32_t kJobs = 0, kFill = 1;  // words in kCounters
constexpr std::uint32_t kFillId = 2;

CountersetSpec workers(InstanceKind kind = InstanceKind::kMultipleAggregate) {
  return {.name = "Workers",
          .symbol = "workers",
          .guid = {0x12345678, 0x1234, 0x1234, {1, 2, 3, 4, 5, 6, 7, 8}},
          .instances = kind,
          .counters = kCounters};
}
// The same GUID, described in another way.
CountersetSpec other_workers(InstanceKind kind = InstanceKind::kMultipleAggregate) {
  CountersetSpec spec = workers(kind);
  spec.counters = kOtherCounters;
  return spec;
}

class Identity : public testing::Test {
 protected:
  Registration start(const std::string& name, const CountersetSpec& spec = workers()) {
    providers_.push_back(*Provider::create({.name = name, .directory = directory_.path()}));
    return *providers_.back().add(spec);
  }
  Instance create(Registration& set, const std::string& name, std::uint64_t fill,
                  std::uint32_t word = kFill, std::uint32_t id = kAnyInstanceId) {
    InstanceOptions options;
    if (id != kAnyInstanceId) options.id = id;
    Instance instance = *set.create_instance(name, options);
    instance.set(word, fill);
    return instance;
  }

  [[nodiscard]] Catalog open(CatalogOptions options = {}) const {
    options.directory = directory_.path();
    return *Catalog::open(std::move(options));
  }
  // "\Workers(one)\Fill=10" of each row.
  [[nodiscard]] static Rows look(Query& query) { return rows_of(query); }
  [[nodiscard]] static Rows look(ItemQuery& query) { return rows_of(query); }
  [[nodiscard]] static Rows rows_of(auto& query) {
    Sample sample;
    query.collect(sample, kStart);
    Rows rows;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      rows.push_back(row.path() + "=" + std::to_string(row.raw.value));
    }
    return rows;
  }
  [[nodiscard]] Rows look(const std::string& pattern) const {
    Query query = *Query::compile(open(), {pattern});
    return look(query);
  }
  [[nodiscard]] Rows look(const QueryItem& item) const {
    ItemQuery query = ItemQuery::compile(open(), {item});
    return look(query);
  }
  static QueryItem item(std::string instances = "*") {
    return {workers().guid, std::move(instances), kAnyInstanceId, kFillId};
  }
  [[nodiscard]] static std::string own(const std::string& name) {
    return name + "@" + std::to_string(::getpid());
  }

  test::TemporaryDirectory directory_;
  std::deque<Provider> providers_;
};

class IdentityOfUsers : public Identity {
 protected:
  void SetUp() override {
    if (!test::may_be_two_users()) GTEST_SKIP() << "only root can be two users";
    test::share_directory(directory_.path());
  }
  // A provider of another user with one set and one row.
  [[nodiscard]] std::function<void(const OtherUser::Pause&)> publishes(
      std::string name, CountersetSpec spec, std::string instance, std::uint64_t fill,
      std::uint32_t word = kFill, std::uint32_t id = kAnyInstanceId) {
    return [=, this](const OtherUser::Pause& pause) {
      Registration set = start(name, spec);
      const Instance row = create(set, instance, fill, word, id);
      pause();
    };
  }
};

TEST_F(IdentityOfUsers, AreTrustedWhereTheCallerSaysSo) {
  OtherUser other(publishes("a", workers(), "theirs", 1000));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  const auto total = [](const Catalog& catalog) {
    Query query = *Query::compile(catalog, {"workers/_Total/fill"});
    return std::pair(look(query), plan_of(query)->left_out.size());
  };
  EXPECT_EQ(total(open()), std::pair(Rows{"\\Workers(_Total)\\Fill=10"}, std::size_t{1}));
  EXPECT_EQ(total(open({.trust = UserPolicy::kEveryone})),
            std::pair(Rows{"\\Workers(_Total)\\Fill=1010"}, std::size_t{0}));
  // A plan of one catalog is no plan of the other.
  Query query = *Query::compile(open(), {"workers/_Total/fill"});
  query.update(open({.trust = UserPolicy::kEveryone}));
  EXPECT_EQ(look(query), Rows{"\\Workers(_Total)\\Fill=1010"});
}

// ---- Totals ----

TEST_F(Identity, KeepsTheReadersOwnTotal) {
  Registration set = start("a");
  const Instance one = create(set, "one", 10), total = create(set, "_TOTAL", 77);
  EXPECT_EQ(look("workers/_Total/fill"),
            (Rows{"\\\\" + own("a") + "\\Workers(_TOTAL)\\Fill=77", "\\Workers(_Total)\\Fill=10"}));
  EXPECT_EQ(look(item("_total")),
            (Rows{"\\\\" + own("a") + "\\Workers(_TOTAL)\\Fill=77", "\\Workers(_Total)\\Fill=10"}));
}

TEST_F(Identity, LeavesTheTotalOfAProviderAloneWhereTheReaderMakesNone) {
  Registration set = start("a", workers(InstanceKind::kMultiple));
  const Instance one = create(set, "one", 10), total = create(set, "_Total", 77);
  EXPECT_EQ(look("workers/_Total/fill"), Rows{"\\Workers(_Total)\\Fill=77"});
}

TEST_F(IdentityOfUsers, TotalsLeaveOtherUsersOut) {
  OtherUser other(publishes("a", workers(), "theirs", 1000));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(look("workers/_Total/fill"), Rows{"\\Workers(_Total)\\Fill=10"});
  EXPECT_EQ(look("workers/*/fill"),
            (Rows{"\\\\" + other.at("a") + "\\Workers(theirs)\\Fill=1000",
                  "\\Workers(one)\\Fill=10", "\\Workers(_Total)\\Fill=10"}));
  EXPECT_EQ(look(item("_Total")), Rows{"\\Workers(_Total)\\Fill=10"});
}

TEST_F(IdentityOfUsers, KeepTheReadersOwnTotal) {
  OtherUser other(publishes("a", workers(), "_Total", 77));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  const Rows both{"\\\\" + other.at("a") + "\\Workers(_Total)\\Fill=77",
                  "\\Workers(_Total)\\Fill=10"};
  EXPECT_EQ(look("workers/_Total/fill"), both);
  EXPECT_EQ(look(item("_Total")), both);
}

TEST_F(IdentityOfUsers, SharesOfOtherUsersAreRowsOfTheirOwn) {
  OtherUser other(publishes("a", workers(InstanceKind::kGlobalAggregate), "", 1000));
  Registration set = start("b", workers(InstanceKind::kGlobalAggregate));
  const Instance one = create(set, "", 10);
  const std::string theirs = "\\\\" + other.at("a") + "\\Workers\\Fill=1000";
  EXPECT_EQ(look("workers/fill"), (Rows{theirs, "\\Workers\\Fill=10"}));
  EXPECT_EQ(look(item("")), (Rows{theirs, "\\Workers\\Fill=10"}));
}

TEST_F(IdentityOfUsers, EndedValuesOfOtherUsersAreNotKept) {
  const CountersetSpec spec = workers(InstanceKind::kGlobalAggregateHistory);
  OtherUser other([&](const OtherUser::Pause& pause) {
    Registration set = start("a", spec);
    {
      const Instance row = create(set, "", 1000);
      pause();
    }
    pause();
  });
  Registration set = start("b", spec);
  const Instance one = create(set, "", 10);
  Catalog catalog = open();
  Query query = *Query::compile(catalog, {"b:workers/fill", "workers/fill"});
  other.go();
  catalog.refresh();
  query.update(catalog);
  EXPECT_TRUE(plan_of(query)->ended.empty());
}

TEST_F(Identity, ProvidersThatDescribeASetDifferentlyHaveATotalEach) {
  Registration first = start("a"), second = start("b", other_workers());
  const Instance one = create(first, "one", 10), two = create(second, "two", 7, 0);
  const Rows totals{"\\Workers(_Total)\\Fill=10", "\\\\" + own("b") + "\\Workers(_Total)\\Fill=7"};
  EXPECT_EQ(look("workers/_Total/fill"), totals);
  EXPECT_EQ(look(item("_Total")), totals);
  EXPECT_EQ(look(item("two")), Rows{"\\Workers(two)\\Fill=7"});
}

TEST_F(Identity, AProviderOfAnotherKindTakesNoRowsFromASet) {
  Registration first = start("a"), second = start("b", workers(InstanceKind::kSingle));
  const Instance one = create(first, "one", 10), two = create(second, "", 7);
  EXPECT_EQ(look(item("one")), Rows{"\\Workers(one)\\Fill=10"});
  EXPECT_EQ(look(item("")), Rows{"\\Workers\\Fill=7"});
}

// ---- Descriptions ----

// It says that it began in 1970.
TEST_F(IdentityOfUsers, AForgedAgeEmptiesNoItem) {
  for (const CountersetSpec& spec : {workers(InstanceKind::kSingle), other_workers()}) {
    OtherUser other([&](const OtherUser::Pause& pause) {
      const test::ScriptedProvider forged(directory_.path(), spec, {}, "a", 0);
      pause();
    });
    Registration set = start("b");
    const Instance one = create(set, "one", 10);
    EXPECT_EQ(look(item()), (Rows{"\\Workers(one)\\Fill=10", "\\Workers(_Total)\\Fill=10"}));
    ItemQuery query = ItemQuery::compile(open(), {{workers().guid, "*", kAnyInstanceId, 1}});
    EXPECT_EQ(plan_of(query)->answers.front().status, ItemStatus::kFound);
    EXPECT_EQ(plan_of(query)->answers.front().set->set->counters.size(), kCounters.size());
    providers_.clear();
  }
}

TEST_F(IdentityOfUsers, RowsOfASetDescribedOtherwiseAreStillThere) {
  OtherUser other(publishes("a", other_workers(), "theirs", 1000, 0));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(look(item()), (Rows{"\\Workers(one)\\Fill=10", "\\Workers(_Total)\\Fill=10",
                                "\\\\" + other.at("a") + "\\Workers(theirs)\\Fill=1000"}));
}

TEST_F(IdentityOfUsers, ASetOfTheSameNameAddsToNoTotal) {
  CountersetSpec spec = workers();
  spec.guid = Guid::from_name("a", "Workers");
  OtherUser other(publishes("a", spec, "theirs", 1000));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(look("workers/_Total/fill"), Rows{"\\Workers(_Total)\\Fill=10"});
}

TEST_F(Identity, SetsOfOneNameHaveTotalsThatReadDifferently) {
  CountersetSpec spec = workers();
  spec.guid = Guid::from_name("b", "Workers");
  Registration first = start("a"), second = start("b", spec);
  const Instance one = create(first, "one", 10), two = create(second, "two", 7);
  EXPECT_EQ(look("workers/_Total/fill"),
            (Rows{"\\Workers(_Total)\\Fill=10", "\\\\" + own("b") + "\\Workers(_Total)\\Fill=7"}));
}

TEST_F(IdentityOfUsers, AnyNumberOfDescriptionsIsOneFurtherAnswer) {
  constexpr std::uint64_t kOthers = 20;
  OtherUser other([&](const OtherUser::Pause& pause) {
    std::deque<std::string> units;
    std::deque<Instance> rows;
    for (std::uint64_t number = 0; number < kOthers; ++number) {
      CounterSpec counter = kCounters[kFill];
      counter.unit = units.emplace_back("{" + std::to_string(number) + "}");
      CountersetSpec spec = workers();
      spec.counters = {&counter, 1};
      Registration set = start("a" + std::to_string(number), spec);
      rows.push_back(create(set, "theirs", number, 0));
    }
    pause();
  });
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  ItemQuery query = ItemQuery::compile(open(), {item()});
  ASSERT_EQ(plan_of(query)->others.size(), 1U);
  EXPECT_EQ(plan_of(query)->others.front().rows->size(), kOthers);
  EXPECT_TRUE(plan_of(query)->others.front().summed->empty());
  EXPECT_EQ(look(query).size(), 2 + kOthers);
}

// A description that changes as fast as a reader looks.
TEST_F(IdentityOfUsers, FlappingDescriptionsTouchNoOtherRow) {
  constexpr int kTurns = 40;
  OtherUser other([&](const OtherUser::Pause& pause) {
    providers_.push_back(*Provider::create({.name = "a", .directory = directory_.path()}));
    const std::array kinds{InstanceKind::kGlobalAggregateHistory, InstanceKind::kMultipleAggregate,
                           InstanceKind::kSingle, InstanceKind::kMultiple};
    for (int turn = 0;; ++turn) {
      const InstanceKind kind = kinds[static_cast<std::size_t>(turn) % kinds.size()];
      Registration set =
          *providers_.front().add(turn % 3 == 0 ? workers(kind) : other_workers(kind));
      std::optional<Instance> row = create(set, has_instance_names(kind) ? "one" : "", 1000, 0);
      pause();
      row.reset();
      set.close();
    }
  });
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  Catalog catalog = open();
  ItemQuery items = ItemQuery::compile(catalog, {item("one"), item("_Total")});
  Query paths = *Query::compile(catalog, {"workers/one/fill", "workers/_Total/fill"});
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto count = [](const Rows& rows, const std::string& row) {
      return std::count(rows.begin(), rows.end(), row);
    };
    const auto expect_one_user = [&](auto& query) {
      const Rows rows = look(query);
      EXPECT_EQ(count(rows, "\\Workers(one)\\Fill=10"), 1) << turn;
      EXPECT_EQ(count(rows, "\\Workers(_Total)\\Fill=10"), 1) << turn;
      EXPECT_LE(rows.size(), 5U) << turn;
      EXPECT_TRUE(plan_of(query)->ended.empty()) << turn;
    };
    expect_one_user(items);
    expect_one_user(paths);
    EXPECT_EQ(plan_of(items)->answers.size(), 2U);
    EXPECT_LE(plan_of(items)->others.size(), 2U);
    other.go();
    catalog.refresh();
    items.update(catalog);
    paths.update(catalog);
  }
}

// ---- Paths ----

TEST_F(IdentityOfUsers, ACounterTakesOverNoInstance) {
  CountersetSpec spec = other_workers();
  spec.guid = Guid::from_name("a", "Workers");
  OtherUser other(publishes("a", spec, "theirs", 1000, 1));
  Registration set = start("b");
  const Instance red = create(set, "red", 10);
  EXPECT_EQ(look("workers/red"), (Rows{"\\\\" + other.at("a") + "\\Workers(theirs)\\Red=1000",
                                       "\\Workers(red)\\Jobs/sec=0", "\\Workers(red)\\Fill=10"}));
}

TEST_F(IdentityOfUsers, AnInstanceTakesOverNoCounter) {
  static constexpr std::array kRed{kOtherCounters[1]};
  CountersetSpec spec = workers();
  spec.counters = kRed;
  OtherUser other(publishes("a", spec, "fill", 1000, 0));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(look("workers/fill"), (Rows{"\\\\" + other.at("a") + "\\Workers(fill)\\Red=1000",
                                        "\\Workers(one)\\Fill=10", "\\Workers(_Total)\\Fill=10"}));
}

TEST_F(IdentityOfUsers, NamesakesRenameNothing) {
  OtherUser other(publishes("a", workers(), "ONE", 1000));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(look("workers/one/fill"), (Rows{"\\\\" + other.at("a") + "\\Workers(ONE)\\Fill=1000",
                                            "\\Workers(one)\\Fill=10"}));
}

TEST_F(IdentityOfUsers, PositionsOfANameStay) {
  OtherUser other(publishes("a", workers(), "eu", 1000, kFill, 90));
  Registration first = start("b"), second = start("c");
  const Instance one = create(first, "eu", 10, kFill, 70),
                 two = create(second, "eu", 20, kFill, 80);
  EXPECT_EQ(look("workers/eu#0/fill"), Rows{"\\\\" + own("b") + "\\Workers(eu)\\Fill=10"});
  EXPECT_EQ(look("workers/eu#1/fill"), Rows{"\\\\" + own("c") + "\\Workers(eu)\\Fill=20"});
  EXPECT_EQ(look("workers/eu#2/fill"), Rows{"\\\\" + other.at("a") + "\\Workers(eu)\\Fill=1000"});
}

TEST_F(IdentityOfUsers, AnIdOrANameWithANumberTakesOverNoPosition) {
  for (const bool by_id : {true, false}) {
    OtherUser other(by_id ? publishes("a", workers(), "eu", 1000, kFill, 1)
                          : publishes("a", workers(), "eu#1", 1000));
    Registration first = start("b"), second = start("c");
    const Instance one = create(first, "eu", 10, kFill, 70),
                   two = create(second, "eu", 20, kFill, 80);
    EXPECT_EQ(look("workers/eu#1/fill"), Rows{"\\\\" + own("c") + "\\Workers(eu)\\Fill=20"});
    providers_.clear();
  }
}

TEST_F(IdentityOfUsers, SuggestionsAreNamesThatTheUserTrusts) {
  CountersetSpec spec = workers();
  spec.symbol = "workerz";
  spec.name = "Workerz";
  spec.guid = Guid::from_name("a", "Workerz");
  OtherUser other(publishes("a", spec, "one", 1000));
  Registration set = start("b");
  const Instance one = create(set, "one", 10);
  EXPECT_EQ(Query::compile(open(), {"workerx/fill"})->unmatched().front().suggestion, "workers");
  const Unmatched miss = Query::compile(open(), {"workerz/fil"})->unmatched().front();
  EXPECT_EQ(miss.part, "counterset");
  EXPECT_EQ(miss.suggestion, "workers");
}

// ---- What a provider says that it is ----

// Where both processes can write: what a reader would see in a segment.
struct Copied {
  std::array<std::uint64_t, 2> segment_id;
};

class IdentityOfSegments : public IdentityOfUsers {
 protected:
  IdentityOfSegments()
      : copied_(static_cast<Copied*>(::mmap(nullptr, sizeof(Copied), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~IdentityOfSegments() override { ::munmap(copied_, sizeof(Copied)); }

  void copy_identity_of(const std::string& name) const {
    const Catalog catalog = open();
    for (const auto& provider : catalog.providers()) {
      if (provider->name == name) copied_->segment_id = provider->segment->header().segment_id;
    }
  }
  void use_copied_identity() const {
    test::change_own_header([this](SegmentHeader& header) {
      header.segment_id = copied_->segment_id;
      header.created_realtime_ns = 1;
    });
  }

  Copied* copied_;
};

TEST_F(IdentityOfSegments, ACopiedIdentityChangesNoRate) {
  OtherUser other([&](const OtherUser::Pause& pause) {
    pause();
    Registration set = start("a");
    Instance row = create(set, "one", 1'000'000, kJobs);
    use_copied_identity();
    pause();
  });
  Registration set = start("b");
  Instance one = create(set, "one", 1'000, kJobs);
  copy_identity_of("b");
  other.go();
  Catalog catalog = open();
  Query query = *Query::compile(catalog, {"workers/*/jobs"});
  Sample before, after;
  query.collect(before, kStart);
  one.add(kJobs, 100);
  const Instance two = create(set, "two", 0, kJobs);
  catalog.refresh();
  query.update(catalog);
  query.collect(after, kTwoSecondsLater);
  std::optional<double> rate;
  for (const test::KeptValue& row : test::cooked_values(before, after)) {
    if (row.path() == "\\Workers(one)\\Jobs/sec") rate = row.cooked.value;
  }
  EXPECT_EQ(rate, 50);
}

TEST_F(IdentityOfSegments, ACopiedIdentityAnswersForNoOtherProvider) {
  const auto answers = [](std::uint64_t fill) {
    return [fill](CallbackRequest& request) -> std::uint32_t {
      request.add("one", 0, std::array<std::uint64_t, 2>{0, fill});
      return 0;
    };
  };
  const CountersetSpec spec = workers(InstanceKind::kMultiple);
  OtherUser other([&](const OtherUser::Pause& pause) {
    pause();
    providers_.push_back(*Provider::create({.name = "a", .directory = directory_.path()}));
    const Registration set = *providers_.back().add(spec, answers(1000));
    use_copied_identity();
    pause();
  });
  providers_.push_back(*Provider::create({.name = "b", .directory = directory_.path()}));
  const Registration set = *providers_.back().add(spec, answers(10));
  copy_identity_of("b");
  other.go();
  Query query = *Query::compile(open(), {"workers/one/fill"});
  Sample sample;
  query.collect(sample, std::chrono::seconds(10));
  Rows rows;
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
    rows.push_back(row.provider().name + " " + std::to_string(row.raw.value));
  }
  EXPECT_EQ(rows, (Rows{"a 1000", "b 10"}));
}

}  // namespace
}  // namespace meterbank::identity_test
