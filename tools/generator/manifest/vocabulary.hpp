// SPDX-License-Identifier: Apache-2.0
//
// The words that stand for values in a manifest, in its two languages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
inline constexpr std::array kIdentityWords{
    Word<InstanceIdentity>{"", "unique", InstanceIdentity::kUnique},
    Word<InstanceIdentity>{"", "name_and_id", InstanceIdentity::kNameAndId},
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

// The bits of winperf.h (PERF_ATTRIB_...).
inline constexpr std::uint64_t kNoDisplay = 2;
inline constexpr std::array kAttributeWords{
    Word<std::uint64_t>{"reference", "reference", 1},
    Word<std::uint64_t>{"noDisplay", "no_display", kNoDisplay},
    Word<std::uint64_t>{"noDigitGrouping", "no_digit_grouping", 4},
    Word<std::uint64_t>{"displayAsReal", "display_as_real", 8},
    Word<std::uint64_t>{"displayAsHex", "display_as_hex", 16},
};

// The 38 types of the manifest schema, and their names in C++. PERF_COUNTER_NODATA has no value to
// declare.
struct TypeName {
  CounterType type;
  std::string_view enumerator;
};
inline constexpr std::array kTypes{
    TypeName{CounterType::kRawCountHex, "kRawCountHex"},
    TypeName{CounterType::kLargeRawCountHex, "kLargeRawCountHex"},
    TypeName{CounterType::kRawCount, "kRawCount"},
    TypeName{CounterType::kLargeRawCount, "kLargeRawCount"},
    TypeName{CounterType::kDelta, "kDelta"},
    TypeName{CounterType::kLargeDelta, "kLargeDelta"},
    TypeName{CounterType::kCounter, "kCounter"},
    TypeName{CounterType::kBulkCount, "kBulkCount"},
    TypeName{CounterType::kSampleCounter, "kSampleCounter"},
    TypeName{CounterType::kQueueLength, "kQueueLength"},
    TypeName{CounterType::kLargeQueueLength, "kLargeQueueLength"},
    TypeName{CounterType::kQueueLength100Ns, "kQueueLength100Ns"},
    TypeName{CounterType::kQueueLengthObject, "kQueueLengthObject"},
    TypeName{CounterType::kTimer, "kTimer"},
    TypeName{CounterType::kTimerInverse, "kTimerInverse"},
    TypeName{CounterType::kTimer100Ns, "kTimer100Ns"},
    TypeName{CounterType::kTimer100NsInverse, "kTimer100NsInverse"},
    TypeName{CounterType::kTimerObject, "kTimerObject"},
    TypeName{CounterType::kPrecisionSystemTimer, "kPrecisionSystemTimer"},
    TypeName{CounterType::kPrecision100NsTimer, "kPrecision100NsTimer"},
    TypeName{CounterType::kPrecisionObjectTimer, "kPrecisionObjectTimer"},
    TypeName{CounterType::kMultiTimer, "kMultiTimer"},
    TypeName{CounterType::kMultiTimerInverse, "kMultiTimerInverse"},
    TypeName{CounterType::kMultiTimer100Ns, "kMultiTimer100Ns"},
    TypeName{CounterType::kMultiTimer100NsInverse, "kMultiTimer100NsInverse"},
    TypeName{CounterType::kSampleFraction, "kSampleFraction"},
    TypeName{CounterType::kRawFraction, "kRawFraction"},
    TypeName{CounterType::kLargeRawFraction, "kLargeRawFraction"},
    TypeName{CounterType::kAverageTimer, "kAverageTimer"},
    TypeName{CounterType::kAverageBulk, "kAverageBulk"},
    TypeName{CounterType::kElapsedTime, "kElapsedTime"},
    TypeName{CounterType::kText, "kText"},
    TypeName{CounterType::kComposite, "kComposite"},
    TypeName{CounterType::kSampleBase, "kSampleBase"},
    TypeName{CounterType::kAverageBase, "kAverageBase"},
    TypeName{CounterType::kRawBase, "kRawBase"},
    TypeName{CounterType::kLargeRawBase, "kLargeRawBase"},
    TypeName{CounterType::kMultiBase, "kMultiBase"},
};
static_assert(kTypes.size() == 38);

// "perf_counter_bulk_count" is bulk_count, "perf_average_bulk" is average_bulk.
[[nodiscard]] std::string_view short_name_of(CounterType type) noexcept;
// By its full name, in TOML by the short one too.
[[nodiscard]] std::optional<CounterType> type_of(std::string_view word, Language language) noexcept;

// The word for a value; empty if there is none.
template <typename T, std::size_t kSize>
[[nodiscard]] constexpr std::string_view word_for(const std::array<Word<T>, kSize>& words,
                                                  const T& value, Language language) noexcept {
  for (const Word<T>& word : words) {
    if (word.value == value) return word.in(language);
  }
  return {};
}

// A distribution has no type of its own; in TOML this word stands for its form.
inline constexpr std::string_view kHistogramWord = "histogram";

}  // namespace meterbank::generator
