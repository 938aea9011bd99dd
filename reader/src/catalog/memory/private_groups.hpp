// SPDX-License-Identifier: Apache-2.0
//
// Slots in private memory that is laid out like the groups of a segment, so that a plan reads them
// where it reads everything else. Memory never moves.
//
//   +-------------+-------+--------+-------------+------------------------------+
//   | GroupHeader | heads | second | checkpoints | words of the caller, as many |
//   |             |       |        |             | a slot as it asked for       |
//   +-------------+-------+--------+-------------+------------------------------+
//
// A view has the names, so there are no descriptors: the words of the caller take their place.
//
// Thread safety: one thread, which also collects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/mapped_bytes.hpp"

namespace meterbank {

// Zeros that begin at a cache line. May throw std::bad_alloc.
[[nodiscard]] std::shared_ptr<std::byte> zeroed_lines(std::size_t bytes);

class PrivateGroups {
 public:
  explicit PrivateGroups(const BlockForm& form, std::uint32_t own_words = 0) noexcept
      : form_(form), own_words_(own_words) {}

  // What add(slots) takes.
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t slots) const noexcept;
  void add(std::uint32_t slots);

  [[nodiscard]] const BlockForm& form() const noexcept { return form_; }
  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
  // Preconditions: there are such a slot and such a group.
  [[nodiscard]] BlockParts<SharedWord> block(std::uint32_t slot) const noexcept;
  [[nodiscard]] SharedWord* own_words(std::uint32_t slot) const noexcept;
  [[nodiscard]] MappedBytes bytes(std::size_t group) const noexcept;
  [[nodiscard]] const std::shared_ptr<std::byte>& memory(std::size_t group) const noexcept {
    return groups_[group].memory;
  }
  // Adds the group to `set`, whose segment has it as extent `extent`.
  void list_in(RegisteredSet& set, std::size_t group, std::uint32_t extent) const;

 private:
  struct Group {
    std::shared_ptr<std::byte> memory;
    GroupLayout layout;
    std::uint32_t first_slot = 0, slots = 0;
  };

  [[nodiscard]] GroupLayout layout_of(std::uint32_t slots) const noexcept;
  [[nodiscard]] const Group& group_of(std::uint32_t slot) const noexcept;

  BlockForm form_;
  std::uint32_t own_words_;
  std::vector<Group> groups_;
  std::uint32_t slots_ = 0;
};

}  // namespace meterbank
