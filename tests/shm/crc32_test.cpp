// SPDX-License-Identifier: Apache-2.0
//
// The checks of frames and of the arbiter's journal are the published ones, whatever the length of
// the bytes and where they lie.
#include "meterbank/base/crc32.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace meterbank {
namespace {

std::uint32_t crc_of(std::string_view text) { return crc32(std::as_bytes(std::span(text))); }

// The definition, a bit at a time.
std::uint32_t slow_crc(std::span<const std::byte> bytes, std::uint32_t polynomial) {
  std::uint32_t rest = 0xffffffff;
  for (const std::byte byte : bytes) {
    rest ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
  }
  return rest ^ 0xffffffff;
}

TEST(Crc32, IsThatOfItsPublishedExamples) {
  EXPECT_EQ(crc_of(""), 0U);
  EXPECT_EQ(crc_of("a"), 0xe8b7be43U);
  EXPECT_EQ(crc_of("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc_of("The quick brown fox jumps over the lazy dog"), 0x414fa339U);
}

TEST(Crc32c, IsThatOfRfc3720) {
  std::array<std::byte, 32> bytes{};
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  bytes.fill(std::byte{0xff});
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
}

TEST(Crc32, IsTheSameForEachLengthAndEachPlaceInMemory) {
  std::array<std::byte, 80> bytes{};
  std::uint32_t random = 1;
  for (std::byte& byte : bytes) {
    random = random * 1'664'525 + 1'013'904'223;
    byte = static_cast<std::byte>(random >> 24);
  }
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t length = 0; begin + length <= bytes.size(); ++length) {
      const auto part = std::span<const std::byte>(bytes).subspan(begin, length);
      ASSERT_EQ(crc32(part), slow_crc(part, 0xedb88320)) << begin << ' ' << length;
      ASSERT_EQ(crc32c(part), slow_crc(part, 0x82f63b78)) << begin << ' ' << length;
    }
  }
}

}  // namespace
}  // namespace meterbank
