// SPDX-License-Identifier: Apache-2.0
//
// One registration as its owner sees it: its slots, who holds them, and which may be used again.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "meterbank/publisher/provider.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment_layout.hpp"
#include "owned_segment.hpp"

namespace meterbank::detail {

// The process-private side of one slot. Lives as long as its registration state.
struct SlotLife {
  BlockParts<SharedWord> parts;
  SlotDescriptor* descriptor = nullptr;
  std::atomic<std::uint32_t> holders{0};  // handles that can still write to the slot
  std::uint32_t id = 0;
  std::uint64_t generation = 0;
  bool live = false;
  std::string name;
  std::byte* long_name = nullptr;  // memory for names beyond kNameHereBytes, kept for reuse
  Ref long_name_ref = 0;
  std::uint64_t long_name_bytes = 0;
};

struct OwnedRegistration : std::enable_shared_from_this<OwnedRegistration> {
  OwnedRegistration(std::shared_ptr<OwnedSegment> owner, std::vector<std::byte> schema_bytes,
                    const CountersetSpec& spec);

  // All functions ending in _locked are called with the segment's mutex held.
  Result<void> publish_locked();
  Result<SlotReference> create_locked(std::string_view name, const InstanceOptions& options);
  void close_instance_locked(SlotLife& life, std::uint64_t generation) noexcept;
  void close_locked() noexcept;
  [[nodiscard]] SlotLife* find_locked(std::string_view name) noexcept;
  // True if nobody can write to any slot any more, so that the memory may serve a successor.
  [[nodiscard]] bool is_idle_locked() const noexcept;

  std::shared_ptr<OwnedSegment> segment;
  const std::vector<std::byte> schema;
  const std::string name;
  const Guid guid;
  const BlockForm form;
  const bool single;
  RegistrationRecord* record = nullptr;
  bool inserted = false;

 private:
  using Clock = std::chrono::steady_clock;
  struct Closed {
    SlotLife* life;
    Clock::time_point at;
  };

  Result<SlotLife*> take_slot();
  Result<void> add_group();
  Result<void> write_name(SlotLife& life, std::string_view instance_name);

  std::vector<std::unique_ptr<SlotLife[]>> lives_;
  std::vector<SlotLife*> unused_;  // never lived, next at the back
  std::deque<Closed> closed_;      // oldest first
  GroupHeader* last_group_ = nullptr;
  std::uint32_t next_group_slots_ = kGroupSlotsFirst;
  std::uint32_t groups_ = 0;
  std::uint32_t next_id_ = 0;
  std::unordered_map<std::string_view, SlotLife*, FoldedHash, FoldedEqual> by_name_;
  std::unordered_map<std::uint32_t, SlotLife*> by_id_;
};

}  // namespace meterbank::detail
