// SPDX-License-Identifier: Apache-2.0
//
// Question: what does counting cost from C?
// Limits: U as in publish.cpp for an increment; the same work in C++, on an instance of the same
// form, for commits and distributions. The inline functions are the same steps in both languages,
// so a ratio beyond 1.1 means that a compiler made something else of them.
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "loops.h"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kTurning = 1024;
constexpr std::size_t kValues = 1 << 16;
constexpr std::uint32_t kCounters = 8;
constexpr std::uint32_t kLatency = kCounters;  // behind the counts

void must_be_ok(mb_status status, const mb_error& error) {
  if (status != MB_OK) give_up(error.what);
}

// The same set in both languages: eight counts, and in a block set a distribution.
class BothSets {
 public:
  explicit BothSets(bool independent, bool sharded = false)
      : is_independent_(independent), is_sharded_(sharded) {
    mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
    options.name = "bench-c";
    options.directory = directory_.path().c_str();
    mb_error error;
    must_be_ok(mb_provider_create(&options, &provider_, &error), error);
    for (std::uint32_t index = 0; index < kCounters; ++index) names_.push_back(name_of(index));
    add_to_c();
    add_to_cpp();
  }
  BothSets(const BothSets&) = delete;
  BothSets& operator=(const BothSets&) = delete;
  ~BothSets() { mb_provider_close(provider_); }

  [[nodiscard]] mb_instance c_instance(std::size_t number) const {
    mb_instance instance;
    mb_error error;
    must_be_ok(
        mb_set_create_instance(set_, std::to_string(number).c_str(), nullptr, &instance, &error),
        error);
    return instance;
  }
  [[nodiscard]] mb_sharded c_sharded() const {
    mb_sharded instance;
    mb_error error;
    must_be_ok(mb_set_create_sharded(set_, "one", nullptr, &instance, &error), error);
    return instance;
  }
  [[nodiscard]] ShardedInstance cpp_sharded() const {
    return must(registration_.create_sharded_instance("one"));
  }
  [[nodiscard]] Instance cpp_instance(std::size_t number) const {
    return must(registration_.create_instance(std::to_string(number)));
  }

 private:
  static std::string name_of(std::uint32_t index) { return "c" + std::to_string(index); }

  void add_to_c() {
    std::vector<mb_counter_spec> counters(kCounters);
    for (std::uint32_t index = 0; index < kCounters; ++index) {
      counters[index].id = index + 1;
      counters[index].name = counters[index].symbol = names_[index].c_str();
      counters[index].type = MB_TYPE_BULK_COUNT;
    }
    if (!is_independent_) {
      mb_counter_spec latency{};
      latency.id = kLatency + 1;
      latency.name = "Latency";
      latency.symbol = "latency";
      latency.type = MB_TYPE_BULK_COUNT;
      latency.form = MB_FORM_DISTRIBUTION;
      latency.bucket_scale = 4;
      latency.bucket_least = 1e-6;
      latency.bucket_most = 10;
      counters.push_back(latency);
    }
    mb_counterset_spec spec = MB_COUNTERSET_SPEC_INIT;
    spec.name = "C";
    spec.symbol = "c";
    spec.flags = (is_independent_ ? MB_SET_INDEPENDENT : 0) | (is_sharded_ ? MB_SET_SHARDED : 0);
    spec.counters = counters.data();
    spec.counters_count = static_cast<std::uint32_t>(counters.size());
    mb_error error;
    must_be_ok(mb_provider_add(provider_, &spec, &set_, &error), error);
  }
  void add_to_cpp() {
    std::vector<CounterSpec> counters;
    for (std::uint32_t index = 0; index < kCounters; ++index) {
      counters.push_back({.id = index + 1, .name = names_[index], .symbol = names_[index]});
    }
    if (!is_independent_) {
      counters.push_back({.id = kLatency + 1,
                          .name = "Latency",
                          .symbol = "latency",
                          .form = ValueForm::kDistribution,
                          .buckets = {.scale = 4, .least = 1e-6, .most = 10}});
    }
    const auto consistency = is_independent_ ? Consistency::kIndependent : Consistency::kBlock;
    registration_ = must(cpp_provider_.add({.name = "Cpp",
                                            .symbol = "cpp",
                                            .consistency = consistency,
                                            .sharded = is_sharded_,
                                            .counters = counters}));
  }

  bool is_independent_, is_sharded_;
  test::TemporaryDirectory directory_;
  std::vector<std::string> names_;
  mb_provider* provider_ = nullptr;
  mb_set* set_ = nullptr;
  Provider cpp_provider_ =
      must(Provider::create({.name = "bench-cpp", .directory = directory_.path()}));
  Registration registration_;
};

// U. relaxed: one writer, and nothing is ordered by it.
[[gnu::noinline]] void bare_turning(SharedWord* const* words, std::size_t count,
                                    std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    SharedWord& word = *words[turn & (count - 1)];
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}
// U over one word, relaxed as above.
[[gnu::noinline]] void bare_hot(SharedWord& word, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}
[[gnu::noinline]] void add_hot(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instance.add(0, 1);
}
[[gnu::noinline]] void add_sharded(ShardedInstance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instance.add(0, 1);
}
[[gnu::noinline]] void add_turning(Instance* instances, std::size_t count, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instances[turn & (count - 1)].add(0, 1);
}
[[gnu::noinline]] void update_eight(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    instance.update([](Values& values) noexcept {
      for (std::uint32_t word = 0; word < kCounters; ++word) values.add(word, 1);
    });
  }
}
[[gnu::noinline]] void record_all(Recorder& recorder, const double* values, std::size_t count,
                                  std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) recorder.record(values[turn & (count - 1)]);
}

std::vector<double> random_seconds() {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponents(-6, -2);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < kValues; ++i) seconds.push_back(std::pow(10, exponents(random)));
  return seconds;
}

void increments(const Effort& effort, Table& table) {
  const BothSets sets(true);
  std::vector<mb_instance> of_c;
  std::vector<Instance> of_cpp;
  for (std::size_t number = 0; number < kTurning; ++number) {
    of_c.push_back(sets.c_instance(number));
    of_cpp.push_back(sets.cpp_instance(number));
  }
  const mb_counter counter = mb_instance_counter(of_c.data(), 0);
  const Blocks bare({.words = kCounters, .consistency = Consistency::kIndependent}, kTurning);
  const std::vector<SharedWord*> words = bare.first_words();
  const std::uint64_t turns = effort.operations;
  const auto hot = [&] { bare_hot(*words[0], turns); };
  const auto turning = [&] { bare_turning(words.data(), kTurning, turns); };
  table.ratio_row("C: increment, independent, instance, hot (limit: U)",
                  compare_to_slower(
                      effort.rounds, turns, [&] { c_add_hot(of_c.data(), turns); }, hot, turning),
                  1.1);
  table.ratio_row(
      "C: increment, independent, counter, hot (limit: U)",
      compare_to_slower(
          effort.rounds, turns, [&] { c_counter_add_hot(&counter, turns); }, hot, turning),
      1.1);
  table.ratio_row("C: increment, independent, over 1,024 instances (limit: C++)",
                  compare(
                      effort.rounds, turns, [&] { c_add_turning(of_c.data(), kTurning, turns); },
                      [&] { add_turning(of_cpp.data(), kTurning, turns); }),
                  1.1);
}

void commits(const Effort& effort, Table& table) {
  const BothSets sets(false);
  const mb_instance of_c = sets.c_instance(0);
  Instance of_cpp = sets.cpp_instance(0);
  const std::uint64_t turns = effort.operations;
  table.ratio_row(
      "C: commit 1 of 8, hot (limit: C++)",
      compare(
          effort.rounds, turns, [&] { c_add_hot(&of_c, turns); }, [&] { add_hot(of_cpp, turns); }),
      1.1);
  table.ratio_row("C: commit 8 of 8, hot (limit: C++)",
                  compare(
                      effort.rounds, turns, [&] { c_update_eight(&of_c, turns); },
                      [&] { update_eight(of_cpp, turns); }),
                  1.1);
  const std::vector<double> values = random_seconds();
  mb_recorder recorder;
  mb_error error;
  must_be_ok(mb_instance_recorder(&of_c, kLatency, &recorder, &error), error);
  Recorder cpp_recorder = of_cpp.recorder(kLatency);
  table.ratio_row(
      "C: record a value (limit: C++)",
      compare(
          effort.rounds, turns, [&] { c_record_all(&recorder, values.data(), kValues, turns); },
          [&] { record_all(cpp_recorder, values.data(), kValues, turns); }),
      1.1);
}

// Not inline in C, so no figure is held: the ratio is the price of the call.
void sharded(const Effort& effort, Table& table) {
  const std::uint64_t turns = effort.operations;
  for (const bool independent : {true, false}) {
    const BothSets sets(independent, true);
    const mb_sharded of_c = sets.c_sharded();
    ShardedInstance of_cpp = sets.cpp_sharded();
    table.ratio_row(independent ? "C: add to a sharded instance, independent (limit: C++)"
                                : "C: add to a sharded instance, block (limit: C++)",
                    compare(
                        effort.rounds, turns, [&] { c_sharded_add_hot(&of_c, turns); },
                        [&] { add_sharded(of_cpp, turns); }),
                    {});
  }
}

}  // namespace

void c_rows(const Effort& effort, Table& table) {
  increments(effort, table);
  commits(effort, table);
  sharded(effort, table);
}

}  // namespace meterbank::bench
