// SPDX-License-Identifier: Apache-2.0
//
// One provider as a catalog holds it: its record, its process and, while it can be had, its memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "decode/directory_decoder.hpp"
#include "door_connection.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/segment.hpp"
#include "process/process_table.hpp"
#include "record_scan.hpp"

namespace meterbank {

// How much may be mapped, per segment and per user, over all attachments of a catalog.
class MappingBudget {
 public:
  explicit MappingBudget(const CatalogOptions& options) noexcept
      : segment_bytes_max_(options.segment_bytes_max), user_bytes_max_(options.user_bytes_max) {}

  [[nodiscard]] std::uint64_t segment_bytes_max() const noexcept { return segment_bytes_max_; }
  [[nodiscard]] std::uint64_t user_bytes_max() const noexcept { return user_bytes_max_; }
  void count(std::uint32_t uid, std::uint64_t bytes) { used_[uid] += bytes; }
  // What one segment that has `held` bytes already may still map.
  [[nodiscard]] std::uint64_t room_in_segment(std::uint64_t held) const noexcept {
    return held < segment_bytes_max_ ? segment_bytes_max_ - held : 0;
  }
  [[nodiscard]] std::uint64_t room_of_user(std::uint32_t uid) const {
    const auto used = used_.find(uid);
    if (used == used_.end()) return user_bytes_max_;
    return used->second < user_bytes_max_ ? user_bytes_max_ - used->second : 0;
  }

 private:
  std::uint64_t segment_bytes_max_;
  std::uint64_t user_bytes_max_;
  std::unordered_map<std::uint32_t, std::uint64_t> used_;
};

// The memory that attachments have brought in, by device and inode of the first extent: one memory
// is one provider, however many records point at it.
using MemoryId = std::pair<std::uint64_t, std::uint64_t>;
struct MemoryHash {
  // Inodes are numbers of the kernel's choice, mostly of one device.
  std::size_t operator()(const MemoryId& id) const noexcept { return id.first * 31 + id.second; }
};
using Memories = std::unordered_set<MemoryId, MemoryHash>;

// What one refresh of all attachments shares.
struct RefreshMeans {
  MappingBudget& budget;
  Memories& memories;
  ProcessTable& processes;
  DoorTimeouts& timeouts;
  bool wants_labels = false;
};

class Attachment {
 public:
  // Precondition: `found` has a record.
  Attachment(const FoundRecord& found, bool trusted, ProcessTable& processes);

  // Attaches if that was not possible before, opens extents that were added, looks after the
  // process, and decodes the directory if it changed. view() is another object exactly if something
  // changed. Never throws for anything a provider did.
  void refresh(const RefreshMeans& means);
  // Whether refresh() would find what it found last. False: it has to look.
  [[nodiscard]] bool is_as_it_was(const ProcessTable& processes,
                                  std::uint64_t now_ns) const noexcept;

  // As of the last refresh(), or of the constructor.
  [[nodiscard]] Life life() const noexcept { return verdict_.life; }
  // Its process is known to run: by its pid, or because its door is open.
  [[nodiscard]] bool is_known_to_live() const noexcept;
  // Its memory was found in the descriptors of this process.
  void found_in(const ProcessHere& process, ProcessTable& processes);
  [[nodiscard]] std::uint64_t inode() const noexcept { return record_.inode; }  // as announced
  // Whether a record speaks of memory of this inode and owner.
  [[nodiscard]] bool speaks_of(std::uint64_t inode, std::uint32_t owner) const noexcept {
    return record_.inode == inode && owner_ == owner;
  }
  // Before the first refresh() of all: what is held already leaves less for the others.
  void count_descriptors(ProcessTable& processes) const;
  void claim_memory(Memories& memories) const;
  // Another attachment has brought its memory in.
  [[nodiscard]] bool repeats_memory() const noexcept { return repeats_memory_; }
  // Of the ended: a process of the same name lives, and the memory is let go.
  void set_successor(bool has_successor);
  [[nodiscard]] bool has_successor() const noexcept { return has_successor_; }

  [[nodiscard]] bool is_in(std::string_view directory) const noexcept;
  [[nodiscard]] bool has_record_file() const noexcept;
  // Its memory was found in a process, not by a record.
  [[nodiscard]] bool is_walked() const noexcept { return is_walked_; }
  // It was there when it was looked for last.
  [[nodiscard]] bool is_listed() const noexcept { return is_listed_; }
  void set_listed(bool is_listed) noexcept { is_listed_ = is_listed; }
  [[nodiscard]] std::uint64_t pid_namespace() const noexcept { return record_.pid_namespace; }

  [[nodiscard]] const std::shared_ptr<const ProviderView>& view() const noexcept { return view_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t listed_inode() const noexcept { return listed_inode_; }
  [[nodiscard]] std::uint32_t owner() const noexcept { return owner_; }
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept {
    return segment_ == nullptr ? 0 : segment_->bytes();
  }

 private:
  [[nodiscard]] Result<void> attach(const RefreshMeans& means);
  // The number that its process has here; 0: not known.
  [[nodiscard]] std::uint32_t pid_here() const noexcept;
  // The memory of extent `index`: through procfs, which costs the provider nothing, else at its
  // door; where that does not admit this user, through procfs by the pid that listens there.
  [[nodiscard]] Result<UniqueFd> open_extent(std::uint32_t index, std::uint32_t descriptor,
                                             std::uint64_t inode, DoorTimeouts& timeouts);
  [[nodiscard]] Result<UniqueFd> ask_for_extent(std::uint32_t index, std::uint64_t inode,
                                                DoorTimeouts& timeouts);
  [[nodiscard]] Error silent_at_door(std::string what) const;
  void take_door(DoorConnection door) noexcept;
  void look_after_door(const RefreshMeans& means);
  void let_door_go() noexcept;
  // Whether the same memory is mapped already: each byte of a segment is mapped and charged once.
  [[nodiscard]] bool has_extent(std::uint64_t inode) const noexcept;
  void look_after_process(ProcessTable& processes);
  // False: an extent that the header lists could not be had; error_ says why.
  [[nodiscard]] bool add_extents(const RefreshMeans& means);
  [[nodiscard]] Result<MappedExtent> map(UniqueFd opened, MappingBudget& budget);
  // Notes which limit it is, and says so.
  [[nodiscard]] tl::unexpected<Error> exceeds(ReadLimit limit, std::uint64_t bytes,
                                              const MappingBudget& budget);
  [[nodiscard]] ProviderState state() const noexcept;
  [[nodiscard]] Error why_foreign() const;
  // What of the directory is read: all of it, or what changed, if nothing else did.
  enum class Look : std::uint8_t { kWhole, kChanges };
  void build_view(ProviderState state, Look look);
  [[nodiscard]] DecodedDirectory decode(Look look) const;
  void settle() noexcept;

  // What of a live provider without faults tells that nothing has changed.
  struct Settled {
    const SegmentHeader* header = nullptr;  // null: only refresh() tells
    std::uint64_t directory_version = 0;
    std::size_t extents = 0;
  };
  Settled settled_;
  std::string path_;
  std::uint64_t listed_inode_;
  std::uint32_t owner_;
  bool trusted_;
  bool is_walked_;
  bool is_listed_ = true;
  std::array<std::uint64_t, 2> file_;
  PointerRecord record_;
  PointerRecord here_;  // the same, with the numbers that its process has here if they are known
  ProcessTable::Watched process_;
  Verdict verdict_;
  bool shares_clock_;  // its time stamps are of this process's clock

  DoorConnection door_;         // empty: not connected at present
  std::uint32_t pid_here_ = 0;  // of the process that listens at the door; 0: not known
  HandedOut handed_out_;        // not mapped yet
  std::chrono::steady_clock::time_point door_rests_until_;  // it did not answer
  bool door_is_shut_ = false;                               // nothing listens there any more
  bool door_is_counted_ = false;  // door_ is one of the descriptors that may be kept
  // Where none may be kept: it was connected to, and is again after that time.
  bool door_was_open_ = false;
  std::chrono::steady_clock::time_point door_seen_until_;
  MemoryId memory_;
  bool repeats_memory_ = false;
  bool has_successor_ = false;
  OutsideLabels outside_;
  std::shared_ptr<const MappedSegment> segment_;
  std::shared_ptr<const MappedSegment> decoded_;  // what view_ was decoded from
  Error error_;
  ReadLimit limited_by_ = ReadLimit::kNone;
  std::shared_ptr<const ProviderView> view_;
};

}  // namespace meterbank
