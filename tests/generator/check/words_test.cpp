// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <utility>

namespace meterbank::generator {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

TEST(Words, AreTheSameHoweverANameIsSpelled) {
  constexpr std::array kNames{
      Pair{"Square Wave", "square_wave"},
      Pair{"SquareWave", "square_wave"},
      Pair{"square_wave", "square_wave"},
      Pair{"% Processor Time", "processor_time"},
      Pair{"Accepted/sec", "accepted_sec"},
      Pair{"IOReads", "io_reads"},
      Pair{"Avg. Disk Queue Length", "avg_disk_queue_length"},
      Pair{"DPCs Queued/sec", "dpcs_queued_sec"},
      Pair{"CPUs", "cpus"},
      Pair{"Copy3D", "copy3d"},
      Pair{"p99Latency", "p99_latency"},
      Pair{"MP3Player", "mp3_player"},
      Pair{"__init__", "init"},
      Pair{"5 Minute Load", "5_minute_load"},
      Pair{"A", "a"},
  };
  for (const auto& [name, word] : kNames) EXPECT_EQ(snake_case(name), word) << name;
}

TEST(Words, HaveLettersAndDigitsOfAsciiOnly) {
  EXPECT_EQ(snake_case("Größe"), "gr_e");
  EXPECT_EQ(snake_case("受注"), "");
  EXPECT_EQ(snake_case("%/-"), "");
  EXPECT_EQ(snake_case(""), "");
  EXPECT_EQ(snake_case("a\xff"
                       "b"),
            "a_b");
}

TEST(Words, StayAsTheyAreOnceTheyAreWords) {
  for (const std::string_view name : {"Avg. IOs/sec", "TCPv4", "a__B", "X_1y"}) {
    const std::string word = snake_case(name);
    EXPECT_EQ(snake_case(word), word);
  }
}

TEST(Words, BecomeTypesAndEnumerators) {
  EXPECT_EQ(camel_case("square_wave"), "SquareWave");
  EXPECT_EQ(camel_case("p99_latency"), "P99Latency");
  EXPECT_EQ(camel_case("a_1"), "A1");
  EXPECT_EQ(camel_case(""), "");
}

// M85: the form of a C identifier.
TEST(Identifiers, AreThoseOfCWithoutItsKeywords) {
  for (const std::string_view good : {"a", "_", "_9", "GeometricWave", "registers", "Int"}) {
    EXPECT_TRUE(is_identifier(good)) << good;
  }
  for (const std::string_view bad : {"", "9a", "a-b", "a b", "a.b", "\xc3\xa4", "register", "class",
                                     "_Bool", "restrict", "co_await", "typeof"}) {
    EXPECT_FALSE(is_identifier(bad)) << bad;
  }
}

}  // namespace
}  // namespace meterbank::generator
