// SPDX-License-Identifier: Apache-2.0
//
// A segment put together step by step, so that a control can take the steps in a wrong order.
#pragma once

#include <unistd.h>

#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment.hpp"
#include "stepped_child.hpp"

namespace meterbank::test {

// One extent, one registration "Numbers", one group of eight slots of two words.
class HandMadeSegment {
 public:
  void build(const std::string& directory) {
    extent_.emplace(*OwnedExtent::create("hand-made", kExtentBytesMin));
    std::byte* memory = extent_->data();
    header_ = new (memory) SegmentHeader{};
    header_->layout_major = kLayoutMajor;
    header_->abi_mark = kAbiMark;
    header_->header_bytes = sizeof(SegmentHeader);
    header_->extents[0] = {extent_->size(), extent_->inode(),
                           static_cast<std::uint32_t>(extent_->descriptor()), 0};
    // relaxed, all stores here: show_magic() or the stop of the child publishes them.
    header_->extents_count.store(1, std::memory_order_relaxed);
    auto* schema = new (memory + kSchema) SchemaHeader{};
    schema->bytes = sizeof(SchemaHeader) + kName.size();
    schema->name = {sizeof(SchemaHeader), static_cast<std::uint32_t>(kName.size())};
    std::memcpy(memory + kSchema + sizeof(SchemaHeader), kName.data(), kName.size());
    record_ = new (memory + kRecord) RegistrationRecord{};
    record_->schema = make_ref(0, kSchema);
    record_->schema_bytes = schema->bytes;
    record_->words = kForm.words;
    record_->lanes = kForm.lanes;
    record_->shards = kForm.shards;
    (new (memory + kGroup) GroupHeader{})->slots = 8;
    record_->first_group.store(make_ref(0, kGroup), std::memory_order_relaxed);
    RegistrationWord word{.generation = 1, .state = RegistrationState::kInserted};
    record_->word.store(word.raw(), std::memory_order_relaxed);
    header_->registrations[0].store(make_ref(0, kRecord), std::memory_order_relaxed);
    header_->registrations_count.store(1, std::memory_order_relaxed);
    directory_ = directory;
  }
  void show_magic() {
    header_->magic.store(kSegmentMagic, std::memory_order_release);  // [P1]
  }
  void write_pointer_record() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    PointerRecord pointer{.name = "hand-made",
                          .pid = pid,
                          .start_time = process_start_time(pid),
                          .boot_id = boot_id(),
                          .descriptor = static_cast<std::uint32_t>(extent_->descriptor()),
                          .inode = extent_->inode(),
                          .bytes = extent_->size(),
                          .layout_major = kLayoutMajor,
                          .layout_minor = kLayoutMinor};
    static_cast<void>(write_record(directory_, pointer));
  }
  [[nodiscard]] BlockParts<SharedWord> block(std::uint32_t slot = 0) const {
    return block_parts(extent_->data() + kGroup, kForm, GroupLayout::of(kForm, 8), slot);
  }
  [[nodiscard]] SlotDescriptor& descriptor() const {
    return *reinterpret_cast<SlotDescriptor*>(extent_->data() + kGroup +
                                              GroupLayout::of(kForm, 8).descriptors);
  }
  [[nodiscard]] SharedWord& membership() const { return record_->membership; }

 private:
  static constexpr std::string_view kName = "Numbers";
  static constexpr BlockForm kForm{.words = 2};
  static constexpr std::uint32_t kSchema = sizeof(SegmentHeader);
  static constexpr std::uint32_t kRecord = kSchema + 128;
  static constexpr std::uint32_t kGroup = kRecord + 128;

  std::optional<OwnedExtent> extent_;
  SegmentHeader* header_ = nullptr;
  RegistrationRecord* record_ = nullptr;
  std::string directory_;
};

// An operation on such a segment, which is complete before it begins.
class HandMadeAct : public Act {
 public:
  explicit HandMadeAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {
    segment_.build(directory_);
    segment_.show_magic();
    segment_.write_pointer_record();
  }

 protected:
  HandMadeSegment segment_;

 private:
  std::string directory_;
};

}  // namespace meterbank::test
