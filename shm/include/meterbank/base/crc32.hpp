// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 as zlib, PNG and Ethernet have it.
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

[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes) noexcept;

}  // namespace meterbank
