// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a with 64 bits: the same on every run and every machine, for digests that are written down.
// It is no defence: a process that chooses the bytes can choose the digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace meterbank {

class Fnv1a {
 public:
  constexpr void add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    }
  }
  // The bytes of one object, in the order of memory.
  template <typename T>
  void add_object(const T& object) noexcept {
    static_assert(std::has_unique_object_representations_v<T>);
    add(std::as_bytes(std::span(&object, 1)));
  }

  // Of all bytes so far.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace meterbank
