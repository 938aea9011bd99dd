// SPDX-License-Identifier: Apache-2.0
#include "namesakes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

using Registered = QueryParts::Registered;

std::shared_ptr<const NameHashes> hashes_of(const InstanceViews& instances) {
  auto names = std::make_shared<NameHashes>();
  names->all.reserve(instances.size());
  for (const auto& piece : instances.pieces()) {
    names->first_of_piece.push_back(names->all.size());
    for (const InstanceView& instance : piece->instances) {
      names->all.push_back(KeyedFoldedHash{}(instance.name));
    }
  }
  return names;
}

const NameHashes& names_of(Registered& registered) {
  if (registered.names == nullptr) registered.names = hashes_of(registered.set->instances);
  return *registered.names;
}

// f(hash) for the name of each instance that is not closed.
template <typename F>
void for_each_living(Registered& registered, F&& f) {
  const NameHashes& names = names_of(registered);
  auto hash = names.all.begin();
  for (const InstanceView& instance : registered.set->instances) {
    if (!instance.closed) f(*hash);
    ++hash;
  }
}

// Which names several providers have. Names are compared by their keyed hashes, and the table has
// open addressing: with thousands of providers most of the time of a plan is spent here.
class NamesOfProviders {
 public:
  explicit NamesOfProviders(std::size_t names)
      : slots_(std::bit_ceil(2 * std::max<std::size_t>(names, 1))) {}

  // `provider` counts from 1.
  void add(std::size_t name, std::uint32_t provider) {
    Slot& slot = slots_[slot_of(name)];
    slot.several = slot.several || (slot.provider != 0 && slot.provider != provider);
    slot.name = name;
    slot.provider = provider;
    any_ = any_ || slot.several;
  }
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] bool several_have(std::size_t name) const noexcept {
    return any_ && slots_[slot_of(name)].several;
  }

 private:
  struct Slot {
    std::size_t name = 0;
    std::uint32_t provider = 0;  // the last one that has the name; 0: the slot is free
    bool several = false;
  };

  // Half of them are free, so the search ends.
  [[nodiscard]] std::size_t slot_of(std::size_t name) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = name & mask;
    while (slots_[place].provider != 0 && slots_[place].name != name) place = (place + 1) & mask;
    return place;
  }

  std::vector<Slot> slots_;
  bool any_ = false;
};

// The registrations of one set in one provider.
class OfProvider {
 public:
  void add(Registered& registered) {
    constexpr std::size_t kAnswered = 1;  // see ProviderView::segment_id
    is_trusted_ = registered.provider->trusted;
    // A callback adds the names that it likes, and no registration knows those of another one.
    may_repeat_ = may_repeat_ || !sets_.empty() ||
                  registered.provider->segment_id[kAnswered] != 0 ||
                  registered.set->set->identity == InstanceIdentity::kNameAndId;
    instances_ += registered.set->instances.size();
    sets_.push_back(&registered);
  }
  [[nodiscard]] bool is_trusted() const noexcept { return is_trusted_; }
  [[nodiscard]] bool may_repeat() const noexcept { return may_repeat_; }
  [[nodiscard]] std::size_t instances() const noexcept { return instances_; }

  void add_to(NamesOfProviders& names, std::uint32_t number) {
    for (Registered* const set : sets_) {
      for_each_living(*set, [&](std::size_t name) { names.add(name, number); });
    }
  }
  void list_names() {
    names_.reserve(instances_);
    for (Registered* const set : sets_) {
      for_each_living(*set, [this](std::size_t name) { names_.push_back(name); });
    }
    std::sort(names_.begin(), names_.end());
  }
  // Precondition: list_names().
  [[nodiscard]] bool repeats(std::size_t name) const {
    const auto [first, last] = std::equal_range(names_.begin(), names_.end(), name);
    return last - first > 1;
  }

 private:
  std::vector<Registered*> sets_;
  std::vector<std::size_t> names_;  // hashes, with repetitions
  std::size_t instances_ = 0;
  bool is_trusted_ = false;
  bool may_repeat_ = false;
};

// The registrations of all sets of one name.
class OfName {
 public:
  [[nodiscard]] OfProvider& of(const ProviderView& provider) {
    return providers_[provider.segment_id[0]];
  }

  void compare() {
    std::size_t trusted = 0, instances = 0;
    for (auto& [inode, provider] : providers_) {
      if (provider.may_repeat()) provider.list_names();
      if (!provider.is_trusted()) continue;
      ++trusted;
      instances += provider.instances();
    }
    if (trusted < 2) return;
    names_ = NamesOfProviders(instances);
    std::uint32_t number = 0;
    for (auto& [inode, provider] : providers_) {
      if (provider.is_trusted()) provider.add_to(names_, ++number);
    }
  }

  void mark(const OfProvider& own, Registered& registered, QueryPlan::Selection& selection) const {
    const bool may_share = own.may_repeat() && has_instance_names(selection.set->set->instances);
    // The rows of one trusted provider whose names differ: the usual case.
    if (!names_.any() && !may_share) return;
    const NameHashes& names = names_of(registered);
    selection.marks.reserve(selection.rows);
    for (const auto& [rows, first_row] : selection.list->parts) {
      const std::size_t piece = rows->first_index / InstancePiece::kSlots;
      const std::size_t* const of_piece = names.all.data() + names.first_of_piece[piece];
      for (const std::uint16_t place : rows->places) {
        const std::size_t name = of_piece[place];
        selection.marks.push_back({selection.all_have_namesakes || names_.several_have(name),
                                   may_share && own.repeats(name)});
      }
    }
  }

 private:
  std::map<std::uint64_t, OfProvider> providers_;  // by the inode of their memory
  NamesOfProviders names_{0};  // empty unless several trusted providers have such a set
};

}  // namespace

void mark_namesakes(std::vector<QueryParts::Registered>& registered,
                    std::span<const std::uint32_t> of_selections, QueryPlan& plan) {
  std::unordered_map<std::string_view, OfName, KeyedFoldedHash, FoldedEqual> sets;
  struct Place {
    const OfName* name;
    const OfProvider* provider;
  };
  std::vector<Place> places;
  places.reserve(registered.size());
  for (Registered& one : registered) {
    OfName& name = sets[one.set->set->name];
    OfProvider& provider = name.of(*one.provider);
    provider.add(one);
    places.push_back({&name, &provider});
  }
  for (auto& [name, set] : sets) set.compare();
  for (std::size_t index = 0; index < plan.selections.size(); ++index) {
    const std::uint32_t number = of_selections[index];
    places[number].name->mark(*places[number].provider, registered[number], plan.selections[index]);
  }
}

}  // namespace meterbank
