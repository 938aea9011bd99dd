// SPDX-License-Identifier: Apache-2.0
//
// The rows of one registration as its provider answered them last.
//
// They lie in private memory that has the shape of a segment: a RegistrationRecord, groups, blocks.
// A plan reads them where it reads everything else, and nothing else has to know that they were
// asked for. Memory never moves and lives as long as any view of it.
//
//   MappedSegment of a view:  extent 0             extent 1              extent 2, 3, ...
//                             the provider's own   RegistrationRecord    a group each
//                             header               of these rows
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../catalog/memory/private_groups.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank {

class AnsweredRows {
 public:
  explicit AnsweredRows(const RegisteredSet& set);

  // The rows of a new answer: a row is known by its name and id and keeps its slot, rows that are
  // not there any more are closed, one that comes back begins anew. Of two that are the same the
  // first counts. Without values in `rows` those that are known stay. Returns how many there are.
  std::size_t take(const std::vector<ChannelRow>& rows, std::uint64_t true_at_ns);
  // Grows whenever rows come or go.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  // What collect() makes of the rows: kFresh: the answer was good.
  void set_status(RowStatus status) noexcept;

  // The provider with nothing but these rows. Precondition: it has a segment, as each has whose
  // registrations are known.
  [[nodiscard]] std::shared_ptr<const ProviderView> view(
      const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set);
  // RowStatus of all rows, as set last.
  [[nodiscard]] const SharedWord* status() const noexcept { return &record_->status; }

 private:
  struct Record {
    RegistrationRecord registration;
    SharedWord status;  // a RowStatus
  };
  struct Slot {
    std::shared_ptr<const std::string> name;  // views keep it, too
    std::uint32_t id = 0;
    BlockParts<SharedWord> block;
    std::uint64_t generation = 0;
    std::uint64_t seen = 0;  // in which answer
    bool is_live = false;
    bool is_waiting = false;  // in closed_
  };
  struct Key {
    std::string_view name;
    std::uint32_t id = 0;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct KeyEqual {
    bool operator()(const Key& left, const Key& right) const noexcept;
  };

  [[nodiscard]] Slot& slot_of(const ChannelRow& row, std::size_t still_to_come);
  [[nodiscard]] Slot& free_slot(std::size_t still_to_come);
  void add_group(std::size_t slots_at_least);
  void begin(Slot& slot) noexcept;
  void close(std::uint32_t index);
  [[nodiscard]] InstanceViews live_instances() const;
  void make_segment(const ProviderView& provider);

  std::shared_ptr<const Counterset> set_;  // the registration's, in the form of these blocks
  std::uint64_t serial_;                   // of this object in this process
  std::shared_ptr<Record> record_;
  PrivateGroups groups_;
  std::deque<Slot> slots_;  // in use or closed; their addresses stay
  std::unordered_map<Key, Slot*, KeyHash, KeyEqual> known_;
  std::deque<Slot*> closed_;  // the longest closed first
  std::uint64_t version_ = 0;
  std::uint64_t answers_ = 0;

  std::shared_ptr<const MappedSegment> base_;     // of the provider, when segment_ was made
  std::shared_ptr<const MappedSegment> segment_;  // base_'s header and these rows
  std::size_t segment_groups_ = 0;
  std::shared_ptr<const ProviderView> viewed_;  // what view_ was made of
  std::uint64_t viewed_version_ = 0;
  std::shared_ptr<const ProviderView> view_;
};

}  // namespace meterbank
