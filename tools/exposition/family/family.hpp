// SPDX-License-Identifier: Apache-2.0
//
// A metric family: what one counter of a counterset becomes for Prometheus and its relatives.
// docs/exporter.md has the table of counter types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/family/metric_rule.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::exposition {

enum class FamilyType : std::uint8_t { kCounter, kGauge, kSummary, kHistogram, kInfo };

[[nodiscard]] constexpr bool is_number(FamilyType type) noexcept {
  return type == FamilyType::kCounter || type == FamilyType::kGauge;
}

// "counter", "gauge", ... as OpenMetrics has them.
[[nodiscard]] std::string_view name_of(FamilyType type) noexcept;

// The end of a sample's name, behind the name of its family: "_total", "_info" or nothing.
[[nodiscard]] constexpr std::string_view suffix_of(FamilyType type) noexcept {
  if (type == FamilyType::kCounter) return "_total";
  return type == FamilyType::kInfo ? "_info" : "";
}

// How one number is computed from the words of a row.
struct NumberSource {
  enum class Rule : std::uint8_t {
    kUnsigned,   // value & mask, times factor / divisor
    kSigned,     // two's complement
    kReal,       // the bits of a double
    kShare,      // value / other
    kOfClock,    // value / frequency: ticks of the set's own clock as seconds
    kStartTime,  // value is when something began, on the clock `other`; seconds since 1970
  };
  Rule rule = Rule::kUnsigned;
  std::uint32_t word = kNoCounter;
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint32_t other = kNoCounter;
  std::uint64_t other_mask = ~std::uint64_t{0};
  std::uint32_t frequency = kNoCounter;
  double factor = 1, divisor = 1;

  [[nodiscard]] bool is_scaled() const noexcept { return factor != 1 || divisor != 1; }
  // The word itself: what most counters are.
  [[nodiscard]] bool is_plain() const noexcept { return rule == Rule::kUnsigned && !is_scaled(); }
};

struct Family {
  std::string name;  // without "_total" and "_info"
  FamilyType type = FamilyType::kGauge;
  std::string unit;  // the last words of the name, or empty
  std::string ucum;  // the same as a code, also where names say nothing of it
  std::string help;
  NumberSource value;                    // where the number is; in a summary, the sum
  NumberSource count;                    // where a summary has its count
  const CounterView* counter = nullptr;  // in the counterset that the family was made of
};

// The families of these counters, given as indexes in Counterset::counters, in their order.
// Counters without a number make none, and neither do those that a rule drops. Names may be equal:
// see PageLayout.
[[nodiscard]] std::vector<Family> families_of(const Counterset& set,
                                              std::span<const std::uint32_t> counters,
                                              const MetricNames& names);

}  // namespace meterbank::exposition
