// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/spellings.hpp"

#include <array>
#include <charconv>

#include "generator/manifest/vocabulary.hpp"
#include "generator/output/c_text.hpp"

namespace meterbank::generator {

std::string_view enumerator_of(CounterType type) noexcept {
  for (const TypeName& each : kTypes) {
    if (each.type == type) return each.enumerator;
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
