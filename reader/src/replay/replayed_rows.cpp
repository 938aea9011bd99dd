// SPDX-License-Identifier: Apache-2.0
#include "replayed_rows.hpp"

#include <algorithm>
#include <utility>

#include "../catalog/decode/instance_list.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// Words that were joined and copied already: one copy is enough, and nothing tells of changes.
BlockForm form_in_replay(const Counterset& set) noexcept {
  return {.words = set.form.words, .lanes = 1, .consistency = Consistency::kIndependent};
}

RowConsistency consistency_of(const Counterset& set) noexcept {
  if (set.consistency != Consistency::kBlock) return RowConsistency::kIndependent;
  return set.form.sharded() ? RowConsistency::kShards : RowConsistency::kBlock;
}

}  // namespace

// relaxed, all accesses of this file: the memory is private, this thread writes and reads it.
ReplayedRows::ReplayedRows(ReplayedSegment& segment, std::uint32_t record,
                           std::shared_ptr<const Counterset> set)
    : segment_(segment),
      record_(record),
      memory_(std::make_shared<Memory>(form_in_replay(*set))),
      places_(std::make_shared<const std::vector<std::uint32_t>>()) {
  StdAtomics::store_relaxed(memory_->record.word,
                            RegistrationWord{0, 0, RegistrationState::kInserted}.raw());
  const auto* const bytes = reinterpret_cast<const std::byte*>(&memory_->record);
  listed_.set = std::move(set);
  segment_.replace(record_, {bytes, sizeof(RegistrationRecord)});
}

ReplayedRows::~ReplayedRows() {
  StdAtomics::store_relaxed(memory_->record.word,
                            RegistrationWord{0, 0, RegistrationState::kClosed}.raw());
  segment_.empty(record_);
  for (const std::uint32_t extent : group_extents_) segment_.remove(extent);
}

const InstanceView* ReplayedRows::listed(std::uint32_t slot) const noexcept {
  return listed_.instances.in_slot(slot);
}

Result<void> ReplayedRows::check(const ReplayedInstance& instance) const {
  constexpr std::uint64_t kGenerationMax = ~std::uint64_t{0} >> 2;  // see SlotWord
  const auto corrupt = [&instance](const char* what) {
    return fail(ErrorCode::kCorrupt,
                "instance in slot " + std::to_string(instance.slot) + ": " + what);
  };
  if (instance.slot > InstanceView::kSlotMask) return corrupt("slot is out of range");
  if (instance.generation > kGenerationMax) return corrupt("generation is out of range");
  const bool is_name = instance.name.size() <= kNameBytesMax && is_valid_utf8(instance.name);
  if (!is_name) return corrupt("name is too long or not UTF-8");
  const auto change = changes_.find(instance.slot);
  const bool begins = change != changes_.end() && change->second.begun;
  const bool ends = change != changes_.end() && change->second.ends;
  if (!begins && (ends || listed(instance.slot) == nullptr)) return {};
  return fail(ErrorCode::kExists,
              "slot " + std::to_string(instance.slot) + " has an instance already");
}

// One row is the usual number of a set that is not small, so the first group has one slot.
std::uint32_t ReplayedRows::next_group() const noexcept {
  const std::uint32_t slots = memory_->groups.slots();
  if (slots == 0) return 1;
  return slots < kGroupSlotsFirst ? kGroupSlotsFirst - slots : slots;
}

std::uint64_t ReplayedRows::growth() const noexcept {
  const bool has_room = !free_.empty() || used_ < memory_->groups.slots();
  return has_room ? 0 : memory_->groups.bytes_of(next_group());
}

std::uint32_t ReplayedRows::free_place() {
  if (free_.empty() && used_ == memory_->groups.slots()) {
    group_extents_.reserve(group_extents_.size() + 1);
    const std::uint32_t extent = segment_.add({});
    memory_->groups.add(next_group());
    group_extents_.push_back(extent);
    segment_.replace(extent, memory_->groups.bytes(memory_->groups.size() - 1));
  }
  // So that end() and show() need no memory.
  free_.reserve(memory_->groups.slots());
  ended_.reserve(memory_->groups.slots());
  if (free_.empty()) return used_++;
  const std::uint32_t place = free_.back();
  free_.pop_back();
  return place;
}

std::uint32_t ReplayedRows::begin(const ReplayedInstance& instance) {
  Begun begun{std::string(instance.name), instance.generation, instance.id, 0, instance.closed};
  Change& change = changes_[instance.slot];
  const std::uint32_t place = begun.place = free_place();
  change.begun = std::move(begun);
  auto& membership = memory_->record.membership;
  StdAtomics::store_relaxed(membership, StdAtomics::load_relaxed(membership) + 1);
  const BlockParts<SharedWord> block = memory_->groups.block(place);
  std::fill_n(words(place).data(), block.words, std::uint64_t{0});
  StdAtomics::store_relaxed(*block.slot, SlotWord{instance.generation, SlotState::kLive}.raw());
  StdAtomics::store_relaxed(
      *memory_->groups.own_words(place),
      RecordedRow{RowStatus::kFresh, consistency_of(*listed_.set), instance.slot}.raw());
  return place;
}

std::uint32_t ReplayedRows::slot_of(std::uint32_t place) const noexcept {
  return RecordedRow::of(StdAtomics::load_relaxed(*memory_->groups.own_words(place))).slot;
}

void ReplayedRows::close(std::uint32_t place) {
  Change& change = changes_[slot_of(place)];
  (change.begun ? change.begun->closed : change.closes) = true;
}

void ReplayedRows::end(std::uint32_t place) {
  const std::uint32_t slot = slot_of(place);
  Change& change = changes_[slot];
  if (change.begun) {
    change.begun.reset();
  } else {
    change.ends = true;
  }
  ended_.push_back(place);
  slot_close<StdAtomics>(memory_->record.membership, *memory_->groups.block(place).slot);
}

std::span<std::uint64_t> ReplayedRows::words(std::uint32_t place) const noexcept {
  // An atomic word is its number and nothing else (block.hpp), and no other thread is here.
  const BlockParts<SharedWord> block = memory_->groups.block(place);
  return {reinterpret_cast<std::uint64_t*>(block.copy0), block.words};
}

void ReplayedRows::set_row(std::uint32_t place, RowStatus status,
                           RowConsistency consistency) const noexcept {
  SharedWord& own = *memory_->groups.own_words(place);
  const std::uint32_t slot = RecordedRow::of(StdAtomics::load_relaxed(own)).slot;
  StdAtomics::store_relaxed(own, RecordedRow{status, consistency, slot}.raw());
}

void ReplayedRows::set_interest(std::uint64_t connections) const noexcept {
  StdAtomics::store_relaxed(memory_->record.interest, connections);
}

void ReplayedRows::list_changes() {
  const InstanceViews before = listed_.instances;
  InstanceList list(before, changes_.size());
  auto places = std::make_shared<std::vector<std::uint32_t>>();
  places->reserve(before.size() + changes_.size());
  auto next = before.begin();
  auto next_place = places_->begin();
  const auto take_over = [&](const InstanceView& instance) {
    list.take_over(instance);
    places->push_back(*next_place);
  };
  const auto go_on = [&] {
    ++next;
    ++next_place;
  };
  for (const auto& [slot, change] : changes_) {
    for (; next != before.end() && next->slot < slot; go_on()) take_over(*next);
    if (next != before.end() && next->slot == slot) {
      InstanceView instance = *next;
      if (change.ends) {
        list.leave_out(instance);
      } else {
        instance.closed = instance.closed || change.closes;
        take_over(instance);
      }
      go_on();
    }
    if (!change.begun) continue;
    const Begun& begun = *change.begun;
    list.add({.name = begun.name,
              .generation = begun.generation,
              .id = begun.id,
              .slot = slot & InstanceView::kSlotMask,
              .closed = begun.closed});
    places->push_back(begun.place);
  }
  for (; next != before.end(); go_on()) take_over(*next);
  if (list.is_wasteful()) list = list.copied();
  listed_.instances = std::move(list).views();
  places_ = std::move(places);
}

void ReplayedRows::show() {
  if (changes_.empty()) return;
  list_changes();
  changes_.clear();
  free_.insert(free_.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

RegisteredSet ReplayedRows::registered(std::shared_ptr<const ProviderView> answered) const {
  RegisteredSet registered = listed_;
  registered.membership = StdAtomics::load_relaxed(memory_->record.membership);
  registered.registration = make_ref(record_, 0);
  for (std::size_t group = 0; group < memory_->groups.size(); ++group) {
    memory_->groups.list_in(registered, group, group_extents_[group]);
  }
  auto recorded = std::make_shared<RecordedRows>();
  recorded->form = memory_->groups.form();
  recorded->places = *places_;
  recorded->places_memory = places_;
  recorded->answered = std::move(answered);
  recorded->answer = {memory_, &memory_->answer};
  registered.recorded = std::move(recorded);
  return registered;
}

}  // namespace meterbank
