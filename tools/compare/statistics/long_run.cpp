// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/long_run.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meterbank::compare {
namespace {

// Neighbours are never taken to be more alike than this, so that factors stay finite.
constexpr double kLikenessMax = 0.95;
// One recording at one length of its blocks.
struct Level {
  std::vector<double> blocks;
  double squares = 0, products = 0;  // of blocks, of neighbours

  explicit Level(std::vector<double> values) : blocks(std::move(values)) {
    for (const double block : blocks) squares += block * block;
    for (std::size_t i = 1; i < blocks.size(); ++i) products += blocks[i - 1] * blocks[i];
  }
  [[nodiscard]] double count() const noexcept { return static_cast<double>(blocks.size()); }
  [[nodiscard]] bool moves() const noexcept { return squares > 0; }
  [[nodiscard]] bool can_be_joined() const noexcept { return blocks.size() / 2 >= kBlocksLeast; }
  [[nodiscard]] Level joined() const {
    std::vector<double> halves;
    for (std::size_t i = 0; i + 1 < blocks.size(); i += 2) {
      halves.push_back(blocks[i] + blocks[i + 1]);
    }
    return Level(std::move(halves));
  }
};

// Estimates from few values are too low on average (Kendall 1954).
double without_bias(double found, double count) {
  return std::clamp(found + (1 + 3 * found) / count, 0.0, kLikenessMax);
}

double likeness_of(const Level& level) {
  return level.moves() ? without_bias(level.products / level.squares, level.count()) : 0;
}

double likeness_of_both(const Level& a, const Level& b) {
  if (!a.moves()) return likeness_of(b);
  if (!b.moves()) return likeness_of(a);
  const double found = (a.products / a.squares + b.products / b.squares) / 2;
  return without_bias(found, (a.count() + b.count()) / 2);
}

// One recording, or its worst level.
struct Variance {
  double value = 0;
  double freedom = 0;      // of the estimate
  double independent = 0;  // parts of the recording
};

Variance variance_of(const Level& level, double likeness) {
  const double factor = (1 + likeness) / (1 - likeness);
  const double count = level.count();
  return {level.squares * count / (count - 1) * factor, count - 1, count / factor};
}

// After Welch and Satterthwaite. What stands still adds nothing.
LongRun put_together(const Variance& a, const Variance& b) {
  LongRun both{a.value, b.value, std::min(a.freedom, b.freedom), 0};
  const bool a_moves = a.value > 0, b_moves = b.value > 0;
  both.independent = std::min(a_moves || !b_moves ? a.independent : b.independent,
                              b_moves || !a_moves ? b.independent : a.independent);
  if (!a_moves && !b_moves) return both;
  const double sum = a.value + b.value;
  both.freedom = sum * sum / (a.value * a.value / a.freedom + b.value * b.value / b.freedom);
  return both;
}

// Of so few blocks no one can tell how alike neighbours are.
double least_parts(double so_far, double found, const Level& level) {
  return level.blocks.size() < 2 * kBlocksLeast ? so_far : std::min(so_far, found);
}

Variance worst_of(Level level) {
  Variance worst = variance_of(level, likeness_of(level));
  while (level.can_be_joined()) {
    level = level.joined();
    const Variance found = variance_of(level, likeness_of(level));
    const double freedom = std::min(worst.freedom, found.freedom);
    const double independent = least_parts(worst.independent, found.independent, level);
    if (found.value > worst.value) worst = found;
    worst.freedom = freedom;
    worst.independent = independent;
  }
  return worst;
}

LongRun at(const Level& a, const Level& b) {
  const double likeness = likeness_of_both(a, b);
  return put_together(variance_of(a, likeness), variance_of(b, likeness));
}

}  // namespace

LongRun long_run_of(std::span<const double> a, std::span<const double> b, bool equally_long) {
  Level level_a({a.begin(), a.end()});
  Level level_b({b.begin(), b.end()});
  if (!equally_long)
    return put_together(worst_of(std::move(level_a)), worst_of(std::move(level_b)));
  LongRun worst = at(level_a, level_b);
  while (level_a.can_be_joined() && level_b.can_be_joined()) {
    level_a = level_a.joined();
    level_b = level_b.joined();
    const LongRun found = at(level_a, level_b);
    const double freedom = std::min(worst.freedom, found.freedom);
    const double independent = least_parts(worst.independent, found.independent, level_a);
    const bool is_worse = found.variance_a + found.variance_b > worst.variance_a + worst.variance_b;
    if (is_worse) worst = found;
    worst.freedom = freedom;
    worst.independent = independent;
  }
  return worst;
}

}  // namespace meterbank::compare
