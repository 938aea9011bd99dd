// SPDX-License-Identifier: Apache-2.0
//
// What a MachineBook says of moments that have not come: which plans would fit if other leases had
// left.
#include <algorithm>
#include <utility>

#include "arbiter/core/books/machine_book.hpp"

namespace meterbank::arbiter {
namespace {

// The leases that have left so far, step by step.
class Leavers {
 public:
  explicit Leavers(std::span<const Leaving> leaving) : leaving_(leaving) {}

  [[nodiscard]] std::span<const LeaseId> gone() const noexcept { return gone_; }
  [[nodiscard]] std::size_t steps() const noexcept {
    return next_ == 0 ? 0 : leaving_[next_ - 1].step;
  }
  // Until a lease that is in `holders` has left. False: there is none.
  bool go_on(const std::map<LeaseId, Alternative>& holders) {
    bool has_made_room = false;
    while (!has_made_room) {
      if (next_ == leaving_.size()) return false;
      const std::size_t step = leaving_[next_].step;
      for (; next_ < leaving_.size() && leaving_[next_].step == step; ++next_) {
        const LeaseId lease = leaving_[next_].lease;
        gone_.insert(std::lower_bound(gone_.begin(), gone_.end(), lease), lease);
        has_made_room = has_made_room || holders.contains(lease);
      }
    }
    return true;
  }

 private:
  std::span<const Leaving> leaving_;
  std::size_t next_ = 0;
  std::vector<LeaseId> gone_;
};

}  // namespace

std::optional<std::size_t> MachineBook::steps_until_fit(const Plan& plan,
                                                        const Alternative& alternative,
                                                        std::span<const Leaving> leaving,
                                                        const Coming* coming) const {
  for (const PmuDemand& part : plan.parts) {
    if (!part.cpus.is_within(machine_.online)) return std::nullopt;
  }
  Leavers leavers(leaving);
  for (const PmuDemand& part : plan.parts) {
    const bool fits = part.cpus.all_of([&](std::uint32_t cpu) {
      const PlaceBook& book = book_at(part.pmu, cpu);
      const PmuDemand* other = coming == nullptr ? nullptr : coming->plan.part_at(part.pmu, cpu);
      std::optional<Guest> guest;
      if (other != nullptr) guest.emplace(Guest{other->counters, coming->alternative});
      const Guest* beside = guest ? &*guest : nullptr;
      while (!book.would_fit(part.counters, alternative, leavers.gone(), beside)) {
        if (!leavers.go_on(book.holders())) return false;
      }
      return true;
    });
    if (!fits) return std::nullopt;
  }
  if (!plan.has_units()) return leavers.steps();
  const std::optional<std::size_t> for_units = steps_for_units(plan, leaving, coming);
  if (!for_units) return std::nullopt;
  return std::max(leavers.steps(), *for_units);
}

std::optional<std::size_t> MachineBook::steps_for_units(const Plan& plan,
                                                        std::span<const Leaving> leaving,
                                                        const Coming* coming) const {
  const auto fits = [&plan](const UnitBook& units) {
    return std::none_of(plan.parts.begin(), plan.parts.end(), [&units](const PmuDemand& part) {
      return units.refusal(part).has_value();
    });
  };
  if (coming == nullptr && fits(units_)) return 0;
  UnitBook units = units_;
  if (coming != nullptr) {
    // Under a number that no lease has.
    for (const PmuDemand& part : coming->plan.parts) units.take(kForeignFirst - 1, part);
  }
  std::size_t steps = 0;
  for (std::size_t next = 0; !fits(units);) {
    if (next == leaving.size()) return std::nullopt;
    steps = leaving[next].step;
    for (; next < leaving.size() && leaving[next].step == steps; ++next) {
      units.release(leaving[next].lease);
    }
  }
  return steps;
}

std::vector<LeaseId> MachineBook::holders_near(const Plan& plan) const {
  std::vector<LeaseId> found;
  for (const PmuDemand& part : plan.parts) {
    part.cpus.all_of([&](std::uint32_t cpu) {
      for (const auto& [lease, alternative] : book_at(part.pmu, cpu).holders()) {
        if (lease < kForeignFirst) found.push_back(lease);
      }
      return true;
    });
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

MachineBook::Before MachineBook::before(const Plan& plan) const {
  Before before{.places = {}, .units = units_, .clock = clock_, .touched_all = touched_all_};
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const std::size_t place = place_of(part.pmu, cpu);
      before.places.push_back({place, books_.at(place), changed_[place]});
    }
  }
  return before;
}

void MachineBook::undo(Before before) {
  for (Before::AtPlace& then : before.places) {
    books_[then.place] = std::move(then.book);
    changed_[then.place] = then.changed;
  }
  units_ = std::move(before.units);
  clock_ = before.clock;
  touched_all_ = before.touched_all;
}

bool MachineBook::has_changed(const Plan& plan, std::uint64_t since) const noexcept {
  if (touched_all_ > since) return true;
  return !std::all_of(plan.parts.begin(), plan.parts.end(), [&](const PmuDemand& part) {
    return part.cpus.all_of([&](std::uint32_t cpu) {
      const std::size_t place = place_of(part.pmu, cpu);
      return place == kNowhere || changed_[place] <= since;
    });
  });
}

void MachineBook::touch(const Plan& plan) noexcept {
  ++clock_;
  for (const PmuDemand& part : plan.parts) {
    part.cpus.all_of([&](std::uint32_t cpu) {
      const std::size_t place = place_of(part.pmu, cpu);
      if (place != kNowhere) changed_[place] = clock_;
      return true;
    });
  }
}

}  // namespace meterbank::arbiter
