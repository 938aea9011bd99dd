// SPDX-License-Identifier: Apache-2.0
//
// The payload of a summary frame. docs/recording.md has its fields.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/frame.hpp"
#include "meterbank/recording/summary.hpp"

namespace meterbank::recording {

struct SummaryHead {
  std::uint64_t sequence = 0;  // Head::sequence of the file that has the chunks
  std::uint64_t chunk = 0;     // the offset of the first one there
  std::uint64_t chunks = 1;    // how many they are
  std::uint64_t from_ns = 0;   // their first moment
  std::uint64_t part_ns = 0;   // part n begins at from_ns + n * part_ns
  std::array<std::uint64_t, kSummaryParts> moments{};
};

// What EnvelopeSeries calls them.
struct SummaryName {
  std::string set, instance, counter;

  friend auto operator<=>(const SummaryName&, const SummaryName&) = default;
};

struct SummarySeries {
  std::string provider, host;
  SummaryName name;
  std::optional<double> percentile;
  std::array<EnvelopeBucket, kSummaryParts> parts{};
};

// The name of a counter in a series: its symbol, or its name without one.
[[nodiscard]] const std::string& counter_word(const CounterView& counter) noexcept;

// Whether a percentile that is asked for is that one of a summary. They are kept in thousandths of
// a per cent.
[[nodiscard]] bool is_summary_percentile(double asked, double kept) noexcept;

// Precondition: each series has kSummaryParts buckets. Sorts the series.
void append_summary_frame(SummaryHead head, std::vector<EnvelopeSeries>& series, std::string& out);

struct Summary {
  SummaryHead head;
  // Of the counters that were asked for, and of instances that share their name with such a one.
  std::vector<SummarySeries> series;
};
// Nothing: the frame is malformed.
[[nodiscard]] std::optional<Summary> read_summary(const Frame& frame,
                                                  std::span<const SummaryName> wanted);

// Three bytes for a number: the upper ones of a float, rounded down or up.
enum class Rounded : std::uint8_t { kDown, kUp };
[[nodiscard]] std::uint32_t packed_number(double value, Rounded rounded) noexcept;
[[nodiscard]] double unpacked_number(std::uint32_t packed) noexcept;

}  // namespace meterbank::recording
