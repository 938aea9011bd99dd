// SPDX-License-Identifier: Apache-2.0
#include "generated_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>

namespace meterbank::bench {
namespace {

using recording::Column;

// Not those of <random>, which differ from one standard library to the next.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : next_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return next_() % end; }
  [[nodiscard]] bool one_in(std::uint64_t count) { return below(count) == 0; }
  // About normal, of mean 0 and deviation 1.
  [[nodiscard]] double normal() {
    constexpr int kSummands = 12;
    double sum = -kSummands / 2.0;
    for (int summand = 0; summand < kSummands; ++summand)
      sum += static_cast<double>(next_()) * 0x1p-64;
    return sum;
  }
  // Events in a tick at this rate.
  [[nodiscard]] std::uint64_t events(double rate) {
    return static_cast<std::uint64_t>(std::max(0.0, rate + std::sqrt(rate) * normal() + 0.5));
  }

 private:
  std::mt19937_64 next_;
};

// Copies each row from the tick before, for those that change only a part of it.
void begin_tick(GeneratedRows& rows, std::size_t tick) {
  if (tick == 0) return;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    std::ranges::copy(std::as_const(rows).row(tick - 1, row), rows.row(tick, row).begin());
  }
}

}  // namespace

GeneratedRows busy_counters(std::size_t ticks) {
  constexpr std::size_t kRows = 60, kWords = 16;
  GeneratedRows rows(std::vector(kWords, Column::kInteger), kRows, ticks);
  Numbers numbers(1);
  std::vector<double> rates;
  rates.reserve(kRows * kWords);
  for (std::size_t word = 0; word < kRows * kWords; ++word) {
    rates.push_back(1000 * std::exp(2 * numbers.normal()));
  }
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    begin_tick(rows, tick);
    const double load = std::exp(0.1 * numbers.normal());
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t word = 0; word < kWords; ++word) {
        rows.row(tick, row)[word] +=
            tick == 0 ? numbers.below(1U << 30) : numbers.events(load * rates[row * kWords + word]);
      }
    }
  }
  return rows;
}

GeneratedRows idle_counters(std::size_t ticks) {
  constexpr std::size_t kRows = 150, kCounters = 27, kClock = 26;
  std::vector columns(kCounters, Column::kInteger);
  columns.push_back(Column::kTime);
  GeneratedRows rows(std::move(columns), kRows, ticks);
  Numbers numbers(2);
  std::uint64_t time = 1'000'000'000'000;
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    begin_tick(rows, tick);
    time += 1'000'000'000 + numbers.below(1'000'000);
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto words = rows.row(tick, row);
      words[kCounters] = time;
      words[kClock] = time / 100 + numbers.below(20);
      const bool is_busy = numbers.one_in(row < 5 ? 2 : 40);
      for (std::size_t word = 0; word < kClock; ++word) {
        if (tick == 0) words[word] = numbers.one_in(2) ? numbers.below(1U << 24) : 0;
        if (!is_busy || !numbers.one_in(3)) continue;
        constexpr std::uint64_t kPage = 4096, kClockTick = 100'000;
        const std::uint64_t events = numbers.events(5 * std::exp(numbers.normal()));
        words[word] += events * (word < 3 ? kClockTick : word < 8 ? kPage : 1);
      }
    }
  }
  return rows;
}

GeneratedRows gauges(std::size_t ticks) {
  constexpr std::size_t kRows = 40, kPages = 6, kReals = 4;
  std::vector columns(kPages, Column::kInteger);
  columns.insert(columns.end(), kReals, Column::kReal);
  GeneratedRows rows(std::move(columns), kRows, ticks);
  Numbers numbers(3);
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    begin_tick(rows, tick);
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto words = rows.row(tick, row);
      for (std::size_t word = 0; word < kPages; ++word) {
        constexpr std::uint64_t kPage = 4096;
        const auto usual = kPage * (1000 << word);
        if (tick == 0 || numbers.one_in(3)) words[word] = usual;
        if (numbers.one_in(2)) words[word] = usual + kPage * numbers.events(20);
      }
      for (std::size_t real = kPages; real < kPages + kReals; ++real) {
        if (tick != 0 && numbers.one_in(2)) continue;
        const double degrees = 40 + static_cast<double>(row) + numbers.normal();
        const double places = real % 2 == 0 ? 10 : 100;
        words[real] = std::bit_cast<std::uint64_t>(std::round(degrees * places) / places);
      }
    }
  }
  return rows;
}

GeneratedRows distributions(std::size_t ticks) {
  constexpr std::size_t kRows = 8, kBuckets = 160, kOthers = 7;
  std::vector<Column> columns = {Column::kInteger, Column::kReal,   Column::kReal,  Column::kReal,
                                 Column::kBucket,  Column::kBucket, Column::kBucket};
  columns.insert(columns.end(), kBuckets, Column::kBucket);
  GeneratedRows rows(std::move(columns), kRows, ticks);
  Numbers numbers(4);
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    begin_tick(rows, tick);
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto words = rows.row(tick, row);
      double sum = std::bit_cast<double>(words[1]);
      for (std::uint64_t left = numbers.events(300); left > 0; --left) {
        const double place = kBuckets / 2.0 + 8 * numbers.normal();
        sum += 1e-4 * std::exp2(place / 8);
        ++words[0];
        ++words[kOthers + static_cast<std::size_t>(std::clamp(place, 0.0, kBuckets - 1.0))];
      }
      words[1] = std::bit_cast<std::uint64_t>(sum);
    }
  }
  return rows;
}

}  // namespace meterbank::bench
