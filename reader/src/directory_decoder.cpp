// SPDX-License-Identifier: Apache-2.0
#include "directory_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"
#include "schema_decoder.hpp"

namespace meterbank {
namespace {

constexpr int kSlotTries = 3;

// The part of a RegistrationRecord that is constant once it is published, as one copy.
struct RegistrationFacts {
  Ref schema = 0;
  std::uint32_t schema_bytes = 0;
  BlockForm form;
};

class DirectoryDecoder {
 public:
  DirectoryDecoder(const MappedSegment& segment, const std::vector<RegisteredSet>& known) noexcept
      : segment_(segment),
        known_(known),
        group_bytes_left_(segment.bytes()),
        schema_bytes_left_(segment.bytes()),
        name_bytes_left_(segment.bytes()) {}

  DecodedDirectory decode();

 private:
  using Fault = const char*;  // null: none

  void decode_registration(Ref ref, std::uint32_t index);
  [[nodiscard]] Fault load_facts(Ref ref, RegistrationFacts& facts) const;
  [[nodiscard]] Fault walk_groups(const RegistrationRecord& record, RegisteredSet& set);
  void read_instances(const std::byte* group, const GroupLayout& layout, std::uint32_t slots,
                      std::uint32_t first_slot, RegisteredSet& set);
  // False: the slot holds nothing that can be listed.
  [[nodiscard]] bool read_slot(const BlockParts<const SharedWord>& block,
                               const SlotDescriptor& descriptor, InstanceView& instance);
  [[nodiscard]] bool read_name(const SlotDescriptor& descriptor, std::uint64_t bytes,
                               std::string& name);
  [[nodiscard]] const SharedWord* words_at(Ref ref, std::uint64_t count) const noexcept;
  [[nodiscard]] Result<std::shared_ptr<const Counterset>> schema_of(Ref registration,
                                                                    const RegistrationFacts& facts);
  void report(std::uint32_t index, std::string why);

  const MappedSegment& segment_;
  const std::vector<RegisteredSet>& known_;
  std::uint64_t group_bytes_left_;
  std::uint64_t schema_bytes_left_;
  std::uint64_t name_bytes_left_;
  std::uint64_t unreadable_slots_ = 0;  // of the set that is being read
  std::vector<Ref> seen_;
  DecodedDirectory result_;
};

void DirectoryDecoder::report(std::uint32_t index, std::string why) {
  result_.errors.push_back(Error{ErrorCode::kCorrupt, 0,
                                 "registration " + std::to_string(index) + ": " + std::move(why),
                                 "restart the provider; its other sets are served"});
}

DecodedDirectory DirectoryDecoder::decode() {
  const SegmentHeader& header = segment_.header();
  // [Q5] pairs with [P5]. Without it a directory older than its version could be decoded, and the
  // change that the version announced would be missed for ever.
  result_.version = header.directory_version.load(std::memory_order_acquire);
  // acquire, part of [Q3]: the references are seen with the count that covers them.
  std::uint32_t count = header.registrations_count.load(std::memory_order_acquire);
  if (count > kRegistrationsMax) {
    report(kRegistrationsMax, "there are said to be " + std::to_string(count));
    count = kRegistrationsMax;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    // [Q3] pairs with [P3]. Without it the record below could be seen before it was written.
    const Ref ref = header.registrations[index].load(std::memory_order_acquire);
    if (ref == 0) continue;
    decode_registration(ref, index);
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
  for (const RegisteredSet& known : known_) {
    if (known.registration == registration && known.set->form == facts.form) return known.set;
  }
  if (facts.schema_bytes > schema_bytes_left_) {
    return fail(ErrorCode::kCorrupt, "schemas overlap");
  }
  schema_bytes_left_ -= facts.schema_bytes;
  std::vector<std::byte> copy(facts.schema_bytes);
  if (!segment_.copy_out(facts.schema, copy.size(), copy.data())) {
    return fail(ErrorCode::kCorrupt, "schema outside the segment");
  }
  auto set = decode_schema(copy, facts.form);
  if (!set) return tl::make_unexpected(std::move(set.error()));
  return std::make_shared<const Counterset>(std::move(*set));
}

void DirectoryDecoder::decode_registration(Ref ref, std::uint32_t index) {
  const auto* record = segment_.at<RegistrationRecord>(ref);
  if (record == nullptr) return report(index, "outside the segment");
  if (std::find(seen_.begin(), seen_.end(), ref) != seen_.end()) {
    return report(index, "declared twice");
  }
  seen_.push_back(ref);
  // [Q3] pairs with [P3]. Without it the schema could be read before it was written.
  const auto word = RegistrationWord::of(record->word.load(std::memory_order_acquire));
  if (word.state == RegistrationState::kFree) return;
  RegistrationFacts facts;
  if (Fault fault = load_facts(ref, facts); fault != nullptr) return report(index, fault);
  auto schema = schema_of(ref, facts);
  if (!schema) return report(index, std::move(schema.error().what));

  RegisteredSet set;
  set.set = *std::move(schema);
  set.generation = word.generation;
  set.state = word.state;
  set.flags = word.flags;
  set.registration = ref;
  // Before the slots: whatever changes while they are read then differs from this number.
  // acquire: pairs with [S1]. Without it this number could be that of a next life and a slot below
  // still be seen in the life before, LIVE.
  set.membership = record->membership.load(std::memory_order_acquire);
  unreadable_slots_ = 0;
  const std::string name = escape_for_terminal(set.set->name);
  if (Fault fault = walk_groups(*record, set); fault != nullptr) {
    return report(index, name + ": " + fault);
  }
  if (unreadable_slots_ != 0) {
    report(index, name + ": instances without a sound name: " + std::to_string(unreadable_slots_));
  }
  result_.sets.push_back(std::move(set));
}

DirectoryDecoder::Fault DirectoryDecoder::walk_groups(const RegistrationRecord& record,
                                                      RegisteredSet& set) {
  const SharedWord* link = &record.first_group;
  std::uint32_t first_slot = 0;
  for (std::uint32_t count = 0;; ++count) {
    // [Q4] pairs with [P4]. Without it the group's header could be read before it was written.
    const Ref ref = link->load(std::memory_order_acquire);
    if (ref == 0) return nullptr;
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
    const std::byte* group = segment_.lines_at(ref, layout.bytes);
    if (group == nullptr) return "group exceeds the segment";
    if (layout.bytes > group_bytes_left_) return "groups overlap or repeat";
    group_bytes_left_ -= layout.bytes;
    set.groups.push_back(ref);
    set.layouts.push_back(layout);
    set.group_slots.push_back(slots);
    read_instances(group, layout, slots, first_slot, set);
    first_slot += slots;
    link = &header->next;
  }
}

void DirectoryDecoder::read_instances(const std::byte* group, const GroupLayout& layout,
                                      std::uint32_t slots, std::uint32_t first_slot,
                                      RegisteredSet& set) {
  const auto* descriptors = reinterpret_cast<const SlotDescriptor*>(group + layout.descriptors);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    InstanceView instance;
    instance.slot = first_slot + slot;
    const auto block = block_parts(group, set.set->form, layout, slot);
    if (read_slot(block, descriptors[slot], instance)) set.instances.push_back(std::move(instance));
  }
}

bool DirectoryDecoder::read_slot(const BlockParts<const SharedWord>& block,
                                 const SlotDescriptor& descriptor, InstanceView& instance) {
  bool is_sound = true;
  for (int attempt = 0; attempt < kSlotTries; ++attempt) {
    const SlotWord word = slot_of<StdAtomics>(*block.slot);
    if (!word.readable()) return false;
    // relaxed, here and in read_name: still_in() tells whether the words were of this life.
    const std::uint64_t identity = StdAtomics::load_relaxed(descriptor.identity);
    instance.created_ns = StdAtomics::load_relaxed(descriptor.created_ns);
    is_sound = read_name(descriptor, identity >> 32, instance.name);
    if (!still_in<StdAtomics>(*block.slot, word.generation)) continue;
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

bool DirectoryDecoder::read_name(const SlotDescriptor& descriptor, std::uint64_t bytes,
                                 std::string& name) {
  const Ref elsewhere = StdAtomics::load_relaxed(descriptor.name);  // relaxed: see read_slot
  const std::size_t words = (bytes + 7) / 8;
  const SharedWord* source = descriptor.name_here.data();
  if (bytes > kNameBytesMax) return false;
  if (elsewhere == 0) {
    if (bytes > kNameHereBytes) return false;
  } else {
    if (bytes > name_bytes_left_) return false;
    source = words_at(elsewhere, words);
    if (source == nullptr) return false;
    name_bytes_left_ -= bytes;
  }
  std::array<std::uint64_t, (kNameBytesMax + 7) / 8> copy;
  StdAtomics::copy_words(copy.data(), source, words);
  name.assign(reinterpret_cast<const char*>(copy.data()), bytes);
  if (!is_valid_utf8(name)) name = repair_utf8(name, kNameBytesMax).text;
  return true;
}

}  // namespace

DecodedDirectory decode_directory(const MappedSegment& segment,
                                  const std::vector<RegisteredSet>& known) {
  return DirectoryDecoder(segment, known).decode();
}

}  // namespace meterbank
