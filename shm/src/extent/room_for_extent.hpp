// SPDX-License-Identifier: Apache-2.0
//
// Where the memory of an extent lies, so that a child process has private zero pages there without
// doing anything for it.
//
//   this process   | no access | extent, not inherited | grows down |
//   child          | no access |   <-- zero pages      | grows down |
//
// The child of a fork() replaces the extent by private memory (OwnedExtent::detach). In
// the child of _Fork() or clone() nothing runs that could: there would be a hole, where a count
// faults. So the next memory above is of the sort that stacks have. The kernel extends it downwards
// over the hole, page by page as they are touched, and keeps the memory that the child maps at a
// distance of its stack guard gap (1 MiB) from it, which is how large a hole can be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meterbank {

class RoomForExtent {
 public:
  // The least stack guard gap: 256 pages.
  static constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 20;

  RoomForExtent() noexcept = default;
  // Without a place if `bytes`, a multiple of pages, are too many or the kernel refuses.
  [[nodiscard]] static RoomForExtent reserve(std::uint64_t bytes) noexcept;
  RoomForExtent(RoomForExtent&& other) noexcept;
  RoomForExtent& operator=(RoomForExtent&& other) noexcept;
  ~RoomForExtent();

  // Memory to be replaced by the extent, or null.
  [[nodiscard]] std::byte* place() const noexcept { return place_; }

 private:
  std::byte* place_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace meterbank
