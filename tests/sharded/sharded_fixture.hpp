// SPDX-License-Identifier: Apache-2.0
//
// A provider with one sharded set, and a reader of it in the same process.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {

// What threads count of jobs: a transaction takes one and adds twice as much to twice.
enum class Job { kDone, kTwice, kLongest, kShortest, kOpen };

inline constexpr CounterSpec kJobCounters[] = {
    {.id = 1, .name = "Done/sec", .symbol = "done"},
    {.id = 2, .name = "Twice/sec", .symbol = "twice"},
    {.id = 3,
     .name = "Longest",
     .symbol = "longest",
     .type = CounterType::kLargeRawCount,
     .aggregate = kAggregateMaximum},
    {.id = 4,
     .name = "Shortest",
     .symbol = "shortest",
     .type = CounterType::kLargeRawCount,
     .aggregate = kAggregateMinimum},
    {.id = 5,
     .name = "Open",
     .symbol = "open",
     .type = CounterType::kLargeRawCount,
     .aggregate = kAggregateSum},
};
inline constexpr CountersetSpec kJobs{
    .name = "Jobs", .symbol = "jobs", .label = "queue", .sharded = true, .counters = kJobCounters};

inline CountersetSpec jobs(Consistency consistency, std::uint32_t shards = 0) {
  CountersetSpec spec = kJobs;
  spec.consistency = consistency;
  spec.shards = shards;
  return spec;
}

inline bool runs_long() {
  const char* text = std::getenv("METERBANK_LONG");
  return text != nullptr && *text != '\0' && *text != '0';
}

class ShardedSet {
 public:
  explicit ShardedSet(const CountersetSpec& spec, ProviderOptions options = {.name = "jobs"})
      : provider_(*Provider::create(here(std::move(options), directory_.path()))),
        set_(*provider_.add(spec)),
        catalog_(*Catalog::open({.directory = directory_.path()})) {}

  [[nodiscard]] Provider& provider() noexcept { return provider_; }
  [[nodiscard]] Registration& set() noexcept { return set_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_.path(); }
  [[nodiscard]] ShardedInstance create(std::string_view name) const {
    return *set_.create_sharded_instance(name);
  }

  // Adapts to the instances there are; collect() then reads the same ones again and again.
  void look() {
    catalog_.refresh();
    if (!query_) query_.emplace(*Query::compile(catalog_, {"jobs/*/*"}));
    query_->update(catalog_);
    collect();
  }
  CollectSummary collect(Cut cut = Cut::kNone) {
    return query_->collect(sample_, Timestamp{}, cut);
  }
  [[nodiscard]] std::size_t rows() const { return sample_.status.size(); }
  [[nodiscard]] std::uint64_t value(Job counter, std::size_t row = 0) const {
    return sample_.row(row)[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] RowStatus status(std::size_t row = 0) const { return sample_.status[row]; }
  [[nodiscard]] RowConsistency consistency(std::size_t row = 0) const {
    return sample_.consistency[row];
  }

 private:
  static ProviderOptions here(ProviderOptions options, const std::string& directory) {
    options.directory = directory;
    return options;
  }

  TemporaryDirectory directory_;
  Provider provider_;
  Registration set_;
  Catalog catalog_;
  std::optional<Query> query_;
  Sample sample_;
};

}  // namespace meterbank::test
