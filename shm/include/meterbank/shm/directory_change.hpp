// SPDX-License-Identifier: Apache-2.0
//
// The log of what changed last in the directory of a segment, so that a reader reads again only
// what changed. segment_layout.hpp says where it lies, docs/protocol.md why a reader may rely on
// it.
#pragma once

#include <cstdint>

namespace meterbank {

inline constexpr std::uint32_t kChangesKept = 64;  // a power of two

// One change, as an entry of SegmentHeader::changes:
//
//    63                            32 31         24 23                               0
//   +--------------------------------+-------------+----------------------------------+
//   | number: low half of            | registra-   | slot, counted through the groups |
//   | directory_version after it     | tion        | of the registration              |
//   +--------------------------------+-------------+----------------------------------+
//
// Change n is entry n % kChangesKept. Its number tells it from an older change and from a later one
// that has taken its place. All ones in `slot`: the change is not one slot's, so that a reader has
// to read the whole directory.
struct DirectoryChange {
  static constexpr std::uint32_t kEverything = 0xffffff;

  std::uint32_t number = 0;
  std::uint32_t registration = 0;  // index in SegmentHeader::registrations
  std::uint32_t slot = kEverything;

  // A slot or registration beyond what an entry can name: everything.
  static constexpr DirectoryChange of_slot(std::uint64_t registration,
                                           std::uint64_t slot) noexcept {
    if (registration > 0xff || slot >= kEverything) return {};
    return {0, static_cast<std::uint32_t>(registration), static_cast<std::uint32_t>(slot)};
  }
  static constexpr DirectoryChange of(std::uint64_t raw) noexcept {
    return {static_cast<std::uint32_t>(raw >> 32), static_cast<std::uint32_t>(raw >> 24 & 0xff),
            static_cast<std::uint32_t>(raw & kEverything)};
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
    return std::uint64_t{number} << 32 | std::uint64_t{registration} << 24 | slot;
  }
  [[nodiscard]] constexpr bool is_of_one_slot() const noexcept { return slot != kEverything; }
  friend constexpr bool operator==(const DirectoryChange&,
                                   const DirectoryChange&) noexcept = default;
};
static_assert(DirectoryChange{7, 2, 5}.raw() == 0x0000'0007'0200'0005);
static_assert(DirectoryChange::of(0x0000'0007'0200'0005) == DirectoryChange{7, 2, 5});
static_assert(!DirectoryChange::of_slot(0, DirectoryChange::kEverything).is_of_one_slot());
static_assert(DirectoryChange::of_slot(255, 0xfffffe).is_of_one_slot());

}  // namespace meterbank
