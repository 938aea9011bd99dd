// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace meterbank::detail {

struct SlotLife;

// The live slots of a registration by a hash, of their name, their id or both. A search reads one
// line of the table in most cases, and then what `matches` reads of the slots with the same hash:
// one.
//
// Thread safety  One thread at a time.
// Errors         make_room(): std::bad_alloc. The others do not allocate.
// Cost           Open addressing, at most half full: 32 to 64 bytes a slot. Keeps its memory.
class SlotTable {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Null: there is none.
  template <typename Matches>
  [[nodiscard]] SlotLife* find(std::uint32_t hash, Matches&& matches) const noexcept {
    if (entries_.empty()) return nullptr;
    for (std::size_t at = home_of(hash);; at = next(at)) {
      const Entry& entry = entries_[at];
      if (entry.life == nullptr) return nullptr;
      if (entry.hash == hash && matches(*entry.life)) return entry.life;
    }
  }

  // So that the next insert() has room.
  void make_room() {
    if ((size_ + 1) * 2 <= entries_.size()) return;
    constexpr std::size_t kFirst = 8;
    std::vector<Entry> larger(entries_.empty() ? kFirst : entries_.size() * 2);
    entries_.swap(larger);
    size_ = 0;
    for (const Entry& entry : larger) {
      if (entry.life != nullptr) insert(entry.hash, *entry.life);
    }
  }
  // Precondition: make_room() was called after the last insert(), and the slot is not there.
  void insert(std::uint32_t hash, SlotLife& life) noexcept {
    std::size_t at = home_of(hash);
    while (entries_[at].life != nullptr) at = next(at);
    entries_[at] = {&life, hash};
    ++size_;
  }
  // Precondition: the slot is there under this hash.
  void erase(std::uint32_t hash, const SlotLife& life) noexcept {
    std::size_t hole = home_of(hash);
    while (entries_[hole].life != &life) hole = next(hole);
    // A search stops at a hole, so entries that would not be found behind it move into it.
    for (std::size_t at = next(hole); entries_[at].life != nullptr; at = next(at)) {
      const std::size_t home = home_of(entries_[at].hash);
      if (distance(home, at) < distance(hole, at)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --size_;
  }
  void clear() noexcept {
    for (Entry& entry : entries_) entry = {};
    size_ = 0;
  }

  template <typename Use>
  void for_each(Use&& use) const noexcept {
    for (const Entry& entry : entries_) {
      if (entry.life != nullptr) use(*entry.life);
    }
  }

 private:
  struct Entry {
    SlotLife* life = nullptr;  // null: empty
    std::uint32_t hash = 0;
  };

  // The size is a power of two. Hashes of ids are the ids, so they are spread here.
  [[nodiscard]] std::size_t home_of(std::uint32_t hash) const noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((hash * kOdd) >> 32) & (entries_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
    return (at + 1) & (entries_.size() - 1);
  }
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
    return (to - from) & (entries_.size() - 1);
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace meterbank::detail
