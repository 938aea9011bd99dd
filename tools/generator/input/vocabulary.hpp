// SPDX-License-Identifier: Apache-2.0
//
// The words that stand for values in a manifest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/manifest/manifest.hpp"

namespace meterbank::generator {

template <typename T>
struct Word {
  std::string_view xml;  // empty: the word is not of this language
  std::string_view toml;
  T value;

  [[nodiscard]] constexpr std::string_view in(Language language) const noexcept {
    return language == Language::kXml ? xml : toml;
  }
};

inline constexpr std::array kModeWords{
    Word<ProviderMode>{"userMode", "user", ProviderMode::kUser},
    Word<ProviderMode>{"kernelMode", "kernel", ProviderMode::kKernel},
};
inline constexpr std::array kCallbackWords{
    Word<bool>{"default", "default", false},
    Word<bool>{"custom", "custom", true},
};
inline constexpr std::array kInstanceWords{
    Word<InstanceKind>{"single", "single", InstanceKind::kSingle},
    Word<InstanceKind>{"multiple", "multiple", InstanceKind::kMultiple},
    Word<InstanceKind>{"globalAggregate", "global_aggregate", InstanceKind::kGlobalAggregate},
    Word<InstanceKind>{"multipleAggregate", "multiple_aggregate", InstanceKind::kMultipleAggregate},
    Word<InstanceKind>{"globalAggregateHistory", "global_aggregate_history",
                       InstanceKind::kGlobalAggregateHistory},
};
inline constexpr std::array kDetailWords{
    Word<std::uint32_t>{"standard", "standard", 100},
    Word<std::uint32_t>{"advanced", "advanced", 200},
};
inline constexpr std::array kAggregateWords{
    Word<std::uint32_t>{"sum", "sum", kAggregateSum},
    Word<std::uint32_t>{"avg", "avg", kAggregateAverage},
    Word<std::uint32_t>{"min", "min", kAggregateMinimum},
    Word<std::uint32_t>{"max", "max", kAggregateMaximum},
    Word<std::uint32_t>{"undefined", "undefined", kAggregateUndefined},
};
inline constexpr std::array kConsistencyWords{
    Word<Consistency>{"", "block", Consistency::kBlock},
    Word<Consistency>{"", "independent", Consistency::kIndependent},
};
inline constexpr std::array kFormWords{
    Word<ValueForm>{"", "unsigned", ValueForm::kUnsigned},
    Word<ValueForm>{"", "signed", ValueForm::kSigned},
    Word<ValueForm>{"", "real", ValueForm::kReal},
};

// The 37 types of the manifest schema. PERF_COUNTER_NODATA has no value to declare.
inline constexpr std::array kTypes{
    CounterType::kRawCountHex,
    CounterType::kLargeRawCountHex,
    CounterType::kRawCount,
    CounterType::kLargeRawCount,
    CounterType::kDelta,
    CounterType::kLargeDelta,
    CounterType::kCounter,
    CounterType::kBulkCount,
    CounterType::kSampleCounter,
    CounterType::kQueueLength,
    CounterType::kLargeQueueLength,
    CounterType::kQueueLength100Ns,
    CounterType::kQueueLengthObject,
    CounterType::kTimer,
    CounterType::kTimerInverse,
    CounterType::kTimer100Ns,
    CounterType::kTimer100NsInverse,
    CounterType::kTimerObject,
    CounterType::kPrecisionSystemTimer,
    CounterType::kPrecision100NsTimer,
    CounterType::kPrecisionObjectTimer,
    CounterType::kMultiTimer,
    CounterType::kMultiTimerInverse,
    CounterType::kMultiTimer100Ns,
    CounterType::kMultiTimer100NsInverse,
    CounterType::kSampleFraction,
    CounterType::kRawFraction,
    CounterType::kLargeRawFraction,
    CounterType::kAverageTimer,
    CounterType::kAverageBulk,
    CounterType::kElapsedTime,
    CounterType::kText,
    CounterType::kSampleBase,
    CounterType::kAverageBase,
    CounterType::kRawBase,
    CounterType::kLargeRawBase,
    CounterType::kMultiBase,
};
static_assert(kTypes.size() == 37);

// "perf_counter_bulk_count" is bulk_count, "perf_average_bulk" is average_bulk.
[[nodiscard]] std::string_view short_name_of(CounterType type) noexcept;
// By its full name, in TOML by the short one too.
[[nodiscard]] std::optional<CounterType> type_of(std::string_view word, Language language) noexcept;

// A distribution has no type of its own; in TOML this word stands for its form.
inline constexpr std::string_view kHistogramWord = "histogram";

// Gathers the words that could have been meant. Case and the marks between words make no
// difference, one edit in three characters is a slip.
class NearWord {
 public:
  explicit NearWord(std::string_view word);
  void consider(std::string_view candidate);
  // "did you mean 'name'?", or else what was given.
  [[nodiscard]] std::string hint(std::string otherwise) const;

 private:
  std::string word_;
  std::size_t limit_;
  std::string best_;
};

}  // namespace meterbank::generator
