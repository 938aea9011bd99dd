// SPDX-License-Identifier: Apache-2.0
//
// A provider with one sharded set, and a reader of it in the same process.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../support/depth.hpp"
#include "../support/sample_words.hpp"
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
inline constexpr CountersetSpec kJobs{.name = "Jobs",
                                      .symbol = "jobs",
                                      .label = "queue",
                                      .sharded = true,
                                      .by_processor = true,
                                      .counters = kJobCounters};

inline CountersetSpec jobs(Consistency consistency, std::uint32_t shards = 0) {
  CountersetSpec spec = kJobs;
  spec.consistency = consistency;
  spec.shards = shards;
  return spec;
}

// Whose the blocks are.
enum class Blocks { kOfThreads, kOfProcessors };

struct Form {
  Consistency consistency;
  Blocks blocks;
};

inline std::string name_of_form(const testing::TestParamInfo<Form>& made) {
  const std::string blocks = made.param.blocks == Blocks::kOfThreads ? "" : "OfProcessors";
  return (made.param.consistency == Consistency::kBlock ? "Block" : "Independent") + blocks;
}
inline auto all_forms() {
  return testing::Values(Form{Consistency::kBlock, Blocks::kOfThreads},
                         Form{Consistency::kIndependent, Blocks::kOfThreads},
                         Form{Consistency::kBlock, Blocks::kOfProcessors},
                         Form{Consistency::kIndependent, Blocks::kOfProcessors});
}

inline std::uint32_t processors() {
  return static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

// While it lives, registrations in this process prefer these blocks.
class Preferring {
 public:
  explicit Preferring(Blocks blocks) {
    ::setenv("METERBANK_RSEQ", blocks == Blocks::kOfThreads ? "0" : "1", 1);
  }
  Preferring(const Preferring&) = delete;
  Preferring& operator=(const Preferring&) = delete;
  ~Preferring() { ::unsetenv("METERBANK_RSEQ"); }
};

inline bool has_sequences() {
  const Preferring processors(Blocks::kOfProcessors);
  return detail::rseq_area() != 0;
}

// A test of each form. That of processors is skipped where there are no restartable sequences.
class FormTest : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (GetParam().blocks == Blocks::kOfProcessors && !has_sequences()) GTEST_SKIP();
  }
  [[nodiscard]] static bool is_block() { return GetParam().consistency == Consistency::kBlock; }
  // Whether more threads than blocks have to share.
  [[nodiscard]] static bool is_of_threads() { return GetParam().blocks == Blocks::kOfThreads; }
};

class ShardedSet {
 public:
  explicit ShardedSet(const CountersetSpec& spec, ProviderOptions options = {.name = "jobs"})
      : provider_(*Provider::create(here(std::move(options), directory_.path()))),
        set_(*provider_.add(spec)),
        catalog_(*Catalog::open({.directory = directory_.path()})) {}
  // At least as many shards as asked for, as the form needs.
  explicit ShardedSet(const Form& form, std::uint32_t shards = 0,
                      ProviderOptions options = {.name = "jobs"})
      : ShardedSet(jobs(form.consistency, enough(form, shards)), Preferring(form.blocks),
                   std::move(options)) {}

  [[nodiscard]] Provider& provider() noexcept { return provider_; }
  [[nodiscard]] Registration& set() noexcept { return set_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_.path(); }
  [[nodiscard]] ShardedInstance create(std::string_view name) const {
    return *set_.create_sharded_instance(name);
  }

  // Adapts to the instances there are; each collect() then reads the same ones.
  void look() {
    catalog_.refresh();
    if (!query_) query_.emplace(*Query::compile(catalog_, {"jobs/*/*"}));
    query_->update(catalog_);
    collect();
  }
  CollectSummary collect(Cut cut = Cut::kNone) {
    return query_->collect(sample_, Timestamp{}, cut);
  }
  [[nodiscard]] std::size_t rows() const { return content_of(sample_).status.size(); }
  [[nodiscard]] std::uint64_t value(Job counter, std::size_t row = 0) const {
    return content_of(sample_).row(row)[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] RowStatus status(std::size_t row = 0) const {
    return content_of(sample_).status[row];
  }
  [[nodiscard]] RowConsistency consistency(std::size_t row = 0) const {
    return content_of(sample_).consistency[row];
  }

 private:
  ShardedSet(const CountersetSpec& spec, const Preferring&, ProviderOptions options)
      : ShardedSet(spec, std::move(options)) {}
  static std::uint32_t enough(const Form& form, std::uint32_t shards) {
    if (form.blocks == Blocks::kOfThreads) return shards;
    return std::max(shards == 0 ? 4 : shards, processors());
  }
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
