// SPDX-License-Identifier: Apache-2.0
//
// Cyclic redundancy checks of 32 bits.
//
// Thread safety  May be called concurrently.
// Errors         None.
// Progress       Linear in the bytes, without a system call.
// Cost           About 0.4 ns a byte.
// Lifetime       Keeps nothing.
// Units          Bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace meterbank {

// As zlib, PNG and Ethernet have it.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes) noexcept;
// Castagnoli's, as in RFC 3720.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace meterbank
