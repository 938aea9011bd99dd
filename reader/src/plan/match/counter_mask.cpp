// SPDX-License-Identifier: Apache-2.0
#include "counter_mask.hpp"

#include <algorithm>

#include "pattern_match.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kMaskBits = 64;
constexpr std::uint32_t kMaskWordsMax = 256;  // of a request

}  // namespace

std::vector<std::uint64_t> counter_mask_of(const Counterset& set,
                                           const std::vector<std::uint32_t>& counters) {
  const auto is_shown = [](const CounterView& counter) { return !is_hidden(counter); };
  const auto all = std::count_if(set.counters.begin(), set.counters.end(), is_shown);
  const auto shown = std::count_if(counters.begin(), counters.end(), [&](std::uint32_t index) {
    return is_shown(set.counters[index]);
  });
  if (shown == all && all > 1) return {kEveryCounter};
  return mask_of_each(set, counters);
}

std::vector<std::uint64_t> mask_of_each(const Counterset& set,
                                        const std::vector<std::uint32_t>& counters) {
  std::vector<std::uint64_t> mask{0};
  for (const std::uint32_t index : counters) {
    const CounterView& counter = set.counters[index];
    for (const std::uint32_t word :
         {counter.word, counter.base, counter.time, counter.frequency, counter.multi}) {
      if (word == kNoCounter) continue;
      const std::uint32_t id = set.counters[word].id;
      if (id / kMaskBits >= kMaskWordsMax) return {kEveryCounter};
      if (id / kMaskBits >= mask.size()) mask.resize(id / kMaskBits + 1);
      mask[id / kMaskBits] |= std::uint64_t{1} << id % kMaskBits;
    }
  }
  return mask;
}

}  // namespace meterbank
