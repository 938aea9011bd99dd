// SPDX-License-Identifier: Apache-2.0
//
// Providers that keep to every rule and publish as much as they may.
#include <memory>
#include <string>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

// A specification with texts of its own.
struct WideSet {
  std::vector<std::string> texts;
  std::vector<CounterSpec> counters;
  std::string name, symbol;

  WideSet(const std::string& word, std::uint32_t count, CounterSpec like = kLevelCounters[0])
      : name("Wide " + word), symbol("wide_" + word) {
    texts.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      texts.push_back("c" + std::to_string(i));
      like.id = i + 1;
      like.name = texts.back();
      like.symbol = texts.back();
      counters.push_back(like);
    }
  }
  [[nodiscard]] CountersetSpec spec() const {
    return {.name = name, .symbol = symbol, .counters = counters};
  }
};

Provider big_provider(const Stage& stage, std::uint64_t mebibytes = 63) {
  return *Provider::create({.name = std::string(kAttackerName),
                            .directory = stage.directory(),
                            .bytes_max = mebibytes << 20,
                            .instances_max = 1'000'000,
                            .registrations_max = kRegistrationsMax});
}

// As many rows as are wanted, or as there is room for.
[[noreturn]] void with_rows(const Stage& stage, const std::vector<CountersetSpec>& specs,
                            int rows_of_each, std::uint64_t mebibytes = 63) {
  Provider provider = big_provider(stage, mebibytes);
  std::vector<Instance> rows;
  for (const CountersetSpec& spec : specs) {
    const auto set = provider.add(spec);
    for (int i = 0; set && i < rows_of_each; ++i) {
      auto row = set->create_instance("row" + std::to_string(i));
      if (!row) break;
      rows.push_back(*std::move(row));
    }
  }
  stage.hold();
}

constexpr std::array kAttacks{
    Attack{"eight_sets_of_4096_counters", "As many counters as a set may have, eight times.",
           [](const Stage& stage) {
             std::vector<std::unique_ptr<WideSet>> sets;
             std::vector<CountersetSpec> specs;
             for (int i = 0; i < 8; ++i) {
               sets.push_back(std::make_unique<WideSet>(std::to_string(i), kCountersMax));
               specs.push_back(sets.back()->spec());
             }
             with_rows(stage, specs, 1);
           },
           "rows>"},
    Attack{"sets_in_all_places", "256 sets of three rows.",
           [](const Stage& stage) {
             std::vector<std::unique_ptr<WideSet>> sets;
             std::vector<CountersetSpec> specs;
             for (std::uint32_t i = 0; i < kRegistrationsMax; ++i) {
               sets.push_back(std::make_unique<WideSet>(std::to_string(i), 2));
               specs.push_back(sets.back()->spec());
             }
             with_rows(stage, specs, 3);
           },
           "rows>"},
    Attack{"rows_by_the_ten_thousand", "20,000 rows in tiles.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.many = true;
             spec.checkpoint = false;
             with_rows(stage, {spec}, 20'000);
           },
           "rows>"},
    Attack{"a_full_segment", "Rows of 40 counters until 16 MiB are full.",
           [](const Stage& stage) {
             const WideSet wide("rows", 40);
             with_rows(stage, {wide.spec()}, 1'000'000, 16);
           },
           "rows>|error=", Place::kOwnDirectory, 0, 16 << 20},
    Attack{"shards_by_the_thousand", "A row of 1,024 shards.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.shards = 1024;
             Provider provider = big_provider(stage);
             const Registration set = *provider.add(spec);
             ShardedInstance row = *set.create_sharded_instance("row");
             row.add(Level::kCount, 1);
             stage.hold();
           },
           "rows>"},
    Attack{"distributions_of_2048_buckets", "200 rows of the widest distribution there is.",
           [](const Stage& stage) {
             CounterSpec like = kLevelCounters[1];
             like.form = ValueForm::kDistribution;
             like.aggregate = kAggregateUndefined;
             like.buckets = {.scale = 5, .least = 1, .most = 9e18};
             const WideSet wide("buckets", 1, like);
             with_rows(stage, {wide.spec()}, 200);
           },
           "rows>"},
};

}  // namespace

Attacks size_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
