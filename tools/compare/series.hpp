// SPDX-License-Identifier: Apache-2.0
//
// What is kept of one counter of one instance over a range of a recording.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compare/statistics/block_histograms.hpp"
#include "compare/statistics/block_sums.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::compare {

// The different texts of a text counter. More than a few are too many to be told.
struct Texts {
  static constexpr std::size_t kMost = 8;
  std::vector<std::string> seen;
  bool varies = false;  // there were more

  void add(std::string_view text);
  [[nodiscard]] bool contains(std::string_view text) const;
};

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// What a sample is weighted by.
enum class Weight : std::uint8_t {
  kOne,         // a level
  kTime,        // a rate, or a share of time
  kBase,        // a share or an average
  kObjectTime,  // a rate by the clock of the object
  kPerSecond,   // a count since the sample before, made a rate: samples may be at other distances
};

struct Series {
  std::string path;     // as people type it
  CounterView counter;  // without its help
  std::string set_key, row_label;
  Weight weight = Weight::kOne;
  BlockSums numbers;
  std::optional<BlockHistograms> values;  // of a distribution
  Texts texts;
  bool has_namesakes = false;  // several providers of one name have it
  bool changed_shape = false;  // the buckets of the distribution
  bool is_stamped = false;

  void take(const Value& value, std::uint64_t tick);

 private:
  [[nodiscard]] double weight_of(const RawValue& raw) const;
  void take_number(const Value& value);

  std::uint64_t tick_ = kNever;  // of the last sample that had values
  RawValue last_;
};

}  // namespace meterbank::compare
