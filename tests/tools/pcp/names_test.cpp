// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "pcp/names/pcp_name.hpp"
#include "pcp/names/stable_numbers.hpp"

namespace meterbank::pcp {
namespace {

TEST(PcpNames, AreLowerCaseWordsThatBeginWithALetter) {
  EXPECT_EQ(metric_part("bytes_received", "Bytes Received/sec"), "bytes_received");
  EXPECT_EQ(metric_part("BytesReceived", ""), "bytesreceived");
  EXPECT_EQ(metric_part("__a__b__", ""), "a_b");
  EXPECT_EQ(metric_part("5xx", ""), "n5xx");
  EXPECT_EQ(metric_part("", "% Free Space"), "free_space");
  EXPECT_EQ(metric_part("_", "\"\n\xff"), "");
}

TEST(PcpNames, AreShortenedToDifferentNames) {
  const std::string left = metric_part(std::string(1000, 'a') + "b", "");
  const std::string right = metric_part(std::string(1000, 'a') + "c", "");

  EXPECT_EQ(left.size(), kPartBytesMax);
  EXPECT_EQ(right.size(), kPartBytesMax);
  EXPECT_NE(left, right);
  EXPECT_EQ(metric_part(std::string(kPartBytesMax, 'a'), ""), std::string(kPartBytesMax, 'a'));
}

TEST(PcpNames, OfInstancesHaveNoSpacesAndNoControlCharacters) {
  EXPECT_EQ(instance_part("C: drive one"), "C:_drive_one");
  EXPECT_EQ(instance_part("say \"h\xc3\xbc\" \\"), "say_\"h\xc3\xbc\"_\\");
  EXPECT_EQ(instance_part("a\nb\x1b\xff"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(StableNumbers, AreTheSameForTheSameKeysInAnyOrder) {
  StableNumbers forward(1U << 30U);
  StableNumbers backward(1U << 30U);
  std::vector<std::uint32_t> numbers;
  for (int key = 0; key < 100; ++key) numbers.push_back(forward.of(std::to_string(key)));

  for (int key = 99; key >= 0; --key) {
    EXPECT_EQ(backward.of(std::to_string(key)), numbers[static_cast<std::size_t>(key)]);
  }
  // Those of archives: they must never change.
  EXPECT_EQ(hash_below(1U << 22U, "meterbank.orders.accepted", 0), 824'062U);
}

TEST(StableNumbers, AreDifferentForDifferentKeysWhoseHashesCollide) {
  constexpr std::uint32_t kRange = 64;
  StableNumbers numbers(kRange);
  std::set<std::uint32_t> seen;

  for (int key = 0; key < 32; ++key) seen.insert(numbers.of(std::to_string(key)));

  EXPECT_EQ(seen.size(), 32U);
  EXPECT_LT(*seen.rbegin(), kRange);
  EXPECT_EQ(numbers.of("0"), hash_below(kRange, "0", 0)) << "the first key keeps its number";
}

TEST(StableNumbers, ForgetKeysThatAreNotUsedIfTheyAreMany) {
  StableNumbers numbers(1U << 30U);
  for (int key = 0; key < 20'000; ++key) static_cast<void>(numbers.of(std::to_string(key)));
  numbers.forget_unused();
  EXPECT_EQ(numbers.size(), 20'000U) << "all were used";
  const std::uint32_t kept = numbers.of("7");

  numbers.forget_unused();

  EXPECT_EQ(numbers.size(), 1U);
  EXPECT_EQ(numbers.of("7"), kept);
}

TEST(StableNumbers, KeepAFewKeysThatAreNotUsed) {
  StableNumbers numbers(1U << 30U);
  static_cast<void>(numbers.of("a"));
  numbers.forget_unused();
  numbers.forget_unused();

  EXPECT_EQ(numbers.size(), 1U);
}

}  // namespace
}  // namespace meterbank::pcp
