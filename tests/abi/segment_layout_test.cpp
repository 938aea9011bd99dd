// SPDX-License-Identifier: Apache-2.0
//
// The layout of a segment, as this compiler lays it out on this machine, against the one written
// down in segment_layout.txt: readers and providers of different builds meet in one segment.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "meterbank/shm/block.hpp"
#include "meterbank/shm/distribution.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {
namespace {

struct Field {
  std::string name;
  std::size_t offset;
  std::size_t bytes;
};

struct Struct {
  std::string name;
  std::size_t bytes;
  std::size_t alignment;
  std::vector<Field> fields;
};

#define METERBANK_FIELD(type, field) \
  Field { #field, offsetof(type, field), sizeof(type::field) }

std::vector<Struct> segment_structs() {
  using S = SegmentHeader;
  using R = RegistrationRecord;
  return {
      {"ExtentEntry",
       sizeof(ExtentEntry),
       alignof(ExtentEntry),
       {METERBANK_FIELD(ExtentEntry, bytes), METERBANK_FIELD(ExtentEntry, inode),
        METERBANK_FIELD(ExtentEntry, descriptor), METERBANK_FIELD(ExtentEntry, reserved)}},
      {"SegmentHeader",
       sizeof(S),
       alignof(S),
       {METERBANK_FIELD(S, magic),
        METERBANK_FIELD(S, layout_major),
        METERBANK_FIELD(S, layout_minor),
        METERBANK_FIELD(S, abi_mark),
        METERBANK_FIELD(S, header_bytes),
        METERBANK_FIELD(S, pid),
        METERBANK_FIELD(S, segment_id),
        METERBANK_FIELD(S, boot_id),
        METERBANK_FIELD(S, start_time),
        METERBANK_FIELD(S, created_monotonic_ns),
        METERBANK_FIELD(S, created_realtime_ns),
        METERBANK_FIELD(S, time_namespace),
        METERBANK_FIELD(S, uid),
        METERBANK_FIELD(S, name_bytes),
        METERBANK_FIELD(S, name),
        METERBANK_FIELD(S, reserved0),
        METERBANK_FIELD(S, directory_version),
        METERBANK_FIELD(S, state),
        METERBANK_FIELD(S, extents_count),
        METERBANK_FIELD(S, registrations_count),
        METERBANK_FIELD(S, reserved1),
        METERBANK_FIELD(S, refused),
        METERBANK_FIELD(S, channel_refused),
        METERBANK_FIELD(S, settled_epoch),
        METERBANK_FIELD(S, reserved2),
        METERBANK_FIELD(S, owner_mutex),
        METERBANK_FIELD(S, heartbeat_ns),
        METERBANK_FIELD(S, heartbeat_period_ns),
        METERBANK_FIELD(S, reserved3),
        METERBANK_FIELD(S, extents),
        METERBANK_FIELD(S, registrations),
        METERBANK_FIELD(S, changes)}},
      {"RegistrationRecord",
       sizeof(R),
       alignof(R),
       {METERBANK_FIELD(R, word), METERBANK_FIELD(R, membership), METERBANK_FIELD(R, first_group),
        METERBANK_FIELD(R, live_instances), METERBANK_FIELD(R, interest),
        METERBANK_FIELD(R, schema), METERBANK_FIELD(R, schema_bytes), METERBANK_FIELD(R, words),
        METERBANK_FIELD(R, lanes), METERBANK_FIELD(R, consistency), METERBANK_FIELD(R, checkpoint),
        METERBANK_FIELD(R, cut_pair), METERBANK_FIELD(R, shards), METERBANK_FIELD(R, reserved0),
        METERBANK_FIELD(R, reserved1)}},
      {"GroupHeader",
       sizeof(GroupHeader),
       alignof(GroupHeader),
       {METERBANK_FIELD(GroupHeader, next), METERBANK_FIELD(GroupHeader, slots),
        METERBANK_FIELD(GroupHeader, reserved0), METERBANK_FIELD(GroupHeader, reserved1)}},
      {"SlotDescriptor",
       sizeof(SlotDescriptor),
       alignof(SlotDescriptor),
       {METERBANK_FIELD(SlotDescriptor, identity), METERBANK_FIELD(SlotDescriptor, name),
        METERBANK_FIELD(SlotDescriptor, created_ns), METERBANK_FIELD(SlotDescriptor, name_here)}},
  };
}

std::vector<Struct> schema_structs() {
  using S = SchemaHeader;
  using C = CounterRecord;
  return {
      {"TextRef",
       sizeof(TextRef),
       alignof(TextRef),
       {METERBANK_FIELD(TextRef, offset), METERBANK_FIELD(TextRef, bytes)}},
      {"Guid", sizeof(Guid), alignof(Guid), {}},
      {"SchemaHeader",
       sizeof(S),
       alignof(S),
       {METERBANK_FIELD(S, bytes), METERBANK_FIELD(S, counters), METERBANK_FIELD(S, counter_bytes),
        METERBANK_FIELD(S, instances), METERBANK_FIELD(S, guid), METERBANK_FIELD(S, provider_guid),
        METERBANK_FIELD(S, name), METERBANK_FIELD(S, symbol), METERBANK_FIELD(S, help),
        METERBANK_FIELD(S, label), METERBANK_FIELD(S, flags), METERBANK_FIELD(S, reserved)}},
      {"CounterRecord",
       sizeof(C),
       alignof(C),
       {METERBANK_FIELD(C, id), METERBANK_FIELD(C, type), METERBANK_FIELD(C, attributes),
        METERBANK_FIELD(C, scale), METERBANK_FIELD(C, detail), METERBANK_FIELD(C, base),
        METERBANK_FIELD(C, time), METERBANK_FIELD(C, frequency), METERBANK_FIELD(C, multi),
        METERBANK_FIELD(C, aggregate), METERBANK_FIELD(C, form), METERBANK_FIELD(C, name),
        METERBANK_FIELD(C, symbol), METERBANK_FIELD(C, unit), METERBANK_FIELD(C, help),
        METERBANK_FIELD(C, more_words), METERBANK_FIELD(C, flags), METERBANK_FIELD(C, bucket_scale),
        METERBANK_FIELD(C, bucket_first)}},
  };
}

std::vector<Struct> all_structs() {
  std::vector<Struct> structs = segment_structs();
  for (Struct& one : schema_structs()) structs.push_back(std::move(one));
  return structs;
}

void print_structs(std::ostream& out) {
  for (const Struct& one : all_structs()) {
    out << "\nstruct " << one.name << ": " << one.bytes << " bytes, aligned to " << one.alignment
        << "\n";
    for (const Field& field : one.fields) {
      out << "  " << field.offset << " " << field.name << ": " << field.bytes << "\n";
    }
  }
}

template <typename Enum>
unsigned long long number(Enum value) {
  return static_cast<unsigned long long>(value);
}

void print_numbers(std::ostream& out) {
  out << "layout " << kLayoutMajor << "\n";
  out << "magic " << kSegmentMagic << ", ABI mark " << kAbiMark << "\n";
  out << "slot states free " << number(SlotState::kFree) << ", init " << number(SlotState::kInit)
      << ", live " << number(SlotState::kLive) << ", closed " << number(SlotState::kClosed)
      << "; slot word of generation 5, live: " << SlotWord{5, SlotState::kLive}.raw() << "\n";
  out << "registration states free " << number(RegistrationState::kFree) << ", inserted "
      << number(RegistrationState::kInserted) << ", closing " << number(RegistrationState::kClosing)
      << ", closed " << number(RegistrationState::kClosed)
      << "; registration word of generation 5, flags 3, inserted: "
      << RegistrationWord{5, 3, RegistrationState::kInserted}.raw() << "\n";
  out << "segment states starting " << number(SegmentState::kStarting) << ", live "
      << number(SegmentState::kLive) << ", closed " << number(SegmentState::kClosed)
      << "; owner died " << kOwnerDied << "\n";
  out << "refusals instances " << number(Refusal::kInstanceLimit) << ", registrations "
      << number(Refusal::kRegistrationLimit) << ", memory " << number(Refusal::kMemoryLimit)
      << ", system " << number(Refusal::kSystem) << "\n";
  out << "consistency block " << number(Consistency::kBlock) << ", independent "
      << number(Consistency::kIndependent) << "\n";
  out << "instances single " << number(InstanceKind::kSingle) << ", multiple "
      << number(InstanceKind::kMultiple) << ", global aggregate "
      << number(InstanceKind::kGlobalAggregate) << ", multiple aggregate "
      << number(InstanceKind::kMultipleAggregate) << ", global aggregate history "
      << number(InstanceKind::kGlobalAggregateHistory) << "\n";
  out << "schema flags stamped " << kSchemaStamped << ", name and id " << kSchemaNameAndId
      << ", no counter " << kNoCounter << "\n";
  using D = DistributionShape;
  out << "forms unsigned " << number(ValueForm::kUnsigned) << ", signed "
      << number(ValueForm::kSigned) << ", real " << number(ValueForm::kReal) << ", text "
      << number(ValueForm::kText) << ", distribution " << number(ValueForm::kDistribution)
      << "; counter flags timed " << kCounterTimed << ", any thread " << kCounterAnyThread << "\n";
  out << "words of a distribution: sum " << D::kSum << ", least " << D::kLeast << ", most "
      << D::kMost << ", below " << D::kBelow << ", above " << D::kAbove << ", refused "
      << D::kRefused << ", buckets from " << D::kBuckets << "\n";
  out << "reference to extent 3, offset 64: " << make_ref(3, 64) << "\n";
  out << "change 7, of registration 2, slot 5: " << DirectoryChange{7, 2, 5}.raw()
      << "; of everything: " << DirectoryChange{7}.raw() << "; " << kChangesKept << " are kept\n";
}

// The address formula, by examples: form and slots, then where each array of the group begins and
// where the parts of the last block lie, in bytes from the group.
void print_block(std::ostream& out, const BlockForm& form) {
  alignas(kCacheLine) static std::byte group[1];
  const auto at = [](const SharedWord* word) {
    return word == nullptr ? std::ptrdiff_t{-1} : reinterpret_cast<const std::byte*>(word) - group;
  };
  constexpr std::uint32_t kSlots = 16;
  const GroupLayout layout = GroupLayout::of(form, kSlots);
  const auto parts =
      block_parts(static_cast<const std::byte*>(group), form, layout, kSlots - 1, form.shards - 1);
  out << "  " << form.words << " " << form.lanes << " " << number(form.consistency) << " "
      << form.checkpoint << " " << form.cut_pair << " " << form.shards << " " << kSlots << " | "
      << layout.heads << " " << layout.second << " " << layout.checkpoints << " "
      << layout.descriptors << " " << layout.bytes << " | " << at(parts.seq) << " "
      << at(parts.slot) << " " << at(parts.copy0) << " " << at(parts.copy1) << " "
      << at(parts.checkpoint) << " " << at(parts.cut) << "\n";
}

void print_blocks(std::ostream& out) {
  out << "\nblocks: words lanes consistency checkpoint cut_pair shards slots | heads second "
         "checkpoints "
         "descriptors bytes | seq slot copy0 copy1 checkpoint cut of the last\n";
  for (const std::uint32_t words : {1U, 3U, 4U, 6U, 8U, 65U}) {
    for (const std::uint32_t lanes : {1U, 8U}) {
      print_block(out, {words, lanes, Consistency::kBlock, 1, 1});
      print_block(out, {words, lanes, Consistency::kBlock, 1});
      print_block(out, {words, lanes, Consistency::kBlock, 0});
      print_block(out, {words, lanes, Consistency::kIndependent, 0});
    }
  }
  for (const std::uint32_t words : {3U, 8U, 65U}) {
    print_block(out, {words, 1, Consistency::kBlock, 1, 0, 5});
    print_block(out, {words, 1, Consistency::kIndependent, 0, 0, 5});
  }
}

TEST(SegmentLayout, IsTheOneThatIsWrittenDown) {
  std::ostringstream now;
  print_numbers(now);
  print_structs(now);
  print_blocks(now);
  std::ifstream file(METERBANK_GOLDEN_LAYOUT);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  if (now.str() != golden) std::cout << now.str();
  EXPECT_EQ(now.str(), golden)
      << "The layout of a segment has changed, so old readers would misread new providers.\n"
         "If that is not what you want, undo it. If it is: raise kLayoutMajor (or kLayoutMinor, "
         "when "
         "only reserved fields got a meaning), say so in docs/protocol.md, and put the text "
         "printed "
         "above into tests/abi/segment_layout.txt.";
}

TEST(SegmentLayout, HasANameForEveryByte) {
  for (const Struct& one : all_structs()) {
    if (one.fields.empty()) continue;
    std::size_t end = 0;
    for (const Field& field : one.fields) {
      EXPECT_EQ(field.offset, end) << "before " << one.name << "::" << field.name;
      end = field.offset + field.bytes;
    }
    EXPECT_EQ(end, one.bytes) << one.name;
  }
}

}  // namespace
}  // namespace meterbank
