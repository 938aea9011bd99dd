// SPDX-License-Identifier: Apache-2.0
#include "made_load.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "../../reader/replay/hand_made.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::test {
namespace {

constexpr double kSigma = 0.5;
constexpr double kMedian = 0.002;                                               // seconds
constexpr DistributionShape kShape{.scale = 4, .first = -256, .buckets = 240};  // 15 us to half a s

// Of this test alone, so that the same seed is the same recording with every library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}

  double even() { return (static_cast<double>(bits_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() {
    constexpr double kTwoPi = 6.283185307179586;
    return std::sqrt(-2 * std::log(even())) * std::cos(kTwoPi * even());
  }
  std::uint64_t poisson(double mean) {
    constexpr double kSmall = 40;
    if (mean > kSmall) {
      return static_cast<std::uint64_t>(
          std::max(0.0, std::round(mean + std::sqrt(mean) * normal())));
    }
    std::uint64_t count = 0;
    for (double product = even(), end = std::exp(-mean); product > end; product *= even()) ++count;
    return count;
  }

 private:
  std::mt19937_64 bits_;
};

// Of a standard deviation of 1.
class Wandering {
 public:
  Wandering(double likeness, Dice& dice) : likeness_(likeness), dice_(&dice), now_(dice.normal()) {}
  double next() {
    now_ = likeness_ * now_ + std::sqrt(1 - likeness_ * likeness_) * dice_->normal();
    return now_;
  }

 private:
  double likeness_;
  Dice* dice_;
  double now_;
};

Counterset service_set() {
  Counterset set = two_counters("service");
  set.form.words = 5;
  set.counters.resize(5);
  constexpr std::array<const char*, 5> kNames{"requests", "depth", "bytes", "size", "size_base"};
  constexpr std::array kTypes{CounterType::kBulkCount, CounterType::kLargeRawCount,
                              CounterType::kBulkCount, CounterType::kAverageBulk,
                              CounterType::kAverageBase};
  for (std::uint32_t i = 0; i < set.counters.size(); ++i) {
    CounterView& counter = set.counters[i];
    counter.id = i + 1;
    counter.word = i;
    counter.type = kTypes[i];
    counter.name = counter.symbol = kNames[i];
    counter.more = set.form.words;
  }
  set.counters[3].base = 4;
  return set;
}

Counterset latency_set() {
  Counterset set = two_counters("timing");
  set.counters.resize(1);
  CounterView& counter = set.counters[0];
  counter.name = counter.symbol = "latency";
  counter.unit = "s";
  counter.form = ValueForm::kDistribution;
  counter.shape = kShape;
  counter.more = 1;
  counter.more_words = kShape.more_words();
  set.form.words = 1 + counter.more_words;
  return set;
}

double below(double logarithm, double shift) {
  return 0.5 * std::erfc(-(logarithm - std::log(kMedian) - shift) / kSigma / std::sqrt(2.0));
}

class Service {
 public:
  explicit Service(const LoadPlan& plan)
      : plan_(plan), dice_(plan.seed), load_(per_tick(plan.likeness), dice_) {
    const auto provider = *replay_.add_provider(provider_called("service"));
    service_ = *replay_.add_set(provider, registered(service_set(), 1));
    timing_ = *replay_.add_set(provider, registered(latency_set(), 2));
    for (std::uint32_t slot = 0; slot < plan.instances; ++slot) {
      rows_.push_back(begin(service_, slot));
      own_loads_.emplace_back(per_tick(0.5), dice_);
      depths_.emplace_back(per_tick(0.85), dice_);
    }
    for (std::uint32_t slot = 0; slot < 2; ++slot) timings_.push_back(begin(timing_, slot));
    for (std::uint32_t bucket = 0; bucket <= kShape.buckets; ++bucket) {
      bounds_.push_back(
          std::log(bucket_bound(kShape.first + static_cast<std::int32_t>(bucket), 4)));
    }
  }

  std::string bytes() {
    std::string bytes;
    recording::Head head;
    head.rates.push_back({plan_.interval_ns, ""});
    append_head(head, bytes);
    recording::TickWriter writer;
    recording::SchemaNumbers schemas;
    std::optional<Query> query;
    Sample sample;
    Timestamp now{plan_.interval_ns, 1'700'000'000'000'000'000};
    for (std::uint32_t tick = 0; tick < plan_.ticks; ++tick) {
      if (tick % 600 == 599) writer.begin_chunk();
      count();
      replay_.show(now);
      if (!query) query.emplace(*Query::compile(replay_.catalog(), {}));
      query->collect(sample, now);
      const recording::RateInput rate{&*query, &sample};
      writer.tick({replay_.catalog(), {&rate, 1}, now, 20'000}, schemas, bytes);
      // A timer is late by what other processes do.
      const auto late = static_cast<std::uint64_t>(dice_.even() * 1e6);
      now.monotonic_ns += plan_.interval_ns + late;
      now.realtime_ns += plan_.interval_ns + late;
    }
    return bytes;
  }

 private:
  [[nodiscard]] double seconds() const { return static_cast<double>(plan_.interval_ns) / 1e9; }
  [[nodiscard]] double per_tick(double a_second) const { return std::pow(a_second, seconds()); }
  ReplayRowId begin(ReplaySetId set, std::uint32_t slot) {
    return *replay_.begin_instance(
        set, {.slot = slot, .name = "i" + std::to_string(slot), .generation = slot + 1});
  }

  void count() {
    const double load = 0.1 * load_.next();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto words = replay_.words(service_, rows_[i]);
      double mean = 200 * seconds() * std::exp(load + 0.05 * own_loads_[i].next());
      if (i == 0) mean *= plan_.rate_step;
      const std::uint64_t requests = dice_.poisson(mean);
      words[0] += requests;
      const double depth = 40 * std::exp(load + 0.2 * depths_[i].next());
      words[1] = dice_.poisson(depth);
      const auto size = [&] { return 1000 * std::exp(0.3 * dice_.normal()); };
      words[2] += requests * static_cast<std::uint64_t>(size());
      words[4] += requests;
      words[3] += requests * static_cast<std::uint64_t>(size());
    }
    for (const ReplayRowId row : timings_) record(replay_.words(timing_, row), load);
  }

  // Values up to a bound, if those above the 90th percentile are longer by the step.
  [[nodiscard]] double share_up_to(double logarithm, double shift) const {
    constexpr double kNinetieth = 1.2815515655446004;
    const double knee = std::log(kMedian) + shift + kSigma * kNinetieth;
    if (logarithm > knee) {
      logarithm = std::max(knee, logarithm - std::log(plan_.p99_step));
    }
    return below(logarithm, shift);
  }

  void record(std::span<std::uint64_t> words, double load) {
    const double values = plan_.values_a_second * seconds() * std::exp(load);
    const double shift = 0.05 * load;
    double before = share_up_to(bounds_.front(), shift);
    for (std::uint32_t bucket = 0; bucket < kShape.buckets; ++bucket) {
      const double up_to = share_up_to(bounds_[bucket + 1], shift);
      const std::uint64_t count = dice_.poisson(values * (up_to - before));
      before = up_to;
      words[0] += count;
      words[1 + DistributionShape::kBuckets + bucket] += count;
    }
  }

  LoadPlan plan_;
  Dice dice_;
  Wandering load_;
  Replay replay_;
  ReplaySetId service_{}, timing_{};
  std::vector<ReplayRowId> rows_, timings_;
  std::vector<Wandering> own_loads_, depths_;
  std::vector<double> bounds_;
};

}  // namespace

std::string made_load(const LoadPlan& plan) { return Service(plan).bytes(); }

compare::Observation observe(const std::string& path) {
  compare::Observation observation;
  auto recording = recording::Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().message();
  if (!recording) return observation;
  std::optional<Query> query;
  std::array<Sample, 2> samples;
  std::size_t newest = 0;
  while (recording->next()) {
    if (!query) query.emplace(*Query::compile(recording->catalog(), {}));
    query->update(recording->catalog());
    newest = 1 - newest;
    query->collect(samples[newest], recording->time());
    observation.take(samples[newest], samples[1 - newest], query->version(), recording->catalog(),
                     {recording->window_ns()});
  }
  return observation;
}

}  // namespace meterbank::test
