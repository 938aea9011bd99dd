// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/spellings.hpp"

#include <array>
#include <charconv>

#include "generator/output/c_text.hpp"

namespace meterbank::generator {
namespace {

struct NamedType {
  CounterType type;
  std::string_view name;
};
constexpr std::array kTypes{
    NamedType{CounterType::kRawCountHex, "kRawCountHex"},
    NamedType{CounterType::kLargeRawCountHex, "kLargeRawCountHex"},
    NamedType{CounterType::kRawCount, "kRawCount"},
    NamedType{CounterType::kLargeRawCount, "kLargeRawCount"},
    NamedType{CounterType::kDelta, "kDelta"},
    NamedType{CounterType::kLargeDelta, "kLargeDelta"},
    NamedType{CounterType::kCounter, "kCounter"},
    NamedType{CounterType::kBulkCount, "kBulkCount"},
    NamedType{CounterType::kSampleCounter, "kSampleCounter"},
    NamedType{CounterType::kQueueLength, "kQueueLength"},
    NamedType{CounterType::kLargeQueueLength, "kLargeQueueLength"},
    NamedType{CounterType::kQueueLength100Ns, "kQueueLength100Ns"},
    NamedType{CounterType::kQueueLengthObject, "kQueueLengthObject"},
    NamedType{CounterType::kTimer, "kTimer"},
    NamedType{CounterType::kTimerInverse, "kTimerInverse"},
    NamedType{CounterType::kTimer100Ns, "kTimer100Ns"},
    NamedType{CounterType::kTimer100NsInverse, "kTimer100NsInverse"},
    NamedType{CounterType::kTimerObject, "kTimerObject"},
    NamedType{CounterType::kPrecisionSystemTimer, "kPrecisionSystemTimer"},
    NamedType{CounterType::kPrecision100NsTimer, "kPrecision100NsTimer"},
    NamedType{CounterType::kPrecisionObjectTimer, "kPrecisionObjectTimer"},
    NamedType{CounterType::kMultiTimer, "kMultiTimer"},
    NamedType{CounterType::kMultiTimerInverse, "kMultiTimerInverse"},
    NamedType{CounterType::kMultiTimer100Ns, "kMultiTimer100Ns"},
    NamedType{CounterType::kMultiTimer100NsInverse, "kMultiTimer100NsInverse"},
    NamedType{CounterType::kSampleFraction, "kSampleFraction"},
    NamedType{CounterType::kRawFraction, "kRawFraction"},
    NamedType{CounterType::kLargeRawFraction, "kLargeRawFraction"},
    NamedType{CounterType::kAverageTimer, "kAverageTimer"},
    NamedType{CounterType::kAverageBulk, "kAverageBulk"},
    NamedType{CounterType::kElapsedTime, "kElapsedTime"},
    NamedType{CounterType::kNoData, "kNoData"},
    NamedType{CounterType::kText, "kText"},
    NamedType{CounterType::kSampleBase, "kSampleBase"},
    NamedType{CounterType::kAverageBase, "kAverageBase"},
    NamedType{CounterType::kRawBase, "kRawBase"},
    NamedType{CounterType::kLargeRawBase, "kLargeRawBase"},
    NamedType{CounterType::kMultiBase, "kMultiBase"},
};

}  // namespace

std::string_view enumerator_of(CounterType type) noexcept {
  for (const NamedType& each : kTypes) {
    if (each.type == type) return each.name;
  }
  return {};
}

std::string_view enumerator_of(ValueForm form) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"kUnsigned", "kSigned", "kReal", "kText",
                                                   "kDistribution"};
  return kNames[static_cast<std::size_t>(form)];
}

std::string_view enumerator_of(InstanceKind kind) noexcept {
  switch (kind) {
    case InstanceKind::kSingle:
      return "kSingle";
    case InstanceKind::kGlobalAggregate:
      return "kGlobalAggregate";
    case InstanceKind::kMultipleAggregate:
      return "kMultipleAggregate";
    case InstanceKind::kGlobalAggregateHistory:
      return "kGlobalAggregateHistory";
    default:
      return "kMultiple";
  }
}

std::string_view aggregate_constant(std::uint32_t aggregate) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"kAggregateUndefined", "kAggregateSum",
                                                   "kAggregateAverage", "kAggregateMinimum",
                                                   "kAggregateMaximum"};
  return kNames[aggregate];
}

std::string literal(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string literal(std::string_view text) { return '"' + c_text(text) + '"'; }

}  // namespace meterbank::generator
