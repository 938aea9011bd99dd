// SPDX-License-Identifier: Apache-2.0
//
// Two observations next to each other: what changed, what did not, and what cannot be told.
//
// Of everything that is compared, anything is called changed by chance in at most one of a hundred
// pairs of recordings in which nothing changed: each of n series is tested at 0.01 / n
// (Bonferroni). See docs/decisions/0026-comparisons.md.
//
// Thread safety  Several threads may compare the same observations.
// Errors         compare() may throw std::bad_alloc.
// Lifetime       Findings point into the observations.
// Cost           Some arithmetic for each block of each series.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/observation.hpp"
#include "compare/statistics/contrast.hpp"

namespace meterbank::compare {

struct CompareOptions {
  double least = 0.02;  // a smaller change does not count, however certain it is
  // Of pairs in which nothing changed. Half of what is promised: where a recording has few
  // independent parts, its scatter is itself uncertain.
  double false_alarms = 0.005;
};

enum class FindingKind : std::uint8_t {
  kProvider,  // appeared, disappeared, restarted, died
  kInstance,  // came, went
  kSchema,    // a counter has another unit or type
  kText,      // a text that was there is not, and another is
  kStill,     // a number stood still in both and is another
  kNumber,    // with a range
};

struct Finding {
  FindingKind kind = FindingKind::kNumber;
  std::string path;
  std::string provider;        // its name; empty: of a provider itself, or of a total
  std::string what;            // in one word, of everything but numbers
  std::string text_a, text_b;  // of a text
  double a = 0, b = 0;
  Change change;                   // of a number
  const Series* series = nullptr;  // in A; null: of a provider or an instance
  double percentile = 0;           // 0: none
  bool is_changed = false;

  // How much it changed at the very least.
  [[nodiscard]] double strength() const;
};

enum class NotCompared : std::uint8_t {
  kTooFewSamples,
  kWanders,
  kTooFewValues,
  kBeyondBuckets,
  kNoValues,
  kNamesakes,
  kTextVaries,
  kOnlyInA,
  kOnlyInB,
};
inline constexpr std::size_t kNotComparedReasons =
    static_cast<std::size_t>(NotCompared::kOnlyInB) + 1;
// "too few samples", for people.
[[nodiscard]] std::string_view phrase_of(NotCompared reason) noexcept;
// "too-few-samples", for programs.
[[nodiscard]] std::string_view name_of(NotCompared reason) noexcept;

// What is in one of them or in both, and was not compared.
struct Skipped {
  std::string path;
  std::string provider;  // as that of a finding
  NotCompared reason{};
};

struct Comparison {
  std::vector<Finding> findings;  // what changed comes first, the strongest before the others
  std::vector<Skipped> skipped;
  std::size_t tested = 0;  // series with a range

  [[nodiscard]] std::size_t changed() const;
  [[nodiscard]] std::size_t count(NotCompared reason) const;
};

[[nodiscard]] Comparison compare(const Observation& a, const Observation& b,
                                 const CompareOptions& options);

}  // namespace meterbank::compare
