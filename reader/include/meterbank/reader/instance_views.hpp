// SPDX-License-Identifier: Apache-2.0
//
// The instances of one registration, as a reader has read them.
//
// A set may have a million instances. So a list is made of pieces, and a list that differs from the
// one before in a few instances shares the other pieces with it:
//
//   slots        0 - 2047          2048 - 4095         4096 - 6143
//            +---------------+   +---------------+   +---------------+
//   before   |    piece A    |   |    piece B    |   |    piece C    |
//            +---------------+   +---------------+   +---------------+
//                    ^            one of B ends              ^
//   now              |           +---------------+           |
//                 shared         |   piece B'    |        shared
//                                +---------------+
//
// Thread safety  Immutable: any number of threads may read a list.
// Errors         None. Nothing here allocates; a copy of a list shares its pieces.
// Lifetime       References to instances and their names are valid as long as a list with their
//                piece exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace meterbank {

class InstanceNames;

// Small, because a reader has one for each instance of every provider.
struct InstanceView {
  static constexpr std::uint32_t kSlotMask = 0x7fffffff;

  std::string_view name = {};  // valid while its RegisteredSet is
  std::uint64_t generation = 0;
  std::uint32_t id = 0;
  std::uint32_t slot : 31 = 0;  // counted through the groups of the registration
  bool closed : 1 = false;
};
static_assert(sizeof(InstanceView) == 32);

struct InstancePiece {
  // Slots of a piece of a live set. Pieces of a recording, whose slots may be any numbers, have as
  // many instances.
  static constexpr std::uint32_t kSlots = 2048;

  std::vector<InstanceView> instances;   // in the order of their slots
  std::shared_ptr<InstanceNames> names;  // keeps the names, and perhaps those of other pieces
  std::size_t name_bytes = 0;            // size of the names of `instances`
  std::size_t closed = 0;                // how many of them are
};

class InstanceViews {
 public:
  using Pieces = std::vector<std::shared_ptr<const InstancePiece>>;  // some may be empty, none null
  class Iterator;

  InstanceViews() = default;
  explicit InstanceViews(Pieces pieces);

  [[nodiscard]] std::size_t size() const noexcept { return list_ == nullptr ? 0 : list_->size; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  // Without those that are closed, whose slots hold their last values for a while.
  [[nodiscard]] std::size_t live() const noexcept;
  // In the order of their slots.
  [[nodiscard]] Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept;
  [[nodiscard]] const InstanceView& front() const noexcept;  // precondition: not empty

  // An index names a piece and a place in it: it is `piece * kSlots + place`, and there are gaps
  // where a piece is not full. Precondition: there is such an instance.
  [[nodiscard]] const InstanceView& operator[](std::size_t index) const noexcept {
    return pieces()[index / InstancePiece::kSlots]->instances[index % InstancePiece::kSlots];
  }
  // Greater than every index.
  [[nodiscard]] std::size_t index_end() const noexcept {
    return pieces().size() * InstancePiece::kSlots;
  }
  // Returns the index of the instance that is in the slot, or kNoIndex if none is. O(log n).
  static constexpr std::size_t kNoIndex = ~std::size_t{0};
  [[nodiscard]] std::size_t index_of(std::uint32_t slot) const noexcept;
  // Returns the instance that is in the slot, or null. O(log n).
  [[nodiscard]] const InstanceView* in_slot(std::uint32_t slot) const noexcept {
    const std::size_t index = index_of(slot);
    return index == kNoIndex ? nullptr : &(*this)[index];
  }

  [[nodiscard]] std::span<const std::shared_ptr<const InstancePiece>> pieces() const noexcept {
    if (list_ == nullptr) return {};
    return list_->pieces;
  }
  // Whether both are the same list, and not only lists of the same instances.
  [[nodiscard]] bool is(const InstanceViews& other) const noexcept { return list_ == other.list_; }

 private:
  struct List {
    Pieces pieces;
    std::size_t size = 0;
  };

  std::shared_ptr<const List> list_;  // null: of no instances
};

class InstanceViews::Iterator {
 public:
  using value_type = InstanceView;
  using reference = const InstanceView&;
  using pointer = const InstanceView*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;

  Iterator() = default;

  [[nodiscard]] const InstanceView& operator*() const noexcept {
    return (*piece_)->instances[place_];
  }
  [[nodiscard]] const InstanceView* operator->() const noexcept { return &**this; }
  Iterator& operator++() noexcept {
    ++place_;
    skip_ends();
    return *this;
  }
  Iterator operator++(int) noexcept {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

 private:
  friend InstanceViews;
  using Piece = const std::shared_ptr<const InstancePiece>*;

  Iterator(Piece piece, Piece end) noexcept : piece_(piece), end_(end) { skip_ends(); }
  void skip_ends() noexcept {
    while (piece_ != end_ && place_ == (*piece_)->instances.size()) {
      ++piece_;
      place_ = 0;
    }
  }

  Piece piece_ = nullptr, end_ = nullptr;
  std::size_t place_ = 0;
};

inline InstanceViews::Iterator InstanceViews::begin() const noexcept {
  return {pieces().data(), pieces().data() + pieces().size()};
}

inline const InstanceView& InstanceViews::front() const noexcept { return *begin(); }

inline InstanceViews::Iterator InstanceViews::end() const noexcept {
  return {pieces().data() + pieces().size(), pieces().data() + pieces().size()};
}

}  // namespace meterbank
