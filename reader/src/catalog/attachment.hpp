// SPDX-License-Identifier: Apache-2.0
//
// One provider as a catalog holds it: its record, its process and, while it can be had, its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/segment.hpp"
#include "process_watch.hpp"
#include "record_scan.hpp"

namespace meterbank {

// How much may be mapped, per segment and per user, over all attachments of a catalog.
class MappingBudget {
 public:
  explicit MappingBudget(const CatalogOptions& options) noexcept
      : segment_bytes_max_(options.segment_bytes_max), user_bytes_max_(options.user_bytes_max) {}

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

class Attachment {
 public:
  // Precondition: `found` has a record.
  explicit Attachment(FoundRecord found);

  // Attaches if that was not possible before, opens extents that were added, looks after the
  // process, and decodes the directory if it changed. view() is another object exactly if something
  // changed. Never throws for anything a provider did.
  void refresh(MappingBudget& budget);

  [[nodiscard]] const std::shared_ptr<const ProviderView>& view() const noexcept { return view_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t file_inode() const noexcept { return file_inode_; }
  [[nodiscard]] std::uint32_t owner() const noexcept { return owner_; }
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept {
    return segment_ == nullptr ? 0 : segment_->bytes();
  }

 private:
  [[nodiscard]] Result<void> attach(MappingBudget& budget);
  // Whether the same memory is mapped already: each byte of a segment is mapped and charged once.
  [[nodiscard]] bool has_extent(std::uint64_t inode) const noexcept;
  // False: an extent that the header lists could not be had; error_ says why.
  [[nodiscard]] bool add_extents(MappingBudget& budget);
  [[nodiscard]] Result<MappedExtent> map(std::uint32_t descriptor, std::uint64_t inode,
                                         MappingBudget& budget) const;
  [[nodiscard]] ProviderState state_of(bool alive) const noexcept;
  void build_view(ProviderState state);

  std::string path_;
  std::uint64_t file_inode_;
  std::uint32_t owner_;
  PointerRecord record_;
  ProcessWatch process_;
  std::shared_ptr<const MappedSegment> segment_;
  std::shared_ptr<const MappedSegment> decoded_;  // what view_ was decoded from
  Error error_;
  std::shared_ptr<const ProviderView> view_;
};

}  // namespace meterbank
