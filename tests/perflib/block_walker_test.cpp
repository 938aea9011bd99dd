// SPDX-License-Identifier: Apache-2.0
#include "meterbank/perflib/block_walker.hpp"

#include <random>
#include <set>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

// A result with blocks of all five shapes.
class BlockWalker : public WavesTest {
 protected:
  static Bytes sample(CharacterWidth width) {
    Handle handle(width);
    EXPECT_EQ(handle.add({}), kSuccess);
    EXPECT_EQ(handle.add({.counter = 1}), kSuccess);
    EXPECT_EQ(handle.add({kTrigonometric.guid, u""}), kSuccess);
    EXPECT_EQ(handle.add({kTrigonometric.guid, u"", 3}), kSuccess);
    EXPECT_EQ(handle.add({.pattern = u"missing"}), kSuccess);
    return handle.read();
  }
  static void set(Bytes& bytes, std::size_t at, std::uint32_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  // The fault when one number is another.
  BlockFault with(std::size_t at, std::uint32_t value) const {
    Bytes bytes = sample_;
    set(bytes, at, value);
    return check_result(bytes);
  }

  // Where things lie in the sample: the set of 232 bytes comes first.
  static constexpr std::size_t kFirst = 48;
  static constexpr std::size_t kColumns = kFirst + 16;
  static constexpr std::size_t kRows = kColumns + 16;
  static constexpr std::size_t kRow = kRows + 8;
  static constexpr std::size_t kValue = kRow + 32;

  Bytes sample_ = sample(CharacterWidth::kTwo);
};

TEST_F(BlockWalker, TakesWhatTheFunctionsMakeInBothWidths) {
  EXPECT_EQ(check_result(sample_), BlockFault::kNone);
  EXPECT_EQ(check_result(sample(CharacterWidth::kFour), CharacterWidth::kFour), BlockFault::kNone);
}

TEST_F(BlockWalker, RefusesEverySizeThatDoesNotFit) {
  EXPECT_EQ(with(0, 47), BlockFault::kBadTotal);
  EXPECT_EQ(with(0, 0xffffffff), BlockFault::kBadTotal);
  EXPECT_EQ(with(4, 6), BlockFault::kHeaderCut);
  EXPECT_EQ(with(4, 4), BlockFault::kBytesLeft);
  for (const std::uint32_t size : {0U, 15U, 17U, 8U, 0xfffffff8U, 0xffffffffU}) {
    EXPECT_EQ(with(kFirst + 8, size), BlockFault::kBadSize) << size;
    EXPECT_EQ(with(kValue + 4, size), BlockFault::kBadSize) << size;
  }
  EXPECT_EQ(with(kColumns, 4), BlockFault::kBadSize);
  EXPECT_EQ(with(kColumns, 4096), BlockFault::kBadSize);
  EXPECT_EQ(with(kColumns + 4, 3), BlockFault::kColumnsOverrun);
  EXPECT_EQ(with(kColumns + 4, 0xffffffff), BlockFault::kColumnsOverrun);
  EXPECT_EQ(with(kRows, 0), BlockFault::kBadSize);
  EXPECT_EQ(with(kRows, 208), BlockFault::kBadSize);
  EXPECT_EQ(with(kRows, 192), BlockFault::kBytesLeft);
  EXPECT_EQ(with(kRows + 4, 2), BlockFault::kBytesLeft);
  EXPECT_EQ(with(kRows + 4, 4), BlockFault::kHeaderCut);
  EXPECT_EQ(with(kRow, 0), BlockFault::kBadSize);
  EXPECT_EQ(with(kRow, 24), BlockFault::kNameUnended);
  EXPECT_EQ(with(kRow, 0xfffffff8), BlockFault::kBadSize);
  EXPECT_EQ(with(kValue, 9), BlockFault::kBadValue);
  EXPECT_EQ(with(kFirst + 4, 3), BlockFault::kUnknownShape);
  EXPECT_EQ(with(kFirst + 4, 0), BlockFault::kBytesLeft);
}

TEST_F(BlockWalker, RefusesEveryPrefix) {
  for (std::size_t size = 0; size < sample_.size(); ++size) {
    Bytes bytes(sample_.begin(), sample_.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(check_result(bytes), BlockFault::kNone);
    if (size < sizeof(ResultHeader)) continue;
    set(bytes, 0, static_cast<std::uint32_t>(size));
    EXPECT_NE(check_result(bytes), BlockFault::kNone);
  }
}

TEST_F(BlockWalker, TakesUnknownPaddingAndLargerSizes) {
  // A reader goes by the sizes: what lies in the padding does not matter.
  Bytes bytes = sample_;
  bytes[kRow + 8 + 22] = std::byte{0xff};
  EXPECT_EQ(check_result(bytes), BlockFault::kNone);
}

TEST_F(BlockWalker, StopsAtAFaultAndKeepsWhatWasSound) {
  Bytes bytes = sample_;
  set(bytes, kFirst + 232 + 8, 7);  // the size of the second block
  ResultWalker walker(bytes);
  EXPECT_TRUE(walker.next());
  EXPECT_FALSE(walker.next());
  EXPECT_EQ(walker.fault(), BlockFault::kBadSize);
  EXPECT_FALSE(walker.next());
}

TEST_F(BlockWalker, EndsOnAnyChangeOfAnyBytes) {
  std::minstd_rand random(7);
  std::size_t refused = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    Bytes bytes = sample_;
    for (auto changes = 1 + random() % 4; changes != 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    refused += check_result(bytes) == BlockFault::kNone ? 0U : 1U;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(BlockFaults, HaveANameEach) {
  std::set<std::string_view> names;
  for (int fault = 0; fault <= static_cast<int>(BlockFault::kBytesLeft); ++fault) {
    names.insert(name_of(static_cast<BlockFault>(fault)));
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(IdentifierWalker, SaysWhereAFaultLies) {
  Bytes bytes = identifier({}) + identifier({.pattern = u""}) + identifier({});
  bytes.pop_back();
  IdentifierWalker walker(bytes);
  EXPECT_EQ(walker.next()->offset, 0U);
  const auto second = walker.next();
  EXPECT_EQ(second->offset, 48U);
  EXPECT_TRUE(second->pattern.bytes.empty());
  EXPECT_FALSE(walker.next());
  EXPECT_EQ(walker.fault(), BlockFault::kBadSize);
  EXPECT_EQ(walker.offset(), 88U);
}

TEST(IdentifierWalker, ReadsNamesAtAnyAddress) {
  Bytes bytes(1);
  bytes = bytes + identifier({.pattern = u"\u00e4*"}, CharacterWidth::kFour);
  const std::span<const std::byte> odd(bytes.data() + 1, bytes.size() - 1);
  IdentifierWalker walker(odd, CharacterWidth::kFour);
  const auto found = walker.next();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern.utf8(), "\xc3\xa4*");
  EXPECT_FALSE(walker.next());
  EXPECT_EQ(walker.fault(), BlockFault::kNone);
}

TEST(StringWalker, RefusesOffsetsIntoItsOwnHeadAndBehindItsEnd) {
  Bytes block;
  const StringsHeader header{20, 1};
  append(block, &header, sizeof header);
  const StringRef ref{7, 16};
  append(block, &ref, sizeof ref);
  block.resize(20);
  block[16] = std::byte{'x'};
  const auto fault_at = [&](std::uint32_t offset) {
    std::memcpy(block.data() + 12, &offset, sizeof offset);
    StringWalker walker(block);
    static_cast<void>(walker.next());
    return walker.fault();
  };
  EXPECT_EQ(fault_at(16), BlockFault::kNone);
  EXPECT_EQ(fault_at(18), BlockFault::kNone);
  EXPECT_EQ(fault_at(kNoString), BlockFault::kNone);
  EXPECT_EQ(fault_at(15), BlockFault::kBadSize);
  EXPECT_EQ(fault_at(21), BlockFault::kBadSize);
  EXPECT_EQ(fault_at(20), BlockFault::kNameUnended);
  EXPECT_EQ(fault_at(19), BlockFault::kNameUnended);
}

}  // namespace
}  // namespace meterbank::test
