// SPDX-License-Identifier: Apache-2.0
//
// What may be sharded, and who may do what with it.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "../support/orders_schema.hpp"
#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Job;
using test::ShardedSet;

Error refusal_of(const CountersetSpec& spec) {
  auto schema = encode_schema(spec, "jobs");
  return schema ? Error{} : schema.error();
}

CountersetSpec with_counter(std::array<CounterSpec, 1>& counters, CounterType type,
                            std::uint32_t aggregate) {
  counters[0] = {.id = 1, .name = "X", .symbol = "x", .type = type, .aggregate = aggregate};
  CountersetSpec spec = test::kJobs;
  spec.counters = counters;
  return spec;
}

TEST(ShardedSchema, RefusesGaugesWithoutARuleToJoinThem) {
  std::array<CounterSpec, 1> counters;
  for (const CounterType type :
       {CounterType::kRawCount, CounterType::kLargeRawCount, CounterType::kElapsedTime,
        CounterType::kLargeRawFraction, CounterType::kLargeRawBase}) {
    for (const std::uint32_t aggregate : {kAggregateUndefined, kAggregateAverage}) {
      const Error error = refusal_of(with_counter(counters, type, aggregate));
      EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << name_of(type);
      EXPECT_NE(error.what.find("is set, not counted"), std::string::npos) << error.what;
      EXPECT_NE(error.remedy.find("CounterSpec::aggregate"), std::string::npos) << error.remedy;
    }
    for (const std::uint32_t aggregate : {kAggregateSum, kAggregateMinimum, kAggregateMaximum}) {
      EXPECT_EQ(refusal_of(with_counter(counters, type, aggregate)).what, "") << name_of(type);
    }
  }
}

TEST(ShardedSchema, AcceptsCountedValues) {
  std::array<CounterSpec, 1> counters;
  for (const CounterType type :
       {CounterType::kBulkCount, CounterType::kCounter, CounterType::kLargeDelta,
        CounterType::kTimer100Ns, CounterType::kAverageBulk, CounterType::kAverageBase}) {
    EXPECT_EQ(refusal_of(with_counter(counters, type, kAggregateUndefined)).what, "")
        << name_of(type);
  }
}

TEST(ShardedSchema, RefusesStampsManyInstancesAndTooManyShards) {
  CountersetSpec stamped = test::kJobs;
  stamped.stamped = true;
  EXPECT_NE(refusal_of(stamped).what.find("stamped"), std::string::npos);
  CountersetSpec many = test::kJobs;
  many.many = true;
  EXPECT_NE(refusal_of(many).what.find("many"), std::string::npos);
  CountersetSpec wide = test::kJobs;
  wide.shards = kShardsMax;
  EXPECT_NE(refusal_of(wide).what.find("1025 shards"), std::string::npos);
  wide.shards = kShardsMax - 1;
  EXPECT_EQ(refusal_of(wide).what, "");
}

TEST(ShardedSchema, HasOneMoreBlockThanThreadsThatOwnOne) {
  CountersetSpec spec = test::kJobs;
  spec.sharded = false;
  EXPECT_EQ(form_of(spec).shards, 1U);
  spec.shards = 6;
  EXPECT_EQ(form_of(spec).shards, 7U);
  const std::uint32_t chosen = form_of(test::kJobs).shards - 1;
  EXPECT_GE(chosen, 4U);
  EXPECT_LE(chosen, 64U);
}

TEST(ShardedSets, HaveShardedInstancesOnlyAndOthersHaveNone) {
  ShardedSet jobs(test::kJobs);
  const auto plain = jobs.set().create_instance("a");
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(plain.error().remedy, "create_sharded_instance()");
  const auto orders = *jobs.provider().add(test::kOrders);
  const auto sharded = orders.create_sharded_instance("a");
  ASSERT_FALSE(sharded);
  EXPECT_EQ(sharded.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(sharded.error().what.find("not sharded"), std::string::npos);

  const ShardedInstance queue = jobs.create("a");
  const Instance venue = *orders.create_instance("a");
  EXPECT_TRUE(jobs.set().find_sharded("A"));
  EXPECT_FALSE(jobs.set().find("a"));
  EXPECT_TRUE(orders.find("a"));
  EXPECT_FALSE(orders.find_sharded("a"));
}

TEST(ShardedSets, RefuseWhatOtherSetsRefuse) {
  ShardedSet jobs(test::kJobs);
  const ShardedInstance queue = jobs.create("a");
  EXPECT_EQ(jobs.set().create_sharded_instance("A").error().code, ErrorCode::kExists);
  EXPECT_EQ(jobs.set().create_sharded_instance("").error().code, ErrorCode::kBadName);
  EXPECT_EQ(jobs.set().create_sharded_instance("b", {.id = queue.id()}).error().code,
            ErrorCode::kExists);
  EXPECT_EQ(jobs.set().create_sharded_instance("c", {.id = 77})->id(), 77U);
}

TEST(ShardedSets, LieInPairsOfLinesOfTheirOwn) {
  const ShardedSet jobs(test::kJobs);
  const BlockForm form = form_of(test::kJobs);
  EXPECT_EQ(form.head_stride() % kLinePair, 0U);
  EXPECT_EQ(form.second_stride() % kLinePair, 0U);
  EXPECT_EQ(form.checkpoint_stride() % kLinePair, 0U);
}

TEST(ShardedInstances, CountIntoNothingWithoutAProviderAndAfterClosing) {
  ShardedInstance nowhere;
  nowhere.add(Job::kDone, 1);
  nowhere.update([](ShardValues& values) { values.add(Job::kTwice, 1); });
  nowhere.counter(Job::kDone).increment();
  EXPECT_EQ(nowhere.id(), kAnyInstanceId);

  ShardedSet jobs(test::kJobs, {.name = "jobs", .quarantine = std::chrono::milliseconds(0)});
  ShardedInstance queue = jobs.create("a");
  ShardedCounter held = queue.counter(Job::kDone);
  queue.close();
  queue.close();
  queue.add(Job::kDone, 1);
  for (int round = 0; round < 100; ++round) {
    const ShardedInstance next = jobs.create("next");
    held.increment();
    jobs.look();
    ASSERT_EQ(jobs.value(Job::kDone), 0U);
    ASSERT_EQ(jobs.rows(), 1U);
  }
}

TEST(ShardedInstances, AreNotOpenedAgainByAThreadThatCountsLate) {
  ShardedSet jobs(test::kJobs);
  ShardedInstance queue = jobs.create("a");
  ShardedCounter held = queue.counter(Job::kDone);
  held.increment();
  jobs.look();
  queue.close();
  held.increment();
  std::thread([&held] { held.increment(); }).join();
  jobs.collect();
  EXPECT_EQ(jobs.status(), RowStatus::kClosed);
}

TEST(ShardedInstances, CountIntoNothingInAForkedChild) {
  for (const Consistency consistency : {Consistency::kBlock, Consistency::kIndependent}) {
    ShardedSet jobs(test::jobs(consistency));
    ShardedInstance queue = jobs.create("a");
    ShardedCounter done = queue.counter(Job::kDone);
    queue.add(Job::kDone, 5);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 10'000; ++i) {
        queue.add(Job::kDone, 1);
        done.add(1);
        queue.update([](ShardValues& values) { values.add(Job::kDone, 1); });
      }
      const bool refused =
          jobs.set().create_sharded_instance("b").error().code == ErrorCode::kForked;
      ::_exit(refused && !jobs.set().find_sharded("a") ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    jobs.look();
    EXPECT_EQ(jobs.value(Job::kDone), 5U);
  }
}

}  // namespace
}  // namespace meterbank
