// SPDX-License-Identifier: Apache-2.0
//
// Every allocation of every public function fails once, alone and with all that follow it.
// Functions that return a Result report it, others throw what their headers say, C functions return
// a code; what comes after a failure works, and gives what it would have given without.
#include <gtest/gtest.h>
#include <perflib.h>
#include <stdlib.h>

#include <array>
#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../support/allocation_count.hpp"
#include "../support/cooked_values.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using test::FailingAllocations;

enum class Came : std::uint8_t { kWorked, kReported, kThrew };

// How a call ended of which an allocation fails.
Came outcome_of(const std::function<bool()>& call) {
  try {
    return call() ? Came::kWorked : Came::kReported;
  } catch (const std::bad_alloc&) {
    return Came::kThrew;
  }
}

// Makes the call with its first allocation failing, with its second one, and so on, until none
// fails; `prepare` comes before each. `expected` is how a failure may end, "worked" always may:
// some memory is not needed. Returns how many allocations failed.
template <typename Prepare>
std::size_t fail_each(Came expected, Prepare&& prepare, const std::function<bool()>& call,
                      std::size_t count) {
  for (std::size_t passing = 0;; ++passing) {
    prepare();
    Came came = Came::kWorked;
    std::size_t failed = 0;
    {
      const FailingAllocations failing(passing, count);
      came = outcome_of(call);
      failed = failing.failed();
    }
    if (failed == 0) {
      EXPECT_EQ(came, Came::kWorked) << "without a failure";
      return passing;
    }
    EXPECT_TRUE(came == expected || came == Came::kWorked)
        << "allocation " << passing << " failed, and the call "
        << (came == Came::kThrew ? "threw" : "reported");
    if (testing::Test::HasFailure()) return passing;
  }
}

class NoMemory : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    provider_.emplace(*Provider::create({.name = "orders", .directory = directory_.path()}));
    orders_ = *provider_->add(test::kOrders);
    eu_ = *orders_.create_instance("eu");
    eu_.add(test::Venue::kAccepted, 5);
  }
  template <typename Prepare>
  void expect_reported(Prepare&& prepare, const std::function<bool()>& call) {
    EXPECT_GT(fail_each(Came::kReported, prepare, call, GetParam()), 0U);
  }
  template <typename Prepare>
  void expect_thrown(Prepare&& prepare, const std::function<bool()>& call) {
    EXPECT_GT(fail_each(Came::kThrew, prepare, call, GetParam()), 0U);
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }

  // All rows of the catalog as text.
  template <typename AnyQuery>
  static std::vector<std::string> rows_of(AnyQuery& query) {
    Sample sample;
    query.collect(sample, Timestamp{});
    std::vector<std::string> rows;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      rows.push_back(row.path() + " " + std::to_string(row.raw.value) + " " +
                     std::string(name_of(row.status())));
    }
    return rows;
  }
  static std::vector<std::string> rows_of_all(const Catalog& catalog) {
    Query query = *Query::compile(catalog, {});
    return rows_of(query);
  }
  void expect_as_fresh(Query& query) { EXPECT_EQ(rows_of(query), rows_of_all(open())); }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  Registration orders_;
  Instance eu_;
};

INSTANTIATE_TEST_SUITE_P(OfOneAndOfAll, NoMemory, testing::Values(std::size_t{1}, test::kAllOthers),
                         [](const auto& made) {
                           return made.param == 1 ? "OneAllocation" : "AllThatFollow";
                         });

const auto kNothing = [] {};

std::size_t count_values(const Row& row) {
  std::size_t values = 0;
  for ([[maybe_unused]] const Value& value : row) ++values;
  return values;
}

TEST_P(NoMemory, IsReportedByOpen) {
  std::optional<Catalog> catalog;
  CatalogOptions options;
  expect_reported([&] { options = {.directory = directory_.path()}; },
                  [&] {
                    auto opened = Catalog::open(std::move(options));
                    if (opened) catalog.emplace(std::move(*opened));
                    return opened.has_value();
                  });
  EXPECT_EQ(rows_of_all(*catalog), rows_of_all(open()));
}

TEST_P(NoMemory, IsReportedByRefreshWhichCanBeCalledAgain) {
  Catalog catalog = open();
  std::vector<Instance> more;
  expect_reported(
      [&] {
        more.push_back(*orders_.create_instance("more" + std::to_string(more.size())));
        // A failure leaves what was there usable.
        EXPECT_FALSE(rows_of_all(catalog).empty());
      },
      [&] { return catalog.refresh().has_value(); });
  ASSERT_TRUE(catalog.refresh());
  EXPECT_EQ(rows_of_all(catalog), rows_of_all(open()));
}

TEST_P(NoMemory, DoesNotKeepANewProviderFromBeingFoundLater) {
  std::optional<Catalog> catalog;
  std::optional<Provider> other;
  expect_reported(
      [&] {
        other.reset();
        catalog.emplace(open());
        other.emplace(*Provider::create({.name = "other", .directory = directory_.path()}));
      },
      [&] {
        if (catalog->refresh()) return true;
        EXPECT_EQ(catalog->providers().size(), 1U);
        return false;
      });
  EXPECT_EQ(catalog->providers().size(), 2U);
}

TEST_P(NoMemory, IsReportedByCompile) {
  const Catalog catalog = open();
  const std::vector<std::string> patterns{"demo_orders/*/accepted", "\\Demo Orders(eu)\\Bytes/sec",
                                          "no/such/set"};
  const std::vector<std::string> excluded{"*/bytes"};
  std::optional<Query> query;
  expect_reported(kNothing, [&] {
    auto compiled = Query::compile(catalog, patterns, excluded);
    if (compiled) query.emplace(std::move(*compiled));
    return compiled.has_value();
  });
  EXPECT_EQ(rows_of(*query).size(), 1U);
}

TEST_P(NoMemory, IsThrownByUpdateWhichCanBeCalledAgain) {
  Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  std::vector<Instance> more;
  std::size_t before = 0;
  expect_thrown(
      [&] {
        more.push_back(*orders_.create_instance("more" + std::to_string(more.size())));
        ASSERT_TRUE(catalog.refresh());
        before = rows_of(query).size();
        EXPECT_GT(before, 0U);
      },
      [&] {
        query.update(catalog);
        return true;
      });
  query.update(catalog);
  expect_as_fresh(query);
}

TEST_P(NoMemory, IsThrownByQueriesOfItems) {
  const Catalog catalog = open();
  std::optional<ItemQuery> query;
  expect_thrown(kNothing, [&] {
    query.emplace(ItemQuery::compile(catalog, {{.set = test::kOrders.guid}}));
    return true;
  });
  expect_thrown([&] { EXPECT_EQ(query->items().size(), 1U); },
                [&] {
                  query->replace(catalog, {{.set = test::kOrders.guid, .counter_id = 1}});
                  return true;
                });
  EXPECT_EQ(rows_of(*query).size(), 1U);
}

TEST_P(NoMemory, IsReportedByCollectAndLeavesAnEmptySample) {
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  Sample sample;
  expect_reported([&] { sample = Sample(); },
                  [&] {
                    const CollectSummary summary = query.collect(sample, Timestamp{}, Cut::kTry);
                    EXPECT_EQ(summary.no_memory, sample.empty());
                    EXPECT_EQ(summary.rows == 0, summary.no_memory);
                    return !summary.no_memory;
                  });
  EXPECT_EQ(test::cooked_values(nullptr, sample).size(), 3U);
}

TEST_P(NoMemory, IsNothingThatCollectIntoAPreparedSampleEverMeets) {
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  Sample sample;
  query.prepare(sample);
  const FailingAllocations failing(0);
  for (const Cut cut : {Cut::kNone, Cut::kTry, Cut::kEpoch}) {
    EXPECT_EQ(query.collect(sample, Timestamp{}, cut).rows, 1U);
  }
  EXPECT_EQ(failing.failed(), 0U);
}

TEST_P(NoMemory, IsReportedByCollectIntoACopyOfAPreparedSample) {
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  Sample sample;
  query.prepare(sample);
  Sample copy;
  expect_reported([&] { copy = sample; },
                  [&] { return !query.collect(copy, Timestamp{}, Cut::kTry).no_memory; });
}

TEST_P(NoMemory, IsThrownByCook) {
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  Sample sample;
  query.collect(sample, Timestamp{});
  std::size_t rows = 0;
  expect_thrown(kNothing, [&] {
    rows = test::cooked_values(nullptr, sample).size();
    return true;
  });
  EXPECT_EQ(rows, 3U);
}

TEST_P(NoMemory, IsNothingThatNumbersMeetWhenTheyAreCookedOneByOne) {
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {});
  Sample older, newer;
  query.collect(older, Timestamp{1, 1});
  query.collect(newer, Timestamp{2, 2});
  std::size_t rows = 0;
  const FailingAllocations failing(0);
  for (const Row& row : newer.since(older)) rows += count_values(row);
  EXPECT_EQ(failing.failed(), 0U);
  EXPECT_EQ(rows, 3U);
}

TEST_P(NoMemory, IsThrownByAskingWhichCanBeDoneAgain) {
  const Registration waves =
      *provider_->add(test::kWaves, [](CallbackRequest& request) -> std::uint32_t {
        static_cast<void>(request.add("red", 3, std::array<std::uint64_t, 4>{1, 2, 3, 4}));
        return 0;
      });
  const Catalog catalog = open();
  std::optional<Query> query;
  expect_thrown([&] { query.emplace(*Query::compile(catalog, {"waves"})); },
                [&] {
                  query->enumerate(std::chrono::seconds(5));
                  return true;
                });
  Sample sample;
  expect_thrown([&] { query.emplace(*Query::compile(catalog, {"waves"})); },
                [&] {
                  query->collect(sample, std::chrono::seconds(5));
                  return true;
                });
}

TEST_P(NoMemory, IsReportedByProviderCreateWhichLeavesNothingBehind) {
  test::TemporaryDirectory elsewhere;
  std::optional<Provider> provider;
  ProviderOptions options;
  expect_reported(
      [&] {
        provider.reset();
        options = {.name = "orders", .directory = elsewhere.path()};
        EXPECT_TRUE((*Catalog::open({.directory = elsewhere.path()})).providers().empty());
      },
      [&] {
        auto created = Provider::create(std::move(options));
        if (created) provider.emplace(std::move(*created));
        return created.has_value();
      });
  EXPECT_TRUE(provider->add(test::kOrders));
}

TEST_P(NoMemory, LeavesCreateOrDisabledDisabled) {
  std::optional<Provider> provider;
  ProviderOptions options;
  expect_reported([&] { options = {.name = "orders", .directory = directory_.path()}; },
                  [&] {
                    provider.emplace(Provider::create_or_disabled(std::move(options)));
                    return !provider->is_disabled();
                  });
}

TEST_P(NoMemory, IsReportedByAddWhichCanBeCalledAgain) {
  std::optional<Registration> added;
  expect_reported(kNothing, [&] {
    auto registration = provider_->add(test::kTide);
    if (registration) added.emplace(std::move(*registration));
    return registration.has_value();
  });
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->sets.size(), 2U);
  EXPECT_TRUE(catalog.providers().front()->errors.empty());
  EXPECT_TRUE(added->create_instance(""));
}

TEST_P(NoMemory, IsReportedByCreateInstanceWhichCanBeCalledAgain) {
  std::vector<Instance> created;
  created.reserve(2);  // what fails is to be the library's
  for (const std::string& name : {std::string("us"), std::string(300, 'n')}) {
    expect_reported(kNothing, [&] {
      auto instance = orders_.create_instance(name);
      if (instance) created.push_back(std::move(*instance));
      return instance.has_value();
    });
  }
  const Catalog catalog = open();
  EXPECT_EQ(catalog.providers().front()->sets.front().instances.size(), 3U);
  EXPECT_TRUE(catalog.providers().front()->errors.empty());
}

TEST_P(NoMemory, IsReportedByCreateShardedInstanceWhichCanBeCalledAgain) {
  CountersetSpec spec = test::kOrders;
  spec.name = "Sharded Orders";
  spec.symbol = "sharded_orders";
  spec.guid = {};
  spec.shards = 2;
  spec.counters = std::span(test::kVenueCounters).first(2);
  const auto added = provider_->add(spec);
  ASSERT_TRUE(added) << added.error().message();
  const Registration waves = *added;
  std::optional<ShardedInstance> created;
  expect_reported(kNothing, [&] {
    auto instance = waves.create_sharded_instance("red");
    if (instance) created.emplace(std::move(*instance));
    return instance.has_value();
  });
  EXPECT_TRUE(waves.find_sharded("red"));
}

TEST_P(NoMemory, IsReportedByThePathFunctions) {
  expect_reported(kNothing,
                  [] { return parse_path("a_rather_long_set/instance/counter").has_value(); });
  const CounterPath path = *parse_path("\\A Rather Long Counterset Name(instance)\\Counter");
  expect_reported(kNothing, [&] { return print_windows(path).has_value(); });
}

// The functions for programs written for Windows return a code.
class NoMemoryInPerfLib : public NoMemory {
 protected:
  void SetUp() override {
    NoMemory::SetUp();
    ::setenv("METERBANK_DIR", directory_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("METERBANK_DIR"); }
};

INSTANTIATE_TEST_SUITE_P(OfOneAndOfAll, NoMemoryInPerfLib,
                         testing::Values(std::size_t{1}, test::kAllOthers), [](const auto& made) {
                           return made.param == 1 ? "OneAllocation" : "AllThatFollow";
                         });

TEST_P(NoMemoryInPerfLib, IsACodeOfEveryFunction) {
  std::array<GUID, 4> sets;
  DWORD count = 0;
  expect_reported(kNothing, [&] {
    return PerfEnumerateCounterSet(nullptr, sets.data(), sets.size(), &count) == ERROR_SUCCESS;
  });
  EXPECT_EQ(count, 1U);
  std::array<std::uint64_t, 512> block;
  DWORD bytes = 0;
  expect_reported(kNothing, [&] {
    return PerfEnumerateCounterSetInstances(nullptr, sets.data(),
                                            reinterpret_cast<PPERF_INSTANCE_HEADER>(block.data()),
                                            sizeof block, &bytes) == ERROR_SUCCESS;
  });
  HANDLE query = nullptr;
  expect_reported(kNothing, [&] { return PerfOpenQueryHandle(nullptr, &query) == ERROR_SUCCESS; });
  struct {
    PERF_COUNTER_IDENTIFIER identifier;
    std::array<wchar_t, 4> name;
  } all{};
  all.identifier.CounterSetGuid = sets.front();
  all.identifier.Size = sizeof all;
  all.identifier.CounterId = PERF_WILDCARD_COUNTER;
  all.identifier.InstanceId = 0xffffffff;
  all.name[0] = L'*';
  // Adding works even where the look for new providers found no memory.
  expect_reported(
      [&] { PerfDeleteCounters(query, &all.identifier, sizeof all); },
      [&] { return PerfAddCounters(query, &all.identifier, sizeof all) == ERROR_SUCCESS; });
  // The first time it looks at what was added; later it allocates nothing.
  union {
    PERF_DATA_HEADER header;
    std::array<std::byte, 4096> bytes;
  } data{};
  fail_each(
      Came::kReported, kNothing,
      [&] {
        return PerfQueryCounterData(query, &data.header, sizeof data, &bytes) == ERROR_SUCCESS;
      },
      GetParam());
  EXPECT_EQ(data.header.dwNumCounters, 1U);
  fail_each(
      Came::kReported, [&] { PerfAddCounters(query, &all.identifier, sizeof all); },
      [&] { return PerfDeleteCounters(query, &all.identifier, sizeof all) == ERROR_SUCCESS; },
      GetParam());
  EXPECT_EQ(PerfCloseQueryHandle(query), ULONG{ERROR_SUCCESS});
}

// Controls: a call that throws where it should report is found, and one that breaks what it works
// on would be found by what follows.
TEST(NoMemoryControl, FindsAFunctionThatThrows) {
  std::vector<int> kept;
  const auto grows = [&kept] {
    kept.push_back(1);
    return true;
  };
  const auto prepare = [&kept] { std::vector<int>().swap(kept); };
  EXPECT_EQ(fail_each(Came::kThrew, prepare, grows, 1), 1U);
  {
    prepare();
    const FailingAllocations failing(0);
    EXPECT_EQ(outcome_of(grows), Came::kThrew);
    EXPECT_EQ(failing.failed(), 1U);
  }
  EXPECT_TRUE(grows());
}

}  // namespace
}  // namespace meterbank
