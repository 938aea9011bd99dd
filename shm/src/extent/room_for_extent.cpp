// SPDX-License-Identifier: Apache-2.0
#include "room_for_extent.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace meterbank {
namespace {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

RoomForExtent RoomForExtent::reserve(std::uint64_t bytes) noexcept {
  RoomForExtent room;
  if (bytes > kBytesMax) return room;
  const std::size_t page = page_bytes();
  const std::size_t all = bytes + 2 * page;
  // The page below is what the kernel may extend the one above right down to: it keeps the guard
  // gap from any memory that can be accessed.
  void* const begin =
      ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return room;
  std::byte* const place = static_cast<std::byte*>(begin) + page;
  const void* const above =
      ::mmap(place + bytes, page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (above == MAP_FAILED) {
    ::munmap(begin, all);
    return room;
  }
  ::madvise(place + bytes, page, MADV_DONTDUMP);
  room.place_ = place;
  room.bytes_ = bytes;
  return room;
}

RoomForExtent::RoomForExtent(RoomForExtent&& other) noexcept
    : place_(std::exchange(other.place_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

RoomForExtent& RoomForExtent::operator=(RoomForExtent&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RoomForExtent::~RoomForExtent() {
  if (place_ == nullptr) return;
  const std::size_t page = page_bytes();
  ::munmap(place_ - page, bytes_ + 2 * page);
}

}  // namespace meterbank
