// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/publish/ledger_writer.hpp"

#include <algorithm>

namespace meterbank::arbiter {

Result<LedgerWriter> LedgerWriter::create(const Machine& machine, std::uint16_t epoch,
                                          Nanoseconds now) {
  std::vector<Place> places;
  std::vector<pmu::LedgerPlaceForm> forms;
  const auto& pmus = machine.topology.pmus;
  for (PmuIndex index = 0; index < pmus.size(); ++index) {
    const Pmu& pmu = pmus[index];
    for (const std::uint32_t cpu : pmu.cpus.numbers()) {
      places.emplace_back(index, cpu);
      forms.push_back({pmu.name, cpu, static_cast<std::uint16_t>(pmu.general),
                       static_cast<std::uint16_t>(pmu.fixed), pmu::Grade::kVerified});
    }
  }
  auto owner = pmu::LedgerOwner::create(epoch, forms);
  if (!owner) return tl::make_unexpected(owner.error());
  LedgerWriter writer(std::make_unique<pmu::LedgerOwner>(std::move(*owner)), std::move(places));
  writer.set_alive(now);
  return writer;
}

void LedgerWriter::write(const Arbiter& arbiter) {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    std::uint32_t slot = owner_->first_slot(place);
    for (const std::uint64_t word :
         arbiter.slot_words(places_[place].first, places_[place].second)) {
      owner_->set_slot(slot++, word);
    }
  }
  // Numbers that are used no more first: what is shown of a number is never of two leases.
  const auto& leases = arbiter.leases();
  std::erase_if(shown_, [&](std::uint16_t number) {
    if (leases.contains(number)) return false;
    owner_->set_lease(number, arbiter.lease_word(number));
    return true;
  });
  for (const auto& [number, lease] : leases) {
    owner_->set_lease(number, arbiter.lease_word(number));
    shown_.insert(number);
  }
  owner_->publish();
}

}  // namespace meterbank::arbiter
