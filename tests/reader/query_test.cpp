// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/query.hpp"
#include "../support/cooked_values.hpp"
#include "../support/sample_words.hpp"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank::query_test {
namespace {

using test::Venue;

constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};

class QueryTest : public testing::Test {
 protected:
  QueryTest()
      : provider_(*Provider::create({.name = "orders", .directory = directory_.path()})),
        venues_(*provider_->add(test::kOrders)) {}

  Instance& create(const std::string& name, InstanceOptions options = {}) {
    kept_.push_back(std::make_unique<Instance>(*venues_.create_instance(name, options)));
    return *kept_.back();
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }

  // Every row that the patterns select, as short paths.
  [[nodiscard]] std::vector<std::string> select(
      const std::vector<std::string>& patterns,
      const std::vector<std::string>& excluded = {}) const {
    auto query = *Query::compile(open(), patterns, excluded);
    Sample sample;
    query.collect(sample, kStart);
    std::vector<std::string> paths;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
      paths.push_back(row.short_path());
    return paths;
  }
  [[nodiscard]] Unmatched unmatched(const std::string& pattern) const {
    const auto query = *Query::compile(open(), {pattern});
    EXPECT_EQ(query.unmatched().size(), 1U);
    EXPECT_TRUE(plan_of(query)->selections.empty());
    return query.unmatched().empty() ? Unmatched{} : query.unmatched().front();
  }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  Registration venues_;
  std::vector<std::unique_ptr<Instance>> kept_;
};

using Paths = std::vector<std::string>;

TEST_F(QueryTest, CopiesWhatWasPublished) {
  Instance& eu = create("eu");
  eu.add(Venue::kAccepted, 41);
  eu.set(Venue::kDepth, 7);
  auto query = *Query::compile(open(), {});
  Sample sample;
  const CollectSummary summary = query.collect(sample, kStart);
  EXPECT_EQ(summary.rows, 1U);
  EXPECT_EQ(summary.not_fresh, 0U);
  EXPECT_FALSE(summary.stale);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kFresh);
  EXPECT_EQ(content_of(sample).row(0)[0], 41U);
  EXPECT_EQ(content_of(sample).row(0)[2], 7U);
  eu.add(Venue::kAccepted, 1);
  query.collect(sample, kTwoSecondsLater);
  EXPECT_EQ(content_of(sample).row(0)[0], 42U);
}

TEST_F(QueryTest, GivesTheRateBetweenTwoSamples) {
  Instance& eu = create("eu");
  auto query = *Query::compile(open(), {"demo_orders/eu/accepted"});
  Sample before;
  Sample after;
  query.collect(before, kStart);
  eu.add(Venue::kAccepted, 500);
  query.collect(after, kTwoSecondsLater);

  const auto rows = test::cooked_values(before, after);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].cooked.status, CookStatus::kNew);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 250);
  EXPECT_EQ(rows[0].path(), R"(\Demo Orders(eu)\Accepted/sec)");
  EXPECT_EQ(rows[0].short_path(), "demo_orders/eu/accepted");
  EXPECT_EQ(test::cooked_values(nullptr, after)[0].cooked.status, CookStatus::kFirstSample);
}

TEST_F(QueryTest, ExpandsWildcardsInEveryPartToPathsThatSelectOneValueEach) {
  create("eu");
  create("us");
  const Query query =
      *Query::compile(open(), {R"(\\*\Demo*(?u)\*/sec)", "demo_orders/us/queue_depth"});
  const auto paths = query.expanded(PathSpelling::kWindows);
  EXPECT_EQ(paths, (Paths{R"(\Demo Orders(eu)\Accepted/sec)", R"(\Demo Orders(eu)\Bytes/sec)",
                          R"(\Demo Orders(us)\Queue Depth)"}));
  EXPECT_EQ(
      query.expanded(PathSpelling::kShort),
      (Paths{"demo_orders/eu/accepted", "demo_orders/eu/bytes", "demo_orders/us/queue_depth"}));
  for (const std::string& path : paths) {
    EXPECT_EQ(Query::compile(open(), {path})->expanded(PathSpelling::kWindows), Paths{path});
  }
}

TEST_F(QueryTest, SelectsByBothSpellingsAndByNameOrSymbol) {
  create("eu");
  create("us");
  const Paths all{"demo_orders/eu/accepted", "demo_orders/eu/bytes", "demo_orders/eu/queue_depth",
                  "demo_orders/us/accepted", "demo_orders/us/bytes", "demo_orders/us/queue_depth"};
  EXPECT_EQ(select({}), all);
  EXPECT_EQ(select({"demo_orders"}), all);
  EXPECT_EQ(select({"DEMO ORDERS"}), all);
  EXPECT_EQ(select({"orders:demo_*/*/*"}), all);
  EXPECT_EQ(select({R"(\Demo Orders(*)\*)"}), all);
  EXPECT_EQ(select({"demo_orders/us/bytes"}), Paths{"demo_orders/us/bytes"});
  EXPECT_EQ(select({R"(\demo orders(US)\bytes/SEC)"}), Paths{"demo_orders/us/bytes"});
  EXPECT_EQ(select({"demo_orders/u?/q*"}), Paths{"demo_orders/us/queue_depth"});
}

TEST_F(QueryTest, ReadsASecondWordAsACounterBeforeAnInstance) {
  create("eu");
  create("bytes");
  EXPECT_EQ(select({"demo_orders/bytes"}),
            (Paths{"demo_orders/eu/bytes", "demo_orders/bytes/bytes"}));
  EXPECT_EQ(select({"demo_orders/eu"}), (Paths{"demo_orders/eu/accepted", "demo_orders/eu/bytes",
                                               "demo_orders/eu/queue_depth"}));
}

TEST_F(QueryTest, KeepsTheOrderOfTheRequest) {
  create("eu");
  create("us");
  EXPECT_EQ(
      select({"demo_orders/us/queue_depth", "demo_orders/us/accepted", "demo_orders/eu/bytes"}),
      (Paths{"demo_orders/us/queue_depth", "demo_orders/us/accepted", "demo_orders/eu/bytes"}));
}

TEST_F(QueryTest, SelectsACounterOnceHoweverOftenItIsAskedFor) {
  create("eu");
  EXPECT_EQ(select({"demo_orders/bytes", "demo_orders/eu/bytes", "demo_orders/*/byt*"}),
            Paths{"demo_orders/eu/bytes"});
}

TEST_F(QueryTest, ExcludesByShortPath) {
  create("eu");
  create("us");
  EXPECT_EQ(select({}, {"demo_orders/us/*", "demo_orders/accepted"}),
            (Paths{"demo_orders/eu/bytes", "demo_orders/eu/queue_depth"}));
  EXPECT_EQ(select({}, {"*"}), Paths{});
}

TEST_F(QueryTest, FindsAnInstanceByIdElseByPosition) {
  create("eu", {.id = 40});
  create("us", {.id = 41});
  create("a#1");
  EXPECT_EQ(select({"demo_orders/us#41/bytes"}), Paths{"demo_orders/us/bytes"});
  EXPECT_EQ(select({"demo_orders/*#40/bytes"}), Paths{"demo_orders/eu/bytes"});
  EXPECT_EQ(select({"demo_orders/us#0/bytes"}), Paths{"demo_orders/us/bytes"});
  EXPECT_EQ(select({R"(\Demo Orders(a#1)\Bytes/sec)"}), Paths{R"(demo_orders/a\#1/bytes)"});
  EXPECT_EQ(select({"demo_orders/us#40/bytes"}), Paths{});
}

TEST_F(QueryTest, SelectsTheProviderThatAPatternNames) {
  create("eu");
  const auto pid = std::to_string(::getpid());
  EXPECT_EQ(select({"orders:demo_orders/bytes"}).size(), 1U);
  EXPECT_EQ(select({"orders@" + pid + ":demo_orders/bytes"}).size(), 1U);
  EXPECT_EQ(select({"orders@1:demo_orders/bytes"}).size(), 0U);
  EXPECT_EQ(select({"other:demo_orders/bytes"}).size(), 0U);
}

TEST_F(QueryTest, SelectsABaseOnlyByItsName) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 1,
                  .name = "Average",
                  .symbol = "average",
                  .type = CounterType::kAverageBulk,
                  .base = 2},
      CounterSpec{.id = 2, .symbol = "average_base", .type = CounterType::kAverageBase}};
  const Registration set = *provider_->add({.name = "Bases",
                                            .symbol = "bases",
                                            .instances = InstanceKind::kSingle,
                                            .counters = kCounters});
  Instance only = *set.create_instance("");
  EXPECT_EQ(select({"bases"}), Paths{"bases/average"});
  EXPECT_EQ(select({"bases/average*"}), Paths{"bases/average"});
  EXPECT_EQ(select({"bases/average_base"}), Paths{"bases/average_base"});
  EXPECT_EQ(select({R"(\Bases\Average)"}), Paths{"bases/average"});

  auto query = *Query::compile(open(), {"bases"});
  Sample before;
  Sample after;
  query.collect(before, kStart);
  only.update([](Values& values) {
    values.set(0, 300);
    values.set(1, 3);
  });
  query.collect(after, kTwoSecondsLater);
  EXPECT_DOUBLE_EQ(test::cooked_values(before, after)[0].cooked.value, 100);
}

TEST_F(QueryTest, SaysWhichPartOfAPatternMatchedNothing) {
  create("London");
  const auto expect = [this](const char* pattern, const char* part, const char* suggestion) {
    SCOPED_TRACE(pattern);
    const Unmatched why = unmatched(pattern);
    EXPECT_EQ(why.pattern, pattern);
    EXPECT_EQ(why.part, part);
    EXPECT_EQ(why.suggestion, suggestion);
  };
  expect("demo_order", "counterset", "demo_orders");
  expect(R"(\Demo Ordrs(*)\*)", "counterset", "Demo Orders");
  expect("demo_orders/acepted", "counter", "accepted");
  expect("demo_orders/Londn", "counter", "London");
  expect("demo_orders/Lodnon/bytes", "instance", "London");
  expect("demo_orders/London/quux", "counter", "");
  expect("ordesr:demo_orders", "provider", "orders");
}

TEST_F(QueryTest, SaysThatASetHasNoInstance) {
  EXPECT_EQ(unmatched("demo_orders/bytes").part, "instance");
  EXPECT_TRUE(Query::compile(open(), {})->unmatched().empty());
}

TEST_F(QueryTest, FailsOnAPathThatDoesNotParse) {
  const auto query = Query::compile(open(), {"demo_orders", R"(\Demo Orders()"});
  ASSERT_FALSE(query.has_value());
  EXPECT_EQ(query.error().code, ErrorCode::kBadPath);
}

TEST_F(QueryTest, FindsAPatternsMatchWhenItAppears) {
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"demo_orders/eu/bytes"});
  EXPECT_EQ(query.unmatched().size(), 1U);
  EXPECT_FALSE(query.update(catalog));
  create("eu");
  Sample sample;
  EXPECT_TRUE(query.collect(sample, kStart).stale);
  catalog.refresh();
  EXPECT_TRUE(query.update(catalog));
  EXPECT_TRUE(query.unmatched().empty());
  EXPECT_EQ(query.collect(sample, kStart).rows, 1U);
}

TEST_F(QueryTest, KeepsTheLastValuesOfAClosedInstance) {
  create("eu").set(Venue::kDepth, 7);
  create("us").set(Venue::kDepth, 8);
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {});
  kept_.front()->close();
  Sample sample;
  const CollectSummary summary = query.collect(sample, kStart);
  EXPECT_TRUE(summary.stale);
  EXPECT_EQ(summary.not_fresh, 1U);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kClosed);
  EXPECT_EQ(content_of(sample).row(0)[2], 7U);
  EXPECT_EQ(content_of(sample).status[1], RowStatus::kFresh);
  EXPECT_EQ(content_of(sample).row(1)[2], 8U);
  catalog.refresh();
  EXPECT_TRUE(query.update(catalog));
  EXPECT_EQ(query.collect(sample, kStart).rows, 1U);
}

TEST_F(QueryTest, NeverTakesTheNextLifeOfASlotForTheOneItKnows) {
  Provider provider = *Provider::create({.name = "churn",
                                         .directory = directory_.path(),
                                         .quarantine = std::chrono::milliseconds{0}});
  const Registration set = *provider.add(test::kOrders);
  std::optional<Instance> life = *set.create_instance("eu");
  life->set(Venue::kAccepted, 1000);
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"churn:demo_orders"});
  Sample before;
  query.collect(before, kStart);

  life.reset();
  life = *set.create_instance("eu");
  life->set(Venue::kAccepted, 2000);
  Sample between;
  query.collect(between, kTwoSecondsLater);
  ASSERT_EQ(content_of(between).status[0], RowStatus::kGone);
  EXPECT_EQ(content_of(between).row(0)[0], 0U);
  EXPECT_EQ(test::cooked_values(before, between)[0].cooked.status, CookStatus::kNoValue);

  catalog.refresh();
  ASSERT_TRUE(query.update(catalog));
  Sample after;
  query.collect(after, kTwoSecondsLater);
  EXPECT_EQ(content_of(after).status[0], RowStatus::kFresh);
  EXPECT_EQ(content_of(after).row(0)[0], 2000U);
  EXPECT_EQ(test::cooked_values(before, after)[0].cooked.status, CookStatus::kReset);
  EXPECT_EQ(test::cooked_values(between, after)[0].cooked.status, CookStatus::kFirstSample);
}

TEST_F(QueryTest, LeavesNothingOfAnEarlierCollectionInASampleThatWasCleared) {
  Provider provider = *Provider::create({.name = "churn",
                                         .directory = directory_.path(),
                                         .quarantine = std::chrono::milliseconds{0}});
  const Registration set = *provider.add(test::kOrders);
  std::optional<Instance> gone = *set.create_instance("eu");
  gone->set(Venue::kAccepted, 1000);
  Instance kept = *set.create_instance("us");
  kept.set(Venue::kAccepted, 7);
  auto query = *Query::compile(open(), {"churn:demo_orders"});
  Sample sample;
  query.collect(sample, kStart);
  ASSERT_EQ(content_of(sample).row(0)[0], 1000U);

  gone.reset();
  const Instance other = *set.create_instance("asia");
  sample.clear();
  query.collect(sample, kTwoSecondsLater);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kGone);
  EXPECT_EQ(content_of(sample).row(0)[0], 0U);
  EXPECT_EQ(content_of(sample).row(1)[0], 7U);

  sample.clear();
  query.prepare(sample);
  EXPECT_EQ(content_of(sample).row(1)[0], 0U);
}

TEST_F(QueryTest, PairsRowsAcrossPlans) {
  Instance& us = create("us");
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"demo_orders/accepted"});
  Sample before;
  query.collect(before, kStart);
  create("eu");
  us.add(Venue::kAccepted, 10);
  catalog.refresh();
  ASSERT_TRUE(query.update(catalog));
  Sample after;
  query.collect(after, kTwoSecondsLater);
  const auto rows = test::cooked_values(before, after);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 5);
  EXPECT_EQ(rows[1].cooked.status, CookStatus::kFirstSample);
}

TEST_F(QueryTest, KeepsThePlanWhenTheChangeDoesNotConcernIt) {
  create("eu");
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"demo_orders/eu/accepted"});
  create("us");
  catalog.refresh();
  EXPECT_FALSE(query.update(catalog));
  Sample sample;
  EXPECT_FALSE(query.collect(sample, kStart).stale);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kFresh);
}

TEST_F(QueryTest, MarksTheRowsOfAProviderThatClosed) {
  create("eu").set(Venue::kDepth, 7);
  auto query = *Query::compile(open(), {});
  provider_.reset();
  Sample sample;
  const CollectSummary summary = query.collect(sample, kStart);
  EXPECT_TRUE(summary.stale);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kClosed);
  EXPECT_EQ(content_of(sample).row(0)[2], 7U);
}

TEST_F(QueryTest, MarksTheRowsOfAProviderThatDied) {
  int ready[2] = {};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto provider = Provider::create({.name = "mortal", .directory = directory_.path()});
    auto eu = provider->add(test::kOrders)->create_instance("eu");
    eu->set(Venue::kDepth, 42);
    static_cast<void>(::write(ready[1], "r", 1));
    for (;;) ::pause();
  }
  ::close(ready[1]);  // so that a child which dies early is an end of file
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"mortal:demo_orders"});
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(ready[0]);

  Sample sample;
  const CollectSummary summary = query.collect(sample, kStart);  // by the kernel's mark alone
  EXPECT_TRUE(summary.stale);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kDead);
  EXPECT_EQ(content_of(sample).row(0)[2], 42U);

  catalog.refresh();
  query.update(catalog);
  EXPECT_FALSE(query.collect(sample, kStart).stale);
  EXPECT_EQ(content_of(sample).status[0], RowStatus::kDead);
  EXPECT_EQ(content_of(sample).row(0)[2], 42U);
}

TEST_F(QueryTest, TakesTheTimeOfAStampedSetFromItsRows) {
  CountersetSpec spec = test::kOrders;
  spec.name = "Stamped";
  spec.symbol = "stamped";
  spec.guid = {};
  spec.stamped = true;
  const Registration set = *provider_->add(spec);
  Instance eu = *set.create_instance("eu");
  const auto publish = [&eu](std::uint64_t accepted, std::uint64_t at) {
    eu.update([=](Values& values) {
      values.set(Venue::kAccepted, accepted);
      values.stamp(at);
    });
  };
  auto query = *Query::compile(open(), {"stamped/accepted"});
  Sample before;
  Sample after;
  publish(100, 5'000'000'000);
  query.collect(before, kStart);
  query.collect(after, kTwoSecondsLater);
  EXPECT_EQ(test::cooked_values(before, after)[0].cooked.status, CookStatus::kNoNewSample);
  publish(300, 9'000'000'000);
  query.collect(after, kTwoSecondsLater);
  EXPECT_DOUBLE_EQ(test::cooked_values(before, after)[0].cooked.value, 50);
}

TEST_F(QueryTest, HoldsASampleOfManyTilesAndTheirRests) {
  CountersetSpec spec = test::kOrders;
  spec.name = "Tiles";
  spec.symbol = "tiles";
  spec.guid = {};
  spec.many = true;
  const Registration set = *provider_->add(spec);
  std::vector<Instance> many;
  for (std::uint64_t i = 0; i < 45; ++i) {
    many.push_back(*set.create_instance("i" + std::to_string(i)));
    many.back().set(Venue::kDepth, i);
  }
  many[12].close();
  auto query = *Query::compile(open(), {"tiles"});
  Sample sample;
  EXPECT_EQ(query.collect(sample, kStart).not_fresh, 0U);
  const QueryPlan& plan = *content_of(sample).plan;
  ASSERT_EQ(plan.rows, 44U);
  std::size_t in_tiles = 0;
  std::size_t in_runs = 0;
  const auto& parts = plan.selections[0].list->parts;
  ASSERT_EQ(parts.size(), 1U);
  for (const QueryPlan::Run& run : parts[0].rows->runs) {
    in_runs += run.rows;
    if (run.kind == QueryPlan::Run::Kind::kTiles) in_tiles += run.rows;
  }
  EXPECT_EQ(in_runs, 44U);
  EXPECT_EQ(in_tiles, 32U);  // five tiles are full but for the one with the closed instance
  for (std::size_t row = 0; row < plan.rows; ++row) {
    const std::string name(test::instance_of(plan, row).name);
    EXPECT_EQ(content_of(sample).row(row)[2], std::stoull(name.substr(1)));
  }
}

TEST_F(QueryTest, CollectsUnderStrictSeccomp) {
  create("eu").set(Venue::kDepth, 42);
  auto query = *Query::compile(open(), {});
  Sample sample;
  query.prepare(sample);
  const pid_t child = ::fork();
  if (child == 0) {
    // From here on, any call but read, write and exit ends the process with SIGKILL.
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) ::syscall(SYS_exit, 2);
    query.collect(sample, kStart);
    ::syscall(SYS_exit, content_of(sample).row(0)[2] == 42 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(QueryTest, NamesEachRowStatus) {
  for (std::uint8_t status = 0; status <= static_cast<std::uint8_t>(RowStatus::kDead); ++status) {
    EXPECT_NE(name_of(static_cast<RowStatus>(status)), "unknown");
  }
}

}  // namespace
}  // namespace meterbank::query_test
