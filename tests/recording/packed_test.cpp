// SPDX-License-Identifier: Apache-2.0
#include "../../reader/recording/src/ticks/packed.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>

namespace meterbank::recording {
namespace {

// Around the lengths of the parts in which bytes are unpacked.
TEST(Packed, GivesBackBytesOfEveryLength) {
  std::mt19937 random(16);
  for (const std::size_t size : {0U, 1U, 1000U, 16383U, 16384U, 16385U, 32768U, 32769U, 100000U}) {
    std::string bytes;
    for (std::size_t place = 0; place < size; ++place) {
      bytes += static_cast<char>(random() % 3 == 0 ? 'a' + random() % 26 : random() % 256);
    }
    std::string packed;
    append_packed(bytes, packed);
    ByteReader in(std::as_bytes(std::span(packed)));
    const auto again = read_packed(in, size);
    ASSERT_TRUE(again) << size;
    EXPECT_TRUE(*again == bytes) << size;
    EXPECT_TRUE(in.is_at_end());
  }
}

}  // namespace
}  // namespace meterbank::recording
