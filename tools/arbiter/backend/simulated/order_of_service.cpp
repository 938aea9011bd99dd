// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/simulated/order_of_service.hpp"

#include <cstddef>

namespace meterbank::arbiter {

std::vector<std::optional<std::uint32_t>> serve(std::span<const Candidate> candidates,
                                                Packing packing) {
  std::vector<std::optional<std::uint32_t>> served(candidates.size());
  std::vector<CounterMask> masks;
  std::vector<std::size_t> on;
  std::optional<ServiceClass> service;
  bool has_room = true;
  bool is_shut = false;
  std::size_t on_in_class = 0;
  std::vector<std::uint32_t> counters;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (service != candidate.service) {
      service = candidate.service;
      has_room = true;
      on_in_class = 0;
    }
    if (!has_room || is_shut || (candidate.is_exclusive && on_in_class != 0)) {
      has_room = false;
      continue;
    }
    masks.push_back(candidate.counters);
    auto packed = pack(masks, packing);
    if (!packed) {
      masks.pop_back();
      has_room = false;
      continue;
    }
    counters = std::move(*packed);
    on.push_back(i);
    ++on_in_class;
    is_shut = candidate.is_exclusive;
  }
  for (std::size_t i = 0; i < on.size(); ++i) served[on[i]] = counters[i];
  return served;
}

}  // namespace meterbank::arbiter
