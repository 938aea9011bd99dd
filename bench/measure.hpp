// SPDX-License-Identifier: Apache-2.0
//
// Short rounds in which what is measured and its limit take turns, so that whatever disturbs the
// machine disturbs both. A ratio is taken inside a round; medians are taken over rounds.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "instructions/count.hpp"

namespace meterbank::bench {

struct Spread {
  double p10 = 0, median = 0, p90 = 0;

  static Spread of(std::vector<double> values);
};

struct Comparison {
  Spread measured;  // ns an operation
  Spread limit;
  Spread ratio;
  // Instructions of one measured operation. Missing if the machine cannot count them, or if the
  // operation waits.
  std::optional<double> instructions = {};
};

// The value at `share` (0..1) of sorted samples.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share) noexcept;

// Keeps a value alive in the eyes of the compiler; given a pointer, also what it points to. A type
// wider than a register would be copied first, and the copy would be measured.
template <typename T>
inline void keep(T value) noexcept {
  static_assert(sizeof(T) <= sizeof(void*));
  asm volatile("" : : "r"(value) : "memory");
}

// kProcessor counts only the time in which this thread had its processor, so that a neighbour's
// time slice is not taken for ours; for everything that neither waits nor starts processes.
enum class Clock { kProcessor, kWall };

[[nodiscard]] inline double now_ns(Clock clock) noexcept {
  timespec time = {};
  ::clock_gettime(clock == Clock::kProcessor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// What a run of `work`, which does `operations` of something, costs each of them.
template <typename F>
double nanoseconds_each(std::uint64_t operations, F&& work, Clock clock = Clock::kProcessor) {
  const double begin = now_ns(clock);
  work();
  return (now_ns(clock) - begin) / static_cast<double>(operations);
}

class Rounds {
 public:
  void add(double measured, double limit) {
    measured_.push_back(measured);
    limit_.push_back(limit);
    ratio_.push_back(measured / limit);
  }
  [[nodiscard]] Comparison comparison() const {
    return {Spread::of(measured_), Spread::of(limit_), Spread::of(ratio_), {}};
  }

 private:
  std::vector<double> measured_, limit_, ratio_;
};

// One unmeasured round first; then the order within a round alternates.
template <typename F, typename G>
Comparison compare(unsigned rounds, std::uint64_t operations, F&& work, G&& limit,
                   Clock clock = Clock::kProcessor) {
  work();
  limit();
  Rounds result;
  for (unsigned round = 0; round < rounds; ++round) {
    double spent_limit = 0;
    if (round % 2 == 0) spent_limit = nanoseconds_each(operations, limit, clock);
    const double spent = nanoseconds_each(operations, work, clock);
    if (round % 2 != 0) spent_limit = nanoseconds_each(operations, limit, clock);
    result.add(spent, spent_limit);
  }
  Comparison comparison = result.comparison();
  if (clock == Clock::kProcessor) comparison.instructions = instructions_each(operations, work);
  return comparison;
}

// The limit of a round is the slower of two loops that do the same.
template <typename F, typename G, typename H>
Comparison compare_to_slower(unsigned rounds, std::uint64_t operations, F&& work, G&& limit,
                             H&& other_limit) {
  work();
  limit();
  other_limit();
  Rounds result;
  for (unsigned round = 0; round < rounds; ++round) {
    const double one = nanoseconds_each(operations, limit);
    const double spent = nanoseconds_each(operations, work);
    result.add(spent, std::max(one, nanoseconds_each(operations, other_limit)));
  }
  Comparison comparison = result.comparison();
  comparison.instructions = instructions_each(operations, work);
  return comparison;
}

}  // namespace meterbank::bench
