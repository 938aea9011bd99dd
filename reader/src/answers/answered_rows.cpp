// SPDX-License-Identifier: Apache-2.0
#include "answered_rows.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "../catalog/decode/instance_list.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kRecordExtent = 1;
constexpr std::uint32_t kFirstGroupExtent = 2;

// One writer and no reader besides: each counter by itself, and the time that all are true at. An
// answer has one word a counter. The words behind them are there, as zeros, for a foreign schema
// may speak of them all the same.
std::shared_ptr<const Counterset> answered_form(const Counterset& declared) {
  auto set = std::make_shared<Counterset>(declared);
  const std::uint32_t words = declared.form.words;
  set->form = BlockForm{words + 1, 1, Consistency::kIndependent, 0};
  set->consistency = Consistency::kIndependent;
  set->stamp_word = words;
  return set;
}

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // relaxed: only that no two are equal matters.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Keeps what a view points to.
struct KeptView {
  ProviderView view;
  std::shared_ptr<const ProviderView> provider;
  std::vector<std::shared_ptr<const void>> memory;
};

}  // namespace

std::size_t AnsweredRows::KeyHash::operator()(const Key& key) const noexcept {
  constexpr std::size_t kSpread = 0x9e3779b97f4a7c15;
  return KeyedFoldedHash{}(key.name) ^ (std::size_t{key.id} + 1) * kSpread;
}

bool AnsweredRows::KeyEqual::operator()(const Key& left, const Key& right) const noexcept {
  return left.id == right.id && equal_folded(left.name, right.name);
}

// relaxed, in all of this file: the words are private, this thread writes and reads them.
AnsweredRows::AnsweredRows(const RegisteredSet& set)
    : set_(answered_form(*set.set)), serial_(next_serial()), groups_(set_->form) {
  // relaxed, as all accesses of this file: private memory of the thread that collects.
  const auto memory = zeroed_lines(sizeof(Record));
  record_ = {memory, new (memory.get()) Record{}};
  StdAtomics::store_relaxed(
      record_->registration.word,
      RegistrationWord{set.generation, set.flags, RegistrationState::kInserted}.raw());
}

void AnsweredRows::set_status(RowStatus status) noexcept {
  StdAtomics::store_relaxed(record_->status, static_cast<std::uint64_t>(status));
}

std::size_t AnsweredRows::take(const std::vector<ChannelRow>& rows, std::uint64_t true_at_ns) {
  ++answers_;
  std::size_t taken = 0;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const ChannelRow& row = rows[index];
    Slot& slot = slot_of(row, rows.size() - index);
    if (slot.seen == answers_) continue;
    slot.seen = answers_;
    ++taken;
    if (!slot.is_live) begin(slot);
    if (row.values.empty()) continue;
    for (std::size_t word = 0; word < row.values.size(); ++word) {
      StdAtomics::store_relaxed(slot.block.copy0[word], row.values[word]);
    }
    StdAtomics::store_relaxed(slot.block.copy0[set_->stamp_word], true_at_ns);
    StdAtomics::store_relaxed(*slot.block.seq, std::uint64_t{2});  // it has values
  }
  // Behind the others, so that no slot gets two lives in one answer.
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index].is_live && slots_[index].seen != answers_) close(index);
  }
  return taken;
}

AnsweredRows::Slot& AnsweredRows::slot_of(const ChannelRow& row, std::size_t still_to_come) {
  if (const auto found = known_.find({row.name, row.id}); found != known_.end()) {
    return *found->second;
  }
  Slot& slot = free_slot(still_to_come);
  slot.name = std::make_shared<const std::string>(row.name);
  slot.id = row.id;
  known_.emplace(Key{*slot.name, slot.id}, &slot);
  return slot;
}

AnsweredRows::Slot& AnsweredRows::free_slot(std::size_t still_to_come) {
  while (!closed_.empty()) {
    Slot& slot = *closed_.front();
    closed_.pop_front();
    slot.is_waiting = false;
    if (slot.is_live) continue;  // it came back
    known_.erase({*slot.name, slot.id});
    return slot;
  }
  const auto place = static_cast<std::uint32_t>(slots_.size());
  if (place == groups_.slots()) add_group(still_to_come);
  Slot& slot = slots_.emplace_back();
  slot.block = groups_.block(place);
  return slot;
}

void AnsweredRows::add_group(std::size_t slots_at_least) {
  constexpr std::size_t kStep = kGroupSlotsFirst;
  const std::size_t wanted = std::max<std::size_t>({kStep, groups_.slots(), slots_at_least});
  groups_.add(static_cast<std::uint32_t>((wanted + kStep - 1) / kStep * kStep));
}

void AnsweredRows::begin(Slot& slot) noexcept {
  ++version_;
  slot.generation = slot_begin<StdAtomics>(record_->registration.membership, *slot.block.slot);
  StdAtomics::store_relaxed(*slot.block.seq, std::uint64_t{0});  // no values as yet
  for (std::uint32_t word = 0; word < slot.block.words; ++word) {
    StdAtomics::store_relaxed(slot.block.copy0[word], std::uint64_t{0});
  }
  slot_live<StdAtomics>(*slot.block.slot, slot.generation);
  slot.is_live = true;
}

void AnsweredRows::close(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (!slot.is_waiting) closed_.push_back(&slot);
  slot.is_waiting = true;
  ++version_;
  slot_close<StdAtomics>(record_->registration.membership, *slot.block.slot);
  slot.is_live = false;
}

void AnsweredRows::make_segment(const ProviderView& provider) {
  if (base_ == provider.segment && segment_groups_ == groups_.size()) return;
  const auto* const record = reinterpret_cast<const std::byte*>(record_.get());
  // Only the first extent of the provider: its memory may grow, and the extents of these rows keep
  // their numbers.
  segment_ = provider.segment->first_alone()->with(MappedExtent::over({record, sizeof(Record)}));
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    segment_ = segment_->with(MappedExtent::over(groups_.bytes(group)));
  }
  base_ = provider.segment;
  segment_groups_ = groups_.size();
}

InstanceViews AnsweredRows::live_instances() const {
  InstanceList live;
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (!slot.is_live) continue;
    live.add(
        {.generation = slot.generation, .id = slot.id, .slot = index & InstanceView::kSlotMask},
        slot.name);
  }
  return std::move(live).views();
}

std::shared_ptr<const ProviderView> AnsweredRows::view(
    const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set) {
  if (viewed_ == provider && viewed_version_ == version_) return view_;
  make_segment(*provider);
  auto kept = std::make_shared<KeptView>();
  kept->provider = provider;
  kept->memory.emplace_back(record_);
  RegisteredSet rows;
  rows.set = set_;
  rows.generation = set.generation;
  rows.state = set.state;
  rows.flags = set.flags;
  rows.membership = StdAtomics::load_relaxed(record_->registration.membership);
  rows.registration = make_ref(kRecordExtent, 0);
  for (std::size_t index = 0; index < groups_.size(); ++index) {
    kept->memory.emplace_back(groups_.memory(index));
    groups_.list_in(rows, index, kFirstGroupExtent + static_cast<std::uint32_t>(index));
  }
  const bool is_known = view_ != nullptr && viewed_version_ == version_;
  rows.instances = is_known ? view_->sets.front().instances : live_instances();
  kept->view = *provider;
  // Slots of two of these objects must not pass for each other's, nor for the provider's own.
  kept->view.segment_id[1] = serial_;
  kept->view.segment = segment_;
  kept->view.errors.clear();
  kept->view.sets.clear();
  kept->view.sets.push_back(std::move(rows));
  viewed_ = provider;
  viewed_version_ = version_;
  view_ = {kept, &kept->view};
  return view_;
}

}  // namespace meterbank
