// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/fnv1a.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace meterbank {
namespace {

std::uint64_t digest_of(std::string_view text) {
  Fnv1a digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.value();
}

// Journals and generated files keep digests, so the numbers must never change.
TEST(Fnv1a, GivesThePublishedDigests) {
  EXPECT_EQ(digest_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(digest_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(digest_of("foobar"), 0x85944171f73967e8U);
}

TEST(Fnv1a, DoesNotDependOnHowTheBytesAreParted) {
  const std::array<std::uint32_t, 2> words{0x12345678, 0x9abcdef0};
  Fnv1a whole, parts;
  whole.add_object(words);
  for (const std::uint32_t word : words) parts.add_object(word);
  EXPECT_EQ(whole.value(), parts.value());
}

}  // namespace
}  // namespace meterbank
