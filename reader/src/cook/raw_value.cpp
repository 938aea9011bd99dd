// SPDX-License-Identifier: Apache-2.0
#include "raw_value.hpp"

namespace meterbank {
namespace {

// CLOCK_MONOTONIC ticks a second.
constexpr std::uint64_t kPerformanceFrequency = 1'000'000'000;

std::uint64_t cut(std::uint64_t value, const CounterView& counter) noexcept {
  return value & value_mask(counter);
}

std::uint64_t linked(const Counterset& set, const std::uint64_t* values, std::uint32_t word,
                     std::uint64_t otherwise) noexcept {
  return word == kNoCounter ? otherwise : cut(values[word], set.counters[word]);
}

// The counter that is the number of components: manifests of Windows name it by either link.
std::uint32_t components_of(const Counterset& set, const CounterView& counter) noexcept {
  if (counter.multi != kNoCounter || counter.base == kNoCounter) return counter.multi;
  return set.counters[counter.base].type == CounterType::kMultiBase ? counter.base : kNoCounter;
}

}  // namespace

RawValue raw_of(const std::uint64_t* words, std::uint64_t time_ns, const Counterset& set,
                const CounterView& counter) noexcept {
  const bool is_stamped = set.stamp_word != kNoCounter;
  // An object without a clock of its own lives by the performance clock.
  RawValue raw = unlinked(is_stamped ? words[set.stamp_word] : time_ns);
  raw.stamped = is_stamped;
  raw.value = cut(words[counter.word], counter);
  raw.base = linked(set, words, counter.base, raw.base);
  if (counter.base != kNoCounter) raw.base_bytes = width_of(set.counters[counter.base].type);
  raw.multi = linked(set, words, components_of(set, counter), raw.multi);
  raw.object_time = linked(set, words, counter.time, raw.object_time);
  raw.object_frequency = linked(set, words, counter.frequency, raw.object_frequency);
  return raw;
}

bool is_unlinked(const Counterset& set, const CounterView& counter) noexcept {
  return set.stamp_word == kNoCounter && counter.base == kNoCounter &&
         counter.multi == kNoCounter && counter.time == kNoCounter &&
         counter.frequency == kNoCounter;
}

RawValue unlinked(std::uint64_t time_ns) noexcept {
  RawValue raw;
  raw.time_ns = raw.object_time = time_ns;
  raw.object_frequency = kPerformanceFrequency;
  return raw;
}

// A writer may keep more than the 32 bits that a counter has; what it counts is the lower half.
std::uint64_t value_mask(const CounterView& counter) noexcept {
  return width_of(counter.type) == 4 ? 0xffffffff : ~std::uint64_t{0};
}

}  // namespace meterbank
