// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/start_times.hpp"

#include <iterator>
#include <utility>

namespace meterbank::exposition {

std::vector<std::uint64_t> StartTimes::of(const SelectedSet& selected, std::uint64_t last_look_ns) {
  const ProviderView& provider = selected.provider();
  const RegisteredSet& set = selected.registered();
  const Key key = {provider.segment_id[0], provider.segment_id[1], set.registration,
                   set.generation};
  const auto [known, is_new] = registrations_.try_emplace(key);
  Registration& registration = known->second;
  registration.is_used = true;
  const std::uint64_t start_of_new = is_new ? provider.created_realtime_ns : last_look_ns;
  const std::vector<Life> before = std::exchange(registration.lives, {});
  auto old = before.begin();
  std::vector<std::uint64_t> starts;
  const std::size_t rows = selected.instances();
  registration.lives.reserve(rows);
  starts.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const InstanceView& instance = selected.instance(row);
    while (old != before.end() && old->slot < instance.slot) ++old;
    const bool is_same =
        old != before.end() && old->slot == instance.slot && old->generation == instance.generation;
    starts.push_back(is_same ? old->start_ns : start_of_new);
    registration.lives.push_back({instance.slot, instance.generation, starts.back()});
  }
  return starts;
}

void StartTimes::forget_others() {
  for (auto entry = registrations_.begin(); entry != registrations_.end();) {
    const bool was_used = std::exchange(entry->second.is_used, false);
    entry = was_used ? std::next(entry) : registrations_.erase(entry);
  }
}

}  // namespace meterbank::exposition
