// SPDX-License-Identifier: Apache-2.0
//
// One registration as its owner sees it: its slots, their holders, and which may be used again.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callback/callable.hpp"
#include "meterbank/publisher/provider.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment_layout.hpp"
#include "owned_segment.hpp"
#include "slots/handle_memory.hpp"
#include "slots/slot_table.hpp"

namespace meterbank::detail {

// Made by make_of_one_process(), as OwnedSegment.
struct OwnedRegistration : OfOneProcess, std::enable_shared_from_this<OwnedRegistration> {
  OwnedRegistration(std::shared_ptr<OwnedSegment> owner, std::vector<std::byte> schema_bytes,
                    const CountersetSpec& spec);

  struct Call {
    Callback function;
    CallbackOptions options;
  };

  // Orderly end, in three steps: no new calls; those that run are waited for, with no lock held;
  // the instances are closed. Later calls wait as well.
  void close() noexcept;

  // All functions ending in _locked are called with the segment's mutex held.
  // Takes memory of the segment. Readers see nothing of it as yet.
  Result<void> make_record_locked();
  // With callbacks if there is a `call`; the server is there then, and the record in any case. May
  // throw std::bad_alloc, before readers see anything.
  void publish_locked(std::optional<Call> call);
  Result<SlotReference> create_locked(std::string_view name, const InstanceOptions& options);
  void close_instance_locked(SlotLife& life) noexcept;
  void begin_close_locked() noexcept;
  void finish_close_locked() noexcept;
  // If several instances have the name: the one with the smallest id.
  [[nodiscard]] SlotLife* find_locked(std::string_view name) const noexcept;
  [[nodiscard]] SlotLife* find_locked(std::string_view name, std::uint32_t id) const noexcept;
  // True if it is closed, or was never published, and no handle can write to any slot any more, so
  // that the memory may serve a successor.
  [[nodiscard]] bool is_idle_locked() const noexcept;

  std::shared_ptr<OwnedSegment> segment;
  const std::vector<std::byte> schema;
  const std::string name;
  const Guid guid;
  const BlockForm form;
  const bool single;
  const InstanceIdentity identity;
  const std::ptrdiff_t rseq;  // Shards::rseq of all its instances
  RegistrationRecord* record = nullptr;
  bool inserted = false;
  std::shared_ptr<Callable> callable;  // null: no callback, and interest is not counted
  std::shared_ptr<InterestCounts> interest;

 private:
  using Clock = std::chrono::steady_clock;

  void make_callable(Call call);
  [[nodiscard]] Result<void> may_create(std::string_view instance_name,
                                        const InstanceOptions& options) const;
  // Whether a new instance of this name cannot have the id.
  [[nodiscard]] bool is_taken(std::string_view instance_name, std::uint32_t id) const noexcept;
  [[nodiscard]] std::uint32_t next_id(std::string_view instance_name) noexcept;
  // Where an instance stands in by_name_.
  [[nodiscard]] std::uint32_t hash_of(std::string_view instance_name,
                                      std::uint32_t id) const noexcept;
  void begin_life(SlotLife& life) noexcept;
  void end_life_locked(SlotLife& life) noexcept;
  // A change of the directory that concerns this slot alone.
  void life_changed(const SlotLife& life) noexcept;
  void push_closed(SlotLife& life) noexcept;
  [[nodiscard]] SlotLife* take_closed(bool at_any_age) noexcept;
  Result<SlotLife*> take_slot();
  Result<void> add_group();
  [[nodiscard]] std::uint32_t slots_of_next_group() const noexcept;
  void make_shards(SlotLife& life, const BlockParts<SharedWord>& first) const;
  void write_first_values(SlotLife& life) noexcept;
  Result<void> write_name(SlotLife& life, std::string_view instance_name);

  Ref place_ = 0;                            // of the record
  std::uint32_t number_ = 0;                 // index in SegmentHeader::registrations
  std::uint32_t slots_ = 0;                  // how many slots all groups have
  std::vector<std::uint64_t> first_values_;  // of a sharded set, a word each; empty: all zero
  std::vector<SlotLife*> unused_;            // never lived, next at the back
  // Closed slots, oldest first. The links lie in the slots, because closing must not allocate.
  SlotLife* oldest_closed_ = nullptr;
  SlotLife* newest_closed_ = nullptr;
  std::size_t closed_ = 0;
  GroupHeader* last_group_ = nullptr;
  std::uint32_t next_group_slots_ = kGroupSlotsFirst;
  std::uint32_t groups_ = 0;
  std::uint32_t next_id_ = 0;
  SlotTable by_name_;  // by name and id, where only both are unique
  SlotTable by_id_;    // an id is its own hash; empty where ids may repeat
};

}  // namespace meterbank::detail
