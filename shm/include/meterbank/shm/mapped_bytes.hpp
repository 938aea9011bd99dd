// SPDX-License-Identifier: Apache-2.0
//
// Foreign bytes, and the only place in the project that turns an offset into a pointer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meterbank {

class MappedBytes {
 public:
  MappedBytes() noexcept = default;
  MappedBytes(const std::byte* data, std::uint64_t size) noexcept : data_(data), size_(size) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  // Null: the offset, as written by a peer, does not hold a whole T. The size is the one that the
  // kernel vouched for at the gate. Conditions stay apart, and subtraction is on the safe side.
  template <typename T>
  [[nodiscard]] const T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<const T*>(span_at(offset, sizeof(T), alignof(T)));
  }

  [[nodiscard]] const std::byte* span_at(std::uint64_t offset, std::uint64_t count,
                                         std::uint64_t alignment) const noexcept {
    if (offset % alignment != 0) return nullptr;
    if (offset > size_) return nullptr;
    if (size_ - offset < count) return nullptr;
    return data_ + offset;
  }

 private:
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace meterbank
