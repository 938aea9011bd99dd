// SPDX-License-Identifier: Apache-2.0
//
// Sets of more instances than a piece has: after any changes, a query that was updated is the one
// that a new reader compiles, and what did not change is shared with the lists before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../support/orders_schema.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "collect/returned_versions.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "plan/build_plan.hpp"

namespace meterbank::pieces_test {
namespace {

using test::Venue;

constexpr std::uint32_t kSlots = InstancePiece::kSlots;
constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};

std::shared_ptr<const InstancePiece> piece_of(const std::vector<std::uint32_t>& slots) {
  auto piece = std::make_shared<InstancePiece>();
  for (const std::uint32_t slot : slots) {
    piece->instances.push_back({.slot = slot & InstanceView::kSlotMask});
  }
  return piece;
}

std::vector<std::uint32_t> slots_of(const InstanceViews& views) {
  std::vector<std::uint32_t> slots;
  for (const InstanceView& instance : views) slots.push_back(instance.slot);
  return slots;
}

TEST(InstanceViews, ShowAllInstancesInTheOrderOfTheirSlots) {
  EXPECT_EQ(slots_of(InstanceViews()), std::vector<std::uint32_t>());
  const InstanceViews views({piece_of({}), piece_of({kSlots, kSlots + 7}), piece_of({}),
                             piece_of({3 * kSlots + 1}), piece_of({})});
  EXPECT_EQ(slots_of(views), (std::vector<std::uint32_t>{kSlots, kSlots + 7, 3 * kSlots + 1}));
  EXPECT_EQ(views.size(), 3U);
  EXPECT_EQ(views.front().slot, kSlots);
  EXPECT_EQ(views[kSlots + 1].slot, kSlots + 7);  // the second one of the second piece
  EXPECT_EQ(views.index_end(), 5U * kSlots);
}

TEST(InstanceViews, FindAnInstanceByItsSlot) {
  const InstanceViews live({piece_of({0, 5, kSlots - 1}), piece_of({}), piece_of({2 * kSlots})});
  for (const std::uint32_t slot : slots_of(live)) EXPECT_EQ(live.in_slot(slot)->slot, slot);
  for (const std::uint32_t slot : {1U, kSlots, 2 * kSlots + 1, 9 * kSlots}) {
    EXPECT_EQ(live.in_slot(slot), nullptr) << slot;
  }
  EXPECT_EQ(InstanceViews().in_slot(0), nullptr);
  // A recording: full pieces of any slots.
  const InstanceViews recorded({piece_of({3, 9 * kSlots, 20 * kSlots}), piece_of({30 * kSlots})});
  for (const std::uint32_t slot : slots_of(recorded)) EXPECT_EQ(recorded.in_slot(slot)->slot, slot);
  for (const std::uint32_t slot : {0U, 4U, 10 * kSlots, 40 * kSlots}) {
    EXPECT_EQ(recorded.in_slot(slot), nullptr) << slot;
  }
}

class LargeSet : public testing::Test {
 protected:
  static constexpr std::size_t kInstances = 2 * kSlots + 100;

  LargeSet() {
    for (std::size_t index = 0; index < kInstances; ++index) create("i" + std::to_string(index));
  }
  Instance& create(const std::string& name) {
    kept_.push_back(std::make_unique<Instance>(*set_.create_instance(name)));
    return *kept_.back();
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }
  [[nodiscard]] static const InstanceViews& listed(const Catalog& catalog) {
    return catalog.providers().front()->sets.front().instances;
  }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_ =
      *Provider::create({.name = "orders", .directory = directory_.path(), .quarantine = {}});
  Registration set_ = *provider_->add(test::kOrders);
  std::vector<std::unique_ptr<Instance>> kept_;
};

TEST_F(LargeSet, SharesThePiecesThatDidNotChangeWithTheListBefore) {
  Catalog catalog = open();
  const InstanceViews before = listed(catalog);
  ASSERT_EQ(before.pieces().size(), 3U);
  kept_[kSlots + 3]->close();
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(kSlots + 3));
  ASSERT_TRUE(catalog.refresh().has_value());
  const InstanceViews& now = listed(catalog);
  EXPECT_EQ(now.pieces()[0], before.pieces()[0]);
  EXPECT_NE(now.pieces()[1], before.pieces()[1]);
  EXPECT_EQ(now.pieces()[2], before.pieces()[2]);
  EXPECT_TRUE(now.in_slot(kSlots + 3)->closed);
  EXPECT_FALSE(before.in_slot(kSlots + 3)->closed);
}

// More changes than the log keeps make a reader walk the directory.
TEST_F(LargeSet, SharesThemAfterAWalkAsWell) {
  Catalog catalog = open();
  const InstanceViews before = listed(catalog);
  for (int count = 0; count < 100; ++count) kept_.pop_back();
  ASSERT_TRUE(catalog.refresh().has_value());
  const InstanceViews& now = listed(catalog);
  EXPECT_EQ(now.pieces()[0], before.pieces()[0]);
  EXPECT_EQ(now.pieces()[1], before.pieces()[1]);
  EXPECT_NE(now.pieces()[2], before.pieces()[2]);
}

TEST_F(LargeSet, IsCompiledAnewOnlyInThePieceThatChanged) {
  std::size_t row = 5;  // of the second part
  for (const char* const pattern :
       {"demo_orders", "demo_orders/i*/*", "demo_orders/*/queue_depth"}) {
    SCOPED_TRACE(pattern);
    Catalog catalog = open();
    const auto request =
        std::make_shared<const QueryRequest>(*QueryRequest::of_patterns({pattern}, {}));
    const BuiltPlan before = build_plan(catalog.providers(), request, nullptr, nullptr);
    const auto& old_parts = before.plan->selections[0].list->parts;
    const Versions known = no_versions(*before.plan);
    std::iota(known[1].get(), known[1].get() + old_parts[1].rows->size(), 1000U);
    const std::uint32_t id = old_parts[1].rows->instance(row).id;
    std::erase_if(kept_, [id](const auto& one) { return one->id() == id; });
    ASSERT_TRUE(catalog.refresh().has_value());
    const BuiltPlan now = build_plan(catalog.providers(), request, before.parts.get(), nullptr);
    const auto& parts = now.plan->selections[0].list->parts;
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].rows, old_parts[0].rows);
    EXPECT_EQ(parts[1].rows->size(), old_parts[1].rows->size() - 1);
    EXPECT_EQ(parts[2].rows, old_parts[2].rows);
    const Versions versions = carried_versions(*before.plan, known, *now.plan);
    EXPECT_EQ(versions[0], known[0]);  // the same words
    EXPECT_EQ(versions[1].get()[row - 1], 1000 + row - 1);
    EXPECT_EQ(versions[1].get()[row], 1000 + row + 1);  // of the row behind
    row += 10;
  }
}

// Rates need the row of the same slot in the older sample, which has another number there.
TEST_F(LargeSet, HasRatesAcrossAChange) {
  for (std::size_t index = 0; index < kInstances; ++index) {
    kept_[index]->set(Venue::kAccepted, index);
  }
  Catalog catalog = open();
  auto query = *Query::compile(catalog, {"demo_orders/*/accepted"});
  Sample older, newer;
  query.collect(older, kStart);
  kept_[10]->close();
  kept_[20]->close();
  for (std::size_t index = 0; index < kInstances; ++index) {
    if (index != 10 && index != 20) kept_[index]->set(Venue::kAccepted, 3 * index);
  }
  create("added").set(Venue::kAccepted, 5);  // in one of the two slots
  ASSERT_TRUE(catalog.refresh().has_value());
  ASSERT_TRUE(query.update(catalog));
  query.collect(newer, kTwoSecondsLater);
  std::size_t rows = 0;
  for (const Row& row : newer.since(older)) {
    ++rows;
    const Value& value = *row.begin();
    if (row.name() == "added") {
      EXPECT_EQ(value.cooked.status, CookStatus::kFirstSample);
      continue;
    }
    const double index = std::stod(std::string(row.name().substr(1)));
    ASSERT_DOUBLE_EQ(value.cooked.value, index) << row.name();  // 2 * index in two seconds
  }
  EXPECT_EQ(rows, kInstances - 1);
}

// ---- Any changes ----

struct ShownRow {
  std::string path;
  std::uint64_t raw = 0;
  bool has_namesake = false, shares_name = false;

  friend bool operator==(const ShownRow&, const ShownRow&) = default;
};

std::vector<ShownRow> rows_of(Query& query) {
  Sample sample;
  EXPECT_EQ(query.collect(sample, kStart).not_fresh, 0U);
  std::vector<ShownRow> rows;
  for (const Row& row : sample) {
    for (const Value& value : row) {
      rows.push_back({value.path(), value.raw.value, row.has_namesake, row.shares_name});
    }
  }
  return rows;
}

constexpr auto kSummedCounters = [] {
  std::array counters = test::kVenueCounters;
  for (CounterSpec& counter : counters) counter.aggregate = kAggregateSum;
  return counters;
}();

CountersetSpec summed_orders() {
  CountersetSpec spec = test::kOrders;
  spec.instances = InstanceKind::kMultipleAggregate;
  spec.counters = kSummedCounters;
  return spec;
}

// Two providers of one set, with sums.
class ChangingSets {
 public:
  explicit ChangingSets(const std::string& directory) {
    for (const char* const name : {"one", "two"}) {
      providers_.push_back(
          *Provider::create({.name = name, .directory = directory, .quarantine = {}}));
      sets_.push_back(*providers_.back().add(summed_orders()));
      living_.emplace_back();
    }
    for (std::size_t index = 0; index < kSlots + 200; ++index) {
      create(0, "i" + std::to_string(index));
      if (index % 16 == 0) create(1, "i" + std::to_string(index));
    }
  }
  void create(std::size_t provider, const std::string& name) {
    auto instance = sets_[provider].create_instance(name);
    if (!instance) return;  // the name is taken
    living_[provider].push_back(std::make_unique<Instance>(*std::move(instance)));
    living_[provider].back()->set(Venue::kDepth, ++values_);
  }
  void change(std::mt19937& random) {
    const std::size_t provider = random() % 2;
    auto& living = living_[provider];
    if (random() % 2 == 0 || living.empty()) {
      // Every other name is one that the other provider has.
      create(provider, (random() % 2 == 0 ? "new" : "i") + std::to_string(random() % 5000 + 3000));
    } else {
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(random() % living.size()));
    }
  }
  // The first provider's second piece is empty then.
  void close_the_last(std::size_t count) {
    for (; count != 0; --count) living_[0].pop_back();
  }

 private:
  std::vector<Provider> providers_;
  std::vector<Registration> sets_;
  std::vector<std::vector<std::unique_ptr<Instance>>> living_;
  std::uint64_t values_ = 0;
};

TEST(UpdatedQuery, SelectsWhatANewOneDoesAfterAnyChanges) {
  const test::TemporaryDirectory directory;
  ChangingSets sets(directory.path());
  const std::vector<std::vector<std::string>> requests = {
      {},
      {"demo_orders/new*/depth"},
      {"demo_orders/*/queue_depth", "demo_orders/i1*/accepted"},
      {"demo_orders/_Total/*"},
      {"one:demo_orders/i7/queue_depth"}};
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  std::vector<Query> queries;
  for (const auto& patterns : requests) queries.push_back(*Query::compile(catalog, patterns));
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    if (round == 6) sets.close_the_last(200);
    for (int count = 0; count < 5; ++count) sets.change(random);
    ASSERT_TRUE(catalog.refresh().has_value());
    const Catalog fresh = *Catalog::open({.directory = directory.path()});
    for (std::size_t index = 0; index < queries.size(); ++index) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", request " << index);
      queries[index].update(catalog);
      auto anew = *Query::compile(fresh, requests[index]);
      ASSERT_EQ(rows_of(queries[index]), rows_of(anew));
    }
  }
}

// The provider that takes the place of another one describes the set in its own way.
TEST(UpdatedQuery, KnowsADescriptionThatReplacesAnother) {
  const test::TemporaryDirectory directory;
  const auto start = [&directory](const char* name) {
    return *Provider::create({.name = name, .directory = directory.path()});
  };
  Provider one = start("one");
  std::optional<Provider> two = start("two");
  const Registration first = *one.add(summed_orders());
  const Instance eu = *first.create_instance("eu");
  std::optional<Registration> second = *two->add(summed_orders());
  std::optional<Instance> us = *second->create_instance("us");
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  auto query = *Query::compile(catalog, {});
  us.reset();
  second.reset();
  two.reset();
  Provider three = start("three");
  std::array counters = kSummedCounters;
  counters[2].type = CounterType::kBulkCount;
  CountersetSpec other = summed_orders();
  other.counters = counters;
  const Registration third = *three.add(other);
  const Instance asia = *third.create_instance("asia");
  ASSERT_TRUE(catalog.refresh().has_value());
  ASSERT_EQ(catalog.providers().size(), 2U);
  query.update(catalog);
  auto anew = *Query::compile(catalog, {});
  EXPECT_EQ(rows_of(query), rows_of(anew));
}

TEST(Sample, FindsTheStoredWordsOfEachRow) {
  const test::TemporaryDirectory directory;
  std::vector<Provider> providers;
  std::vector<Registration> sets;
  std::vector<Instance> instances;
  for (std::size_t number = 0; number < 100; ++number) {
    providers.push_back(
        *Provider::create({.name = "p" + std::to_string(number), .directory = directory.path()}));
    sets.push_back(*providers.back().add(test::kOrders));
    for (std::size_t count = 0; count < (number == 40 ? 200 : number % 3 + 1); ++count) {
      instances.push_back(*sets.back().create_instance(std::to_string(count)));
      instances.back().set(Venue::kDepth, instances.size());
    }
  }
  const Catalog catalog = *Catalog::open({.directory = directory.path()});
  auto query = *Query::compile(catalog, {"demo_orders/*/queue_depth"});
  Sample sample;
  query.collect(sample, kStart);
  std::size_t number = 0;
  for (const Row& row : sample) {
    const Value& value = *row.begin();
    ASSERT_EQ(sample.stored(number)[value.counter->word], value.raw.value) << number;
    ++number;
  }
  EXPECT_EQ(number, instances.size());
}

}  // namespace
}  // namespace meterbank::pieces_test
