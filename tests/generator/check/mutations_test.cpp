// SPDX-License-Identifier: Apache-2.0
//
// check() against the library that it speaks for: manifests that were good, with a few values
// changed at random.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "generator/manifest/words.hpp"
#include "parsed.hpp"

namespace meterbank::generator {
namespace {

constexpr std::string_view kGood = R"(
[provider]
name = "orders"

[[counterset]]
name = "Demo Orders"
symbol = "demo_orders"

[[counterset.counter]]
id = 1
name = "Accepted/sec"
symbol = "accepted"

[[counterset.counter]]
id = 2
name = "Mean Size"
type = "average_bulk"
base = 3

[[counterset.counter]]
id = 3
type = "average_base"

[[counterset.counter]]
id = 4
name = "Latency"
type = "histogram"
buckets = {least = 1e-6, most = 10}

[[counterset.counter]]
id = 5
name = "State"
type = "text"
text_bytes = 16

[[counterset]]
name = "Counts"
consistency = "independent"

[[counterset.counter]]
id = 1
name = "Errors"
any_thread = true

[[counterset.counter]]
id = 2
name = "Depth"
type = "large_rawcount"
)";

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  void change(Manifest& manifest) {
    for (std::uint32_t left = 1 + below(3); left != 0; --left) {
      const std::uint32_t what = below(16);
      Counterset& set = manifest.countersets[below(2)];
      if (what == 0) {
        manifest.provider.name.value = name();
      } else if (what < 5) {
        change_set(set);
      } else if (!set.counters.empty()) {
        change_counter(set.counters[below(static_cast<std::uint32_t>(set.counters.size()))]);
      }
    }
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  bool coin() { return below(2) != 0; }
  template <typename T, std::size_t kSize>
  T one_of(const std::array<T, kSize>& values) {
    return values[below(kSize)];
  }

  std::string name() {
    static const std::array<std::string, 12> names{
        "",        "a",    "A", "Accepted/sec",        "ACCEPTED/SEC", "mean_size", "Depth", "\x01",
        "a\xff b", "受注", "9", std::string(1024, 'n')};
    return one_of(names);
  }
  std::uint32_t id() { return one_of(std::array{0U, 1U, 2U, 3U, 4U, 5U, 70000U, kNoCounter}); }
  CounterType type() {
    return one_of(std::array{
        CounterType::kRawCount, CounterType::kLargeRawCount, CounterType::kBulkCount,
        CounterType::kAverageBulk, CounterType::kAverageBase, CounterType::kRawFraction,
        CounterType::kRawBase, CounterType::kElapsedTime, CounterType::kMultiTimer,
        CounterType::kMultiBase, CounterType::kNoData, CounterType::kText, CounterType::kComposite,
        CounterType::kMultiTimerInverse, CounterType::kLargeRawBase});
  }

  void change_set(Counterset& set) {
    switch (below(14)) {
      case 0:
        set.name.value = name();
        break;
      case 1:
        set.symbol.value = name();
        break;
      case 2:
        set.help.value = name();
        break;
      case 3:
        set.label.value = name();
        break;
      case 4:
        set.consistency.value = coin() ? Consistency::kBlock : Consistency::kIndependent;
        break;
      case 5:
        set.many.value = coin();
        break;
      case 6:
        set.stamped.value = coin();
        break;
      case 7:
        set.cuts.value = coin();
        break;
      case 8:
        set.sharded.value = coin();
        break;
      case 9:
        set.shards.value = one_of(std::array{0U, 1U, 1024U, 1025U});
        break;
      case 10:
        set.checkpoint.value = coin();
        break;
      case 11:
        if (!set.counters.empty()) set.counters.pop_back();
        break;
      case 12:
        if (!set.counters.empty()) set.counters.push_back(set.counters[0]);
        break;
      default:
        set.guid.value = coin() ? Guid{} : Guid{.part1 = 1};
        break;
    }
    set.word = snake_case(set.symbol.value.empty() ? set.name.value : set.symbol.value);
  }

  void change_links(Counter& counter) {
    switch (below(4)) {
      case 0:
        counter.base.value = id();
        break;
      case 1:
        counter.time.value = id();
        break;
      case 2:
        counter.frequency.value = id();
        break;
      default:
        counter.multi.value = id();
        break;
    }
  }

  void change_counter(Counter& counter) {
    switch (below(15)) {
      case 0:
        counter.id.value = id();
        break;
      case 1:
        counter.name.value = name();
        break;
      case 2:
        counter.symbol.value = name();
        break;
      case 3:
        counter.help.value = name();
        break;
      case 4:
        counter.unit.value = name();
        break;
      case 5:
      case 6:
        counter.type.value = type();
        break;
      case 7:
      case 8:
        change_links(counter);
        break;
      case 9:
        counter.scale.value = static_cast<std::int32_t>(below(24)) - 12;
        break;
      case 10:
        counter.aggregate.value = below(5);
        counter.attributes.value = below(32);
        break;
      case 11:
        counter.form.value = static_cast<ValueForm>(below(5));
        break;
      case 12:
        counter.timed.value = coin();
        counter.any_thread.value = coin();
        break;
      case 13:
        counter.text_bytes.value = one_of(std::array{0U, 1U, 256U, 257U});
        break;
      default:
        counter.buckets.value = one_of(
            std::array<BucketSpec, 5>{{{}, {3, 1, 1}, {8, 1e-9, 1e9}, {9, 1, 2}, {0, 5, 1}}});
        break;
    }
    counter.word =
        snake_case(counter.symbol.value.empty() ? counter.name.value : counter.symbol.value);
  }

  std::mt19937 random_;
};

// What the library says to the sets of a manifest; empty if it takes them all.
std::string refusal_of(const Manifest& manifest) {
  std::vector<CounterSpec> counters;
  for (const Counterset& set : manifest.countersets) {
    const auto schema =
        encode_schema(spec_of(manifest, set, counters), manifest.provider.name.value);
    if (!schema) return schema.error().what;
  }
  return {};
}

struct Tally {
  std::uint32_t good = 0;           // both say so
  std::uint32_t strict = 0;         // refused by the check alone
  std::uint32_t refused = 0;        // by both
  std::vector<std::string> missed;  // refused by the library, and by no rule
};

// A rule has to speak up wherever the library would; that check() asks the library itself in the
// end does not count. It is the only one that knows how many words an instance has.
template <typename Check>
Tally compare(Check&& rules, std::uint32_t cases) {
  const Manifest good = parsed(kGood);
  Mutator mutator(20'260'101);
  Tally tally;
  for (std::uint32_t i = 0; i < cases; ++i) {
    Manifest manifest = good;
    mutator.change(manifest);
    const std::string refusal = refusal_of(manifest);
    Problems problems;
    rules(manifest, problems);
    const bool is_about_words = refusal.find(" words, ") != std::string::npos;
    bool has_rule = false;
    for (const Problem& problem : problems.all()) has_rule |= problem.what != refusal;
    if (refusal.empty()) {
      ++(problems.empty() ? tally.good : tally.strict);
    } else if (has_rule || (is_about_words && !problems.empty())) {
      ++tally.refused;
    } else {
      tally.missed.push_back(refusal);
    }
  }
  return tally;
}

constexpr std::uint32_t kCases = 50'000;

TEST(Mutations, ThatTheLibraryRefusesAreRefusedByARule) {
  const Tally tally = compare(check, kCases);
  EXPECT_TRUE(tally.missed.empty()) << tally.missed.size() << ": " << tally.missed.front();
  EXPECT_GT(tally.good, kCases / 10);
  EXPECT_GT(tally.refused, kCases / 10);
  EXPECT_GT(tally.strict, kCases / 100);
}

TEST(Mutations, FindAMissingRule) {
  const auto without_scales = [](const Manifest& manifest, Problems& problems) {
    Manifest copy = manifest;
    for (Counterset& set : copy.countersets) {
      for (Counter& counter : set.counters) counter.scale.value = 0;
    }
    check(copy, problems);
  };
  const Tally tally = compare(without_scales, kCases / 10);
  ASSERT_FALSE(tally.missed.empty());
  for (const std::string& refusal : tally.missed) {
    EXPECT_NE(refusal.find("scale"), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace meterbank::generator
