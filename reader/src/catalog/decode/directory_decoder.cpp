// SPDX-License-Identifier: Apache-2.0
#include "directory_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "change_log.hpp"
#include "instance_list.hpp"
#include "live_pieces.hpp"
#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

constexpr int kSlotTries = 3;
constexpr int kLogTries = 3;
constexpr std::size_t kErrorsMax = 32;  // of one provider, in words

// What a decoded schema takes. Texts of a hostile one overlap, so its size says nothing.
std::uint64_t memory_of(const Counterset& set) noexcept {
  constexpr std::size_t kInPlace = 15;   // of a string
  constexpr std::size_t kOverhead = 16;  // of memory elsewhere
  std::uint64_t bytes = sizeof set + set.counters.size() * sizeof(CounterView);
  for (const CounterView& counter : set.counters) {
    for (const std::string* text : {&counter.name, &counter.symbol, &counter.unit, &counter.help}) {
      if (text->size() > kInPlace) bytes += text->size() + kOverhead;
    }
  }
  return bytes;
}

// The part of a RegistrationRecord that is constant once it is published, as one copy.
struct RegistrationFacts {
  Ref schema = 0;
  std::uint32_t schema_bytes = 0;
  BlockForm form;
};

// A known set with slots that changed.
struct ChangedSet {
  std::size_t index = 0;  // in the list of known sets
  const RegistrationRecord* record = nullptr;
  std::uint64_t membership = 0;
  std::vector<std::uint32_t> slots;  // in rising order
};

class DirectoryDecoder {
 public:
  DirectoryDecoder(const MappedSegment& segment, const std::vector<RegisteredSet>& known) noexcept
      : segment_(segment), known_(known), bytes_left_(segment.bytes()) {}

  DecodedDirectory decode();
  // `version`: of the known sets.
  std::optional<DecodedDirectory> decode_changes(std::uint64_t version);

 private:
  using Fault = const char*;  // null: none

  void decode_registration(Ref ref, std::uint32_t index);
  [[nodiscard]] Fault load_facts(Ref ref, RegistrationFacts& facts) const;
  // Goes on behind the groups that the set has.
  [[nodiscard]] Fault walk_groups(const RegistrationRecord& record, RegisteredSet& set);
  // False: the log does not say what changed.
  [[nodiscard]] bool find_changes(std::uint64_t known_version, std::vector<ChangedSet>& changed);
  [[nodiscard]] bool take_slots(const std::vector<ChangedSlot>& slots,
                                std::vector<ChangedSet>& changed) const;
  // False: it does not hold together, and a walk will say why.
  [[nodiscard]] bool read_changes(const ChangedSet& changed, RegisteredSet& set);
  // The piece with its `slots` read anew.
  [[nodiscard]] std::shared_ptr<const InstancePiece> changed_piece(
      const InstancePiece& before, std::span<const std::uint32_t> slots, const RegisteredSet& set);
  [[nodiscard]] bool read_slot_of(const RegisteredSet& set, std::uint32_t slot,
                                  InstanceView& instance);
  // f(block, descriptor, slot) for each slot of the set.
  template <typename F>
  void for_each_slot(const RegisteredSet& set, F&& f) const;
  void read_instances(RegisteredSet& set);
  // False: the slot holds nothing that can be listed. The name is valid until the next call.
  [[nodiscard]] bool read_slot(const BlockParts<const SharedWord>& block,
                               const SlotDescriptor& descriptor, InstanceView& instance);
  // `elsewhere`: what was loaded of descriptor.name. It is not loaded again, so that the memory
  // that is read is the memory that is charged.
  [[nodiscard]] bool read_name(const SlotDescriptor& descriptor, Ref elsewhere, std::uint64_t bytes,
                               std::string& name) const;
  // Each byte of a segment belongs to one thing at a time, so all things together cannot have more
  // bytes than the segment. False: these are too many, so things overlap.
  [[nodiscard]] bool charge(std::uint64_t bytes) noexcept;
  // In an extent that the segment lists and this reader could not map, for lack of room for
  // example. What lies there is left out; ProviderView::error has the reason.
  [[nodiscard]] bool is_not_mapped(Ref ref) const noexcept {
    return extent_of(ref) >= segment_.extents() && extent_of(ref) < extents_listed_;
  }
  [[nodiscard]] const SharedWord* words_at(Ref ref, std::uint64_t count) const noexcept;
  [[nodiscard]] Result<std::shared_ptr<const Counterset>> schema_of(Ref registration,
                                                                    const RegistrationFacts& facts);
  void report(std::uint32_t index, std::string why);

  const MappedSegment& segment_;
  const std::vector<RegisteredSet>& known_;
  std::uint32_t extents_listed_ = 0;
  std::uint64_t bytes_left_;
  std::uint64_t unreadable_slots_ = 0;  // of the set that is being read
  std::string name_;                    // of the slot that was read last
  std::uint64_t more_errors_ = 0;       // than are kept
  std::vector<Ref> seen_;
  DecodedDirectory result_;
};

void DirectoryDecoder::report(std::uint32_t index, std::string why) {
  if (result_.errors.size() == kErrorsMax) {
    ++more_errors_;
    return;
  }
  result_.errors.push_back(Error{ErrorCode::kCorrupt, 0,
                                 "registration " + std::to_string(index) + ": " + std::move(why),
                                 "restart the provider; its other sets are served"});
}

DecodedDirectory DirectoryDecoder::decode() {
  const SegmentHeader& header = segment_.header();
  // [Q5] pairs with [P5]. Without it a directory older than its version could be decoded, and the
  // change that the version announced would be missed for ever.
  result_.version = header.directory_version.load(std::memory_order_acquire);
  // relaxed: a number to compare with; the entries are not read.
  extents_listed_ = std::min(header.extents_count.load(std::memory_order_relaxed), kExtentsMax);
  // [Q6] pairs with [P6]. Without it a Ref or its record could be seen before it was written.
  std::uint32_t count = header.registrations_count.load(std::memory_order_acquire);
  if (count > kRegistrationsMax) {
    report(kRegistrationsMax, "there are said to be " + std::to_string(count));
    count = kRegistrationsMax;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    // relaxed: written before the count, which was loaded by [Q6].
    const Ref ref = header.registrations[index].load(std::memory_order_relaxed);
    if (ref == 0 || is_not_mapped(ref)) continue;
    decode_registration(ref, index);
  }
  if (more_errors_ != 0) {
    result_.errors.back().what += "; and " + std::to_string(more_errors_) + " more";
  }
  return std::move(result_);
}

DirectoryDecoder::Fault DirectoryDecoder::load_facts(Ref ref, RegistrationFacts& facts) const {
  constexpr std::size_t kFirst = offsetof(RegistrationRecord, schema);
  constexpr std::size_t kEnd = offsetof(RegistrationRecord, reserved1);
  std::array<std::byte, kEnd - kFirst> copy{};
  if (!segment_.copy_out(ref + kFirst, copy.size(), copy.data())) return "outside the segment";
  const auto take = [&copy](std::size_t offset, auto& field) {
    std::memcpy(&field, copy.data() + (offset - kFirst), sizeof field);
  };
  std::uint32_t consistency = 0;
  take(offsetof(RegistrationRecord, schema), facts.schema);
  take(offsetof(RegistrationRecord, schema_bytes), facts.schema_bytes);
  take(offsetof(RegistrationRecord, words), facts.form.words);
  take(offsetof(RegistrationRecord, lanes), facts.form.lanes);
  take(offsetof(RegistrationRecord, consistency), consistency);
  take(offsetof(RegistrationRecord, checkpoint), facts.form.checkpoint);
  take(offsetof(RegistrationRecord, cut_pair), facts.form.cut_pair);
  take(offsetof(RegistrationRecord, shards), facts.form.shards);
  facts.form.consistency = static_cast<Consistency>(consistency);
  if (!facts.form.valid()) return "form of its blocks";
  if (facts.schema_bytes > kSchemaBytesMax) return "schema larger than 1 MiB";
  return nullptr;
}

Result<std::shared_ptr<const Counterset>> DirectoryDecoder::schema_of(
    Ref registration, const RegistrationFacts& facts) {
  if (!charge(facts.schema_bytes)) return fail(ErrorCode::kCorrupt, "schemas overlap");
  // Readers take at most twice what they map.
  const auto charge_memory = [&](const Counterset& set) {
    const std::uint64_t half = memory_of(set) / 2;
    return half <= facts.schema_bytes || charge(half - facts.schema_bytes);
  };
  const auto too_large = [] {
    return fail(ErrorCode::kCorrupt, "its schema takes more memory than its provider publishes");
  };
  for (const RegisteredSet& known : known_) {
    if (known.registration != registration || known.set->form != facts.form) continue;
    if (!charge_memory(*known.set)) return too_large();
    return known.set;
  }
  std::vector<std::byte> copy(facts.schema_bytes);
  if (!segment_.copy_out(facts.schema, copy.size(), copy.data())) {
    return fail(ErrorCode::kCorrupt, "schema outside the segment");
  }
  auto set = decode_schema(copy, facts.form);
  if (!set) return tl::make_unexpected(std::move(set.error()));
  if (!charge_memory(*set)) return too_large();
  return std::make_shared<const Counterset>(std::move(*set));
}

void DirectoryDecoder::decode_registration(Ref ref, std::uint32_t index) {
  const auto* record = segment_.at<RegistrationRecord>(ref);
  if (record == nullptr) return report(index, "outside the segment");
  if (std::find(seen_.begin(), seen_.end(), ref) != seen_.end()) {
    return report(index, "declared twice");
  }
  seen_.push_back(ref);
  const std::uint64_t left_before = bytes_left_;
  // [Q3] pairs with [P3]. Without it the schema could be read before it was written.
  const auto word = RegistrationWord::of(record->word.load(std::memory_order_acquire));
  if (word.state == RegistrationState::kFree) return;
  RegistrationFacts facts;
  if (Fault fault = load_facts(ref, facts); fault != nullptr) return report(index, fault);
  if (is_not_mapped(facts.schema)) return;
  auto schema = schema_of(ref, facts);
  if (!schema) return report(index, std::move(schema.error().what));

  RegisteredSet set;
  set.set = *std::move(schema);
  set.generation = word.generation;
  set.state = word.state;
  set.flags = word.flags;
  set.registration = ref;
  // Before the slots: whatever changes while they are read then differs from this number.
  // [R9] pairs with [S1]. Without it this number could be that of a next life and a slot below
  // still be seen in the life before, LIVE.
  set.membership = record->membership.load(std::memory_order_acquire);
  unreadable_slots_ = 0;
  const std::string name = escape_for_terminal(set.set->name);
  if (Fault fault = walk_groups(*record, set); fault != nullptr) {
    return report(index, name + ": " + fault);
  }
  read_instances(set);
  if (unreadable_slots_ != 0) {
    report(index, name + ": instances without a sound name: " + std::to_string(unreadable_slots_));
  }
  set.bytes = left_before - bytes_left_;
  result_.sets.push_back(std::move(set));
}

DirectoryDecoder::Fault DirectoryDecoder::walk_groups(const RegistrationRecord& record,
                                                      RegisteredSet& set) {
  const SharedWord* link = &record.first_group;
  // walk_groups() has found them.
  if (!set.groups.empty()) link = &segment_.at<GroupHeader>(set.groups.back())->next;
  for (std::size_t count = set.groups.size();; ++count) {
    // [Q4] pairs with [P4]. Without it the group's header could be read before it was written.
    const Ref ref = link->load(std::memory_order_acquire);
    if (ref == 0 || is_not_mapped(ref)) return nullptr;
    if (count == kGroupsMax) return "too many groups";
    // Asked before the group is charged: a cycle must not use up what other sets may visit.
    if (std::find(set.groups.begin(), set.groups.end(), ref) != set.groups.end()) {
      return "its groups form a cycle";
    }
    const auto* header = segment_.at<GroupHeader>(ref);
    if (header == nullptr) return "group outside the segment";
    std::uint32_t slots = 0;
    if (!segment_.copy_out(ref + offsetof(GroupHeader, slots), sizeof slots,
                           reinterpret_cast<std::byte*>(&slots))) {
      return "group outside the segment";
    }
    if (slots == 0 || slots > kGroupSlotsMax || slots % 8 != 0) return "slots of a group";
    const GroupLayout layout = GroupLayout::of(set.set->form, slots);
    if (segment_.lines_at(ref, layout.bytes) == nullptr) return "group exceeds the segment";
    if (!charge(layout.bytes)) return "groups overlap or repeat";
    set.groups.push_back(ref);
    set.layouts.push_back(layout);
    set.group_slots.push_back(slots);
    link = &header->next;
  }
}

// ---- What changed ----

// A set that is taken over gets a membership word that was loaded before the version that its list
// is of. So a slot that is not read again is in the life that it was in: whatever ends a life
// changes the version before the next life of the slot changes the membership [S1].
bool DirectoryDecoder::find_changes(std::uint64_t known_version, std::vector<ChangedSet>& changed) {
  const SegmentHeader& header = segment_.header();
  // relaxed: as in decode().
  extents_listed_ = std::min(header.extents_count.load(std::memory_order_relaxed), kExtentsMax);
  for (int attempt = 0; attempt < kLogTries; ++attempt) {
    // [Q5] pairs with [P5]. Without it the entries below could be older than this version.
    result_.version = header.directory_version.load(std::memory_order_acquire);
    const auto slots = read_log(segment_, known_version, result_.version);
    if (!slots || !take_slots(*slots, changed)) return false;
    // relaxed: [R9] and [Q8] come before. Another version: a slot that these do not name could have
    // ended its life before a membership word was loaded that counts its next one.
    if (header.directory_version.load(std::memory_order_relaxed) == result_.version) return true;
  }
  return false;
}

bool DirectoryDecoder::take_slots(const std::vector<ChangedSlot>& slots,
                                  std::vector<ChangedSet>& changed) const {
  changed.clear();
  std::uint32_t registration = kRegistrationsMax;  // the one of changed.back(); none so far
  for (const ChangedSlot& slot : slots) {
    if (slot.registration != registration) {
      registration = slot.registration;
      // relaxed: written before the set was published, and the set is a known one.
      const Ref ref = segment_.header().registrations[registration].load(std::memory_order_relaxed);
      const auto known = std::find_if(known_.begin(), known_.end(),
                                      [ref](const auto& set) { return set.registration == ref; });
      const auto* const record = segment_.at<RegistrationRecord>(ref);
      if (known == known_.end() || record == nullptr) return false;
      const auto index = static_cast<std::size_t>(known - known_.begin());
      // [R9] pairs with [S1]. Without it the version that is loaded next could be one in which a
      // life goes on whose slot this number gives to another.
      const std::uint64_t membership = record->membership.load(std::memory_order_acquire);
      changed.push_back({index, record, membership, {}});
    }
    changed.back().slots.push_back(slot.slot);
  }
  return true;
}

std::optional<DecodedDirectory> DirectoryDecoder::decode_changes(std::uint64_t version) {
  std::vector<ChangedSet> changed;
  if (!find_changes(version, changed)) return std::nullopt;
  for (const RegisteredSet& set : known_) {
    if (!charge(set.bytes)) return std::nullopt;
  }
  result_.sets = known_;
  for (const ChangedSet& set : changed) {
    if (!read_changes(set, result_.sets[set.index])) return std::nullopt;
  }
  return std::move(result_);
}

bool DirectoryDecoder::read_changes(const ChangedSet& changed, RegisteredSet& set) {
  const std::uint64_t left_before = bytes_left_;
  set.membership = changed.membership;
  if (walk_groups(*changed.record, set) != nullptr) return false;
  unreadable_slots_ = 0;
  const auto before = set.instances.pieces();
  InstanceViews::Pieces pieces(before.begin(), before.end());
  const std::uint64_t end =
      std::accumulate(set.group_slots.begin(), set.group_slots.end(), std::uint64_t{0});
  std::span<const std::uint32_t> left = changed.slots;
  // Slots of no group hold nothing, whatever the log says.
  while (!left.empty() && left.front() < end) {
    const std::size_t index = left.front() / InstancePiece::kSlots;
    const auto is_here = [index](std::uint32_t slot) {
      return slot / InstancePiece::kSlots == index;
    };
    const auto next = std::find_if_not(left.begin(), left.end(), is_here);
    const auto slots = left.first(static_cast<std::size_t>(next - left.begin()));
    left = left.subspan(slots.size());
    while (pieces.size() <= index) pieces.push_back(InstanceList().piece());
    pieces[index] = changed_piece(*pieces[index], slots, set);
  }
  if (unreadable_slots_ != 0) return false;
  while (!pieces.empty() && pieces.back()->instances.empty()) pieces.pop_back();
  set.instances = InstanceViews(std::move(pieces));
  set.bytes += left_before - bytes_left_;
  return true;
}

std::shared_ptr<const InstancePiece> DirectoryDecoder::changed_piece(
    const InstancePiece& before, std::span<const std::uint32_t> slots, const RegisteredSet& set) {
  InstanceList list(before, slots.size());
  std::span<const InstanceView> left = before.instances;
  for (const std::uint32_t slot : slots) {
    const auto place = std::lower_bound(
        left.begin(), left.end(), slot,
        [](const InstanceView& instance, std::uint32_t wanted) { return instance.slot < wanted; });
    const auto kept = static_cast<std::size_t>(place - left.begin());
    list.take_over(left.first(kept));
    left = left.subspan(kept);
    if (!left.empty() && left.front().slot == slot) {
      const std::size_t name_bytes = left.front().name.size();
      // A name of this size was elsewhere, and at least so much was charged for it.
      if (name_bytes > kNameHereBytes) bytes_left_ += name_bytes;
      list.leave_out(left.front());
      left = left.subspan(1);
    }
    InstanceView instance;
    if (read_slot_of(set, slot, instance)) list.add(instance);
  }
  list.take_over(left);
  if (list.is_wasteful()) list = list.copied();
  return std::move(list).piece();
}

bool DirectoryDecoder::read_slot_of(const RegisteredSet& set, std::uint32_t slot,
                                    InstanceView& instance) {
  instance.slot = slot & InstanceView::kSlotMask;
  for (std::size_t index = 0; index < set.groups.size(); ++index) {
    if (slot >= set.group_slots[index]) {
      slot -= set.group_slots[index];
      continue;
    }
    const GroupLayout& layout = set.layouts[index];
    // walk_groups() has found it.
    const std::byte* const group = segment_.lines_at(set.groups[index], layout.bytes);
    const auto* descriptors = reinterpret_cast<const SlotDescriptor*>(group + layout.descriptors);
    return read_slot(block_parts(group, set.set->form, layout, slot), descriptors[slot], instance);
  }
  return false;  // in a group that is not mapped
}

bool DirectoryDecoder::charge(std::uint64_t bytes) noexcept {
  if (bytes > bytes_left_) return false;
  bytes_left_ -= bytes;
  return true;
}

template <typename F>
void DirectoryDecoder::for_each_slot(const RegisteredSet& set, F&& f) const {
  std::uint32_t first_slot = 0;
  for (std::size_t index = 0; index < set.groups.size(); ++index) {
    const GroupLayout& layout = set.layouts[index];
    // walk_groups() has found it.
    const std::byte* const group = segment_.lines_at(set.groups[index], layout.bytes);
    const auto* descriptors = reinterpret_cast<const SlotDescriptor*>(group + layout.descriptors);
    for (std::uint32_t slot = 0; slot < set.group_slots[index]; ++slot) {
      f(block_parts(group, set.set->form, layout, slot), descriptors[slot], first_slot + slot);
    }
    first_slot += set.group_slots[index];
  }
}

void DirectoryDecoder::read_instances(RegisteredSet& set) {
  // A provider whose other sets changed does not make its readers keep this one twice.
  const auto known = std::find_if(known_.begin(), known_.end(), [&set](const auto& one) {
    return one.registration == set.registration;
  });
  LivePieces pieces(known == known_.end() ? InstanceViews() : known->instances);
  for_each_slot(set, [&](const auto& block, const SlotDescriptor& descriptor, std::uint32_t slot) {
    InstanceView instance;
    instance.slot = slot & InstanceView::kSlotMask;
    if (read_slot(block, descriptor, instance)) pieces.add(instance);
  });
  set.instances = std::move(pieces).end();
}

bool DirectoryDecoder::read_slot(const BlockParts<const SharedWord>& block,
                                 const SlotDescriptor& descriptor, InstanceView& instance) {
  bool is_sound = true;
  for (int attempt = 0; attempt < kSlotTries; ++attempt) {
    const SlotWord word = slot_of<StdAtomics>(*block.slot);
    if (!word.readable()) return false;
    // relaxed, here and in read_name: still_in() tells whether the words were of this life.
    const std::uint64_t identity = StdAtomics::load_relaxed(descriptor.identity);
    const Ref elsewhere = StdAtomics::load_relaxed(descriptor.name);
    const bool is_elsewhere = elsewhere != 0;
    is_sound = read_name(descriptor, elsewhere, identity >> 32, name_);
    if (!still_in<StdAtomics>(*block.slot, word.generation)) continue;
    if (is_not_mapped(elsewhere)) return false;
    // Names in the slot are part of the group.
    if (is_elsewhere) is_sound = is_sound && charge(identity >> 32);
    instance.name = name_;
    instance.id = static_cast<std::uint32_t>(identity);
    instance.generation = word.generation;
    instance.closed = word.state == SlotState::kClosed;
    is_sound = is_sound && instance.id <= kInstanceIdMax;
    if (!is_sound) ++unreadable_slots_;
    return is_sound;
  }
  return false;  // it changes faster than it can be read; the directory version will tell
}

const SharedWord* DirectoryDecoder::words_at(Ref ref, std::uint64_t count) const noexcept {
  if (extent_of(ref) >= segment_.extents()) return nullptr;
  const MappedBytes bytes = segment_.extent(extent_of(ref)).bytes();
  return reinterpret_cast<const SharedWord*>(
      bytes.span_at(offset_of(ref), count * sizeof(SharedWord), alignof(SharedWord)));
}

bool DirectoryDecoder::read_name(const SlotDescriptor& descriptor, Ref elsewhere,
                                 std::uint64_t bytes, std::string& name) const {
  const std::size_t words = (bytes + 7) / 8;
  const SharedWord* source = descriptor.name_here.data();
  if (bytes > kNameBytesMax) return false;
  if (elsewhere == 0) {
    if (bytes > kNameHereBytes) return false;
  } else {
    source = words_at(elsewhere, words);
    if (source == nullptr) return false;
  }
  std::array<std::uint64_t, (kNameBytesMax + 7) / 8> copy;
  StdAtomics::copy_words(copy.data(), source, words);
  name.assign(reinterpret_cast<const char*>(copy.data()), bytes);
  if (!is_valid_utf8(name)) {
    // A repair may not make a reader keep much more than the provider wrote.
    name = repair_utf8(name, std::max<std::size_t>(bytes, kNameHereBytes)).text;
  }
  return true;
}

}  // namespace

DecodedDirectory decode_directory(const MappedSegment& segment,
                                  const std::vector<RegisteredSet>& known) {
  return DirectoryDecoder(segment, known).decode();
}

std::optional<DecodedDirectory> decode_changes(const MappedSegment& segment,
                                               const KnownDirectory& known) {
  return DirectoryDecoder(segment, known.sets).decode_changes(known.version);
}

}  // namespace meterbank
