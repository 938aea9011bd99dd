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
  std::unordered_map<std::uint32_t, Life> lives;
  std::vector<std::uint64_t> starts;
  const std::size_t rows = selected.instances();
  lives.reserve(rows);
  starts.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const InstanceView& instance = selected.instance(row);
    const auto before = registration.lives.find(instance.slot);
    const bool is_same =
        before != registration.lives.end() && before->second.generation == instance.generation;
    const std::uint64_t start = is_same ? before->second.start_ns : start_of_new;
    lives.insert_or_assign(instance.slot, Life{instance.generation, start});
    starts.push_back(start);
  }
  registration.lives = std::move(lives);
  return starts;
}

void StartTimes::forget_others() {
  for (auto entry = registrations_.begin(); entry != registrations_.end();) {
    const bool was_used = std::exchange(entry->second.is_used, false);
    entry = was_used ? std::next(entry) : registrations_.erase(entry);
  }
}

}  // namespace meterbank::exposition
