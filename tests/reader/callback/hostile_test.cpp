// SPDX-License-Identifier: Apache-2.0
//
// A million damaged answers: none crashes a reader, breaks a promise about what it takes over, or
// leaves a descriptor behind.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "../../support/depth.hpp"
#include "../../support/descriptors.hpp"
#include "hostile_answer.hpp"

namespace meterbank {
namespace {

using test::HostileAnswer;
using test::open_descriptors;

// Changes, cuts or repeats something.
void damage(std::vector<std::byte>& packet, std::minstd_rand& random) {
  const auto below = [&random](std::size_t end) {
    return static_cast<std::size_t>(random()) % end;
  };
  static constexpr std::array<std::uint8_t, 8> kOdd{0, 1, 7, 8, 0x7f, 0x80, 0xfe, 0xff};
  const std::size_t changes = 1 + below(4);
  for (std::size_t change = 0; change < changes && !packet.empty(); ++change) {
    const std::size_t at = below(packet.size());
    switch (below(6)) {
      case 0:
        packet.resize(at);
        break;
      case 1:
        packet.insert(packet.end(), packet.begin(),
                      packet.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:
        packet[at] ^= std::byte{1} << below(8);
        break;
      case 3:  // the header and the body say most
        packet[below(std::min<std::size_t>(packet.size(), 72))] = std::byte{kOdd[below(8)]};
        break;
      default:
        packet[at] = std::byte{kOdd[below(8)]};
        break;
    }
  }
  // A good forgery has the right length.
  const auto bytes = static_cast<std::uint32_t>(packet.size());
  if (packet.size() >= 12 && below(4) != 0) std::memcpy(packet.data() + 8, &bytes, sizeof bytes);
}

TEST(CallbackHostile, DamagedAnswersBreakNoPromise) {
  const std::uint64_t answers = test::tries(1'000'000);
  const std::ptrdiff_t before = open_descriptors();
  HostileAnswer reader;
  std::minstd_rand random(20'261'121);  // the same each time
  std::vector<std::vector<std::byte>> sound;
  for (const std::uint32_t rows : {0U, 1U, 3U, 12U}) sound.push_back(HostileAnswer::sound(rows));
  bool kept = true;
  std::uint64_t taken = 0;
  std::vector<std::byte> packet;
  for (std::uint64_t answer = 0; answer < answers && kept; ++answer) {
    packet = sound[answer % sound.size()];
    if (answer % 16 != 0) damage(packet, random);
    if (reader.take(packet, kept)) ++taken;
  }
  EXPECT_TRUE(kept);
  EXPECT_GT(taken, answers / 16);  // damage to a value or a name does not show
  EXPECT_LT(taken, answers);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(CallbackHostile, AHeaderThatIsDamagedLaterLosesNoRows) {
  HostileAnswer reader;
  bool kept = true;
  reader.damage_header();
  EXPECT_TRUE(reader.take(HostileAnswer::sound(3), kept));
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace meterbank
