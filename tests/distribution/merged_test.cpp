// SPDX-License-Identifier: Apache-2.0
//
// Distributions from the recording to the cooked row, joined over threads, instances and providers,
// against a sorted list of all values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/temporary_directory.hpp"
#include "../support/value_kinds.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::merged_test {
namespace {

enum class Call : std::uint32_t { kLatency };

constexpr std::int32_t kFine = 4, kCoarse = 2;

constexpr CounterSpec latency(std::int32_t scale, double least, double most) {
  return {.id = 1,
          .name = "Latency",
          .symbol = "latency",
          .aggregate = kAggregateSum,
          .form = ValueForm::kDistribution,
          .buckets = {.scale = scale, .least = least, .most = most}};
}
constexpr std::array kFineCounters{latency(kFine, test::kLeastValue, test::kMostValue)};
// Another range too: the first provider describes the set, but each provider has its own words.
constexpr std::array kCoarseCounters{latency(kCoarse, test::kLeastValue / 100, test::kMostValue)};

CountersetSpec calls(std::span<const CounterSpec> counters, bool sharded) {
  return {.name = "Calls",
          .symbol = "calls",
          .guid = "{5a0f8c77-6d19-4be2-8e0c-0f6a4b1f7c33}"_guid,
          .instances = InstanceKind::kMultipleAggregate,
          .shards = sharded ? 2U : 0U,
          .sharded = sharded,
          .counters = counters};
}

void expect_quantiles(const Distribution& seen, std::vector<double> values,
                      const std::string& what) {
  std::sort(values.begin(), values.end());
  ASSERT_EQ(seen.count, values.size()) << what;
  std::uint64_t parts = seen.below + seen.above;
  for (const std::uint64_t bucket : seen.buckets) parts += bucket;
  EXPECT_EQ(parts, seen.count) << what;
  for (const double share : test::kShares) {
    const double right = test::quantile_of(values, share);
    EXPECT_NEAR(seen.quantile(share)->value, right, right * seen.error_bound() * (1 + 1e-9))
        << what << ", share " << share;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(seen.sum, sum, 1e-9 * sum) << what;
}

// One provider with two instances: as many values for each.
class RecordingProvider {
 public:
  RecordingProvider(const std::string& name, const std::string& directory,
                    std::span<const CounterSpec> counters, bool sharded)
      : provider_(*Provider::create({.name = name, .directory = directory})),
        set_(*provider_.add(calls(counters, sharded))),
        sharded_(sharded) {
    for (const char* const instance : {"one", "two"}) {
      if (sharded) {
        shared_.push_back(*set_.create_sharded_instance(instance));
      } else {
        owned_.push_back(*set_.create_instance(instance));
      }
    }
  }

  // Threads take turns with the values; there are fewer blocks than threads.
  void record(std::size_t instance, const std::vector<double>& values) {
    if (!sharded_) {
      Recorder recorder = owned_[instance].recorder(Call::kLatency);
      for (const double value : values) recorder.record(value);
      return;
    }
    constexpr std::size_t kThreads = 4;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, instance, thread, &values] {
        ShardedRecorder recorder = shared_[instance].recorder(Call::kLatency);
        for (std::size_t at = thread; at < values.size(); at += kThreads) {
          recorder.record(values[at]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  Provider provider_;
  Registration set_;
  std::vector<Instance> owned_;
  std::vector<ShardedInstance> shared_;
  bool sharded_;
};

class MergedDistributions : public testing::TestWithParam<bool> {
 protected:
  MergedDistributions() {
    providers_.push_back(
        std::make_unique<RecordingProvider>("fine", directory_.path(), kFineCounters, GetParam()));
    providers_.push_back(std::make_unique<RecordingProvider>("coarse", directory_.path(),
                                                             kCoarseCounters, GetParam()));
    catalog_.refresh();
  }
  std::vector<double> record_everywhere(const test::ValueKind& kind, std::uint64_t seed) {
    std::vector<double> all;
    for (auto& provider : providers_) {
      for (std::size_t instance = 0; instance < 2; ++instance) {
        const std::vector<double> values = kind.values(seed++, 3'000);
        provider->record(instance, values);
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  }
  Distribution seen(const std::string& path, const Sample* older = nullptr) {
    Query query = *Query::compile(catalog_, {path});
    query.collect(sample_);
    const auto rows = test::cooked_values(older, sample_);
    EXPECT_EQ(rows.size(), 1U) << path;
    if (rows.empty() || rows[0].distribution == nullptr) return {};
    return *rows[0].distribution;
  }

  test::TemporaryDirectory directory_;
  std::vector<std::unique_ptr<RecordingProvider>> providers_;
  Catalog catalog_ = *Catalog::open({.directory = directory_.path()});
  Sample sample_;
};

TEST_P(MergedDistributions, KeepTheirErrorBoundFromTheRecordingToTheRow) {
  std::uint64_t seed = 100;
  for (const test::ValueKind& kind : test::value_kinds()) {
    const test::TemporaryDirectory directory;
    for (const auto& [counters, scale] : {std::pair(std::span(kFineCounters), kFine),
                                          std::pair(std::span(kCoarseCounters), kCoarse)}) {
      RecordingProvider provider("alone" + std::to_string(scale), directory.path(), counters,
                                 GetParam());
      const std::vector<double> values = kind.values(++seed, 5'000);
      provider.record(0, values);
      const Catalog catalog = *Catalog::open({.directory = directory.path()});
      Query query = *Query::compile(catalog, {"calls/one/latency"});
      query.collect(sample_);
      const auto rows = test::cooked_values(nullptr, sample_);
      ASSERT_EQ(rows.size(), 1U);
      ASSERT_NE(rows[0].distribution, nullptr);
      EXPECT_EQ(rows[0].distribution->shape.scale, scale);
      EXPECT_EQ(rows[0].raw.value, values.size());
      expect_quantiles(*rows[0].distribution, values, kind.name);
    }
  }
}

TEST_P(MergedDistributions, KeepTheBoundOfTheCoarsestInstance) {
  std::vector<double> all;
  for (const test::ValueKind& kind : test::value_kinds()) {
    const auto more = record_everywhere(kind, all.size());
    all.insert(all.end(), more.begin(), more.end());
    const Distribution total = seen("calls/_Total/latency");
    EXPECT_EQ(total.shape.scale, kCoarse);
    expect_quantiles(total, all, "up to " + kind.name);
    EXPECT_EQ(total.least, *std::min_element(all.begin(), all.end()));
    EXPECT_EQ(total.most, *std::max_element(all.begin(), all.end()));
  }
}

// Each kind after the others: what the row says of the interval is about this kind alone.
TEST_P(MergedDistributions, KeepTheBoundOverAnInterval) {
  Query query = *Query::compile(catalog_, {"calls/_Total/latency"});
  std::uint64_t seed = 1;
  for (const test::ValueKind& kind : test::value_kinds()) {
    Sample before, after;
    query.collect(before);
    const std::vector<double> between = record_everywhere(kind, seed += 10);
    query.collect(after);
    const auto rows = test::cooked_values(&before, after);
    ASSERT_EQ(rows.size(), 1U);
    ASSERT_NE(rows[0].distribution, nullptr);
    const Distribution& seen = *rows[0].distribution;
    ASSERT_EQ(seen.count, between.size()) << kind.name;
    std::vector<double> sorted = between;
    std::sort(sorted.begin(), sorted.end());
    for (const double share : test::kShares) {
      const double right = test::quantile_of(sorted, share);
      EXPECT_NEAR(seen.quantile(share)->value, right, right * seen.error_bound() * (1 + 1e-9))
          << kind.name << ", share " << share;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfOneThreadAndOfMany, MergedDistributions, testing::Bool(),
                         [](const auto& made) { return made.param ? "Many" : "One"; });

}  // namespace
}  // namespace meterbank::merged_test
