// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/crc32.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace meterbank {
namespace {

static_assert(std::endian::native == std::endian::little, "the first byte is the lowest of a word");

// Sixteen bytes a step, from a table for each of them (Kounavis and Berry, "Novel Table
// Lookup-Based Algorithms for High-Performance CRC Generation", 2008).
constexpr std::size_t kStep = 16;
constexpr std::size_t kLane = sizeof(std::uint64_t);
constexpr std::size_t kBytes = 256;
// With the highest power as the last bit: 0x04c11db7 and 0x1edc6f41.
constexpr std::uint32_t kEthernet = 0xedb88320;
constexpr std::uint32_t kCastagnoli = 0x82f63b78;
constexpr std::uint32_t kAllOnes = 0xffffffff;

using Table = std::array<std::uint32_t, kBytes>;

// kTables[n][b] is the remainder of byte b with n bytes of zeros behind it.
template <std::uint32_t polynomial>
constexpr std::array<Table, kStep> kTables = [] {
  std::array<Table, kStep> tables{};
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t zeros = 1; zeros < kStep; ++zeros) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      const std::uint32_t before = tables[zeros - 1][byte];
      tables[zeros][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

// What a word adds, if `behind` more bytes of the step follow it.
template <std::uint32_t polynomial, std::size_t behind>
std::uint32_t rest_of(std::uint64_t word) noexcept {
  std::uint32_t rest = 0;
#pragma GCC unroll 8
  for (std::size_t byte = 0; byte < kLane; ++byte) {
    rest ^= kTables<polynomial>[behind + kLane - 1 - byte][word >> (8 * byte) & 0xff];
  }
  return rest;
}

template <std::uint32_t polynomial>
std::uint32_t crc(std::span<const std::byte> bytes) noexcept {
  std::uint32_t rest = kAllOnes;
  for (; bytes.size() >= kStep; bytes = bytes.subspan(kStep)) {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), bytes.data(), kStep);
    rest = rest_of<polynomial, kLane>(words[0] ^ rest) ^ rest_of<polynomial, 0>(words[1]);
  }
  for (const std::byte byte : bytes) {
    rest = rest >> 8 ^ kTables<polynomial>[0][(rest ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return rest ^ kAllOnes;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept { return crc<kEthernet>(bytes); }
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept { return crc<kCastagnoli>(bytes); }

}  // namespace meterbank
