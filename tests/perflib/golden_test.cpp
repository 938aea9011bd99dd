// SPDX-License-Identifier: Apache-2.0
//
// Blocks byte by byte, against bytes that no code of ours made.
#include <cstdio>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

// Little-endian pieces of what is expected.
class Expected {
 public:
  template <typename... Numbers>
  Expected& u32(Numbers... numbers) {
    for (const auto value : {static_cast<std::uint32_t>(numbers)...}) {
      append(bytes_, &value, sizeof value);
    }
    return *this;
  }
  Expected& u64(std::uint64_t value) {
    append(bytes_, &value, sizeof value);
    return *this;
  }
  // UTF-16, without a NUL.
  Expected& text(const char* letters) {
    for (; *letters != 0; ++letters) {
      bytes_.push_back(static_cast<std::byte>(*letters));
      bytes_.push_back(std::byte{0});
    }
    return *this;
  }
  Expected& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  Expected& guid(const Guid& guid) {
    append(bytes_, &guid, sizeof guid);
    return *this;
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  char digits[4];
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[index]));
    text += digits;
    if (index % 8 == 7) text += '\n';
  }
  return text;
}

// Behind the header, which holds times.
std::string body(const Bytes& result) { return hex(std::span(result).subspan(48)); }

class GoldenBlocks : public WavesTest {};

TEST_F(GoldenBlocks, AnEmptyQueryIs48Bytes) {
  const Handle handle;
  const Bytes result = handle.read();
  ASSERT_EQ(result.size(), 48U);
  EXPECT_EQ(hex(std::span(result).first(8)), hex(Expected().u32(48, 0).bytes()));
}

TEST_F(GoldenBlocks, AnErrorIs64Bytes) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"No Wave", .counter = 1}), kSuccess);
  const Bytes result = handle.read();
  EXPECT_EQ(result.size(), 64U);
  EXPECT_EQ(body(result), hex(Expected().u32(4201, 0, 16, 0).bytes()));
}

TEST_F(GoldenBlocks, OneCounterOfOneRowIs80BytesInBothWidths) {
  for (const std::uint32_t id : {1U, 3U}) {
    Handle handle;
    ASSERT_EQ(handle.add({kTrigonometric.guid, u"", id}), kSuccess);
    const Bytes result = handle.read();
    EXPECT_EQ(result.size(), 80U);
    const std::uint32_t bytes = id == 1 ? 4 : 8;
    EXPECT_EQ(body(result), hex(Expected().u32(0, 1, 32, 0, bytes, 16).u64(99 + id).bytes()));
  }
}

TEST_F(GoldenBlocks, TwoCountersByExactNameAre112Bytes) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Medium Wave", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"medium wave", .counter = 2}), kSuccess);
  const Bytes result = handle.read();
  EXPECT_EQ(result.size(), 112U);
  EXPECT_EQ(
      body(result),
      hex(Expected().u32(0, 1, 32, 0, 4, 16).u64(21).u32(0, 1, 32, 0, 8, 16).u64(22).bytes()));
}

TEST_F(GoldenBlocks, AllCountersOfOneRowAre136Bytes) {
  Handle handle;
  ASSERT_EQ(handle.add({kTrigonometric.guid, u""}), kSuccess);
  const Bytes result = handle.read();
  EXPECT_EQ(result.size(), 136U);
  EXPECT_EQ(body(result), hex(Expected()
                                  .u32(0, 2, 88, 0, 24, 3, 1, 2, 3, 0, 4, 16)
                                  .u64(100)
                                  .u32(4, 16)
                                  .u64(101)
                                  .u32(8, 16)
                                  .u64(102)
                                  .bytes()));
}

TEST_F(GoldenBlocks, OneCounterOfThreeRowsIs216Bytes) {
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  const Bytes result = handle.read();
  EXPECT_EQ(result.size(), 216U);
  EXPECT_EQ(body(result), hex(Expected()
                                  .u32(0, 4, 168, 0, 152, 3, 32, 0)
                                  .text("Small Wave")
                                  .zeros(4)
                                  .u32(4, 16)
                                  .u64(11)
                                  .u32(32, 1)
                                  .text("Medium Wave")
                                  .zeros(2)
                                  .u32(4, 16)
                                  .u64(21)
                                  .u32(32, 2)
                                  .text("Large Wave")
                                  .zeros(4)
                                  .u32(4, 16)
                                  .u64(31)
                                  .bytes()));
}

TEST_F(GoldenBlocks, AllCountersOfThreeRowsAre280Bytes) {
  Handle handle;
  ASSERT_EQ(handle.add({}), kSuccess);
  const Bytes result = handle.read();
  EXPECT_EQ(result.size(), 280U);
  EXPECT_EQ(body(result), hex(Expected()
                                  .u32(0, 6, 232, 0, 16, 2, 1, 2, 200, 3, 32, 0)
                                  .text("Small Wave")
                                  .zeros(4)
                                  .u32(4, 16)
                                  .u64(11)
                                  .u32(8, 16)
                                  .u64(12)
                                  .u32(32, 1)
                                  .text("Medium Wave")
                                  .zeros(2)
                                  .u32(4, 16)
                                  .u64(21)
                                  .u32(8, 16)
                                  .u64(22)
                                  .u32(32, 2)
                                  .text("Large Wave")
                                  .zeros(4)
                                  .u32(4, 16)
                                  .u64(31)
                                  .u32(8, 16)
                                  .u64(32)
                                  .bytes()));
}

TEST_F(GoldenBlocks, NamesOfWideCharactersAreTheOnlyDifferenceOfTheOtherWidth) {
  Handle narrow(CharacterWidth::kTwo);
  Handle wide(CharacterWidth::kFour);
  ASSERT_EQ(narrow.add({}), kSuccess);
  ASSERT_EQ(wide.add({}), kSuccess);
  // 8 + 44, 48 or 44 bytes of name are 56 instead of 32.
  EXPECT_EQ(wide.read().size(), narrow.read().size() + 3 * 24);
  EXPECT_EQ(seen(wide)[0].rows, seen(narrow)[0].rows);
}

TEST_F(GoldenBlocks, AnIdentifierIsPaddedToEightBytes) {
  EXPECT_EQ(identifier({.pattern = u"*"}).size(), 48U);
  EXPECT_EQ(identifier({.pattern = u"_Total"}).size(), 56U);
  EXPECT_EQ(identifier({.pattern = u""}).size(), 40U);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"_Total", .counter = 2, .instance = 7}), kSuccess);
  EXPECT_EQ(
      hex(handle.list()),
      hex(Expected().guid(kGeometric.guid).u32(0, 56, 2, 7, 0, 0).text("_Total").zeros(4).bytes()));
}

// What a request for registration information gives, by the size protocol.
Bytes registration(PerfRegInfoType request, DWORD detail = 0) {
  const GUID set = guid_of(kGeometric.guid);
  DWORD needed = 0;
  EXPECT_EQ(meterbank_utf16_PerfQueryCounterSetRegistrationInfo(nullptr, &set, request, detail,
                                                                nullptr, 0, &needed),
            kTooSmall);
  Bytes bytes(needed);
  EXPECT_EQ(
      meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
          nullptr, &set, request, detail, reinterpret_cast<LPBYTE>(bytes.data()), needed, &needed),
      kSuccess);
  return bytes;
}

class GoldenRegistration : public WavesTest {};

TEST_F(GoldenRegistration, DescribesASetOfTwoCountersIn128Bytes) {
  const Bytes block = registration(PERF_REG_COUNTERSET_STRUCT);
  EXPECT_EQ(block.size(), 128U);
  EXPECT_EQ(hex(block), hex(Expected()
                                .guid(kGeometric.guid)
                                .u32(0, 100, 2, 2, 1, 0x00010000)
                                .u64(0)
                                .u32(100, 0, -1, -1, -1, -1, 1, 0, 2, 0x00010100)
                                .u64(0)
                                .u32(100, 0, -1, -1, -1, -1, 4, 0)
                                .bytes()));
}

TEST_F(GoldenRegistration, DescribesOneCounterById) {
  EXPECT_EQ(hex(registration(PERF_REG_COUNTER_STRUCT, 2)),
            hex(Expected().u32(2, 0x00010100).u64(0).u32(100, 0, -1, -1, -1, -1, 4, 0).bytes()));
}

TEST_F(GoldenRegistration, GivesNamesAndHelpAsStrings) {
  const std::string name = hex(Expected().text("Geometric Waves").zeros(2).bytes());
  EXPECT_EQ(hex(registration(PERF_REG_COUNTERSET_NAME_STRING)), name);
  EXPECT_EQ(hex(registration(PERF_REG_COUNTERSET_ENGLISH_NAME)), name);
  EXPECT_EQ(hex(registration(PERF_REG_COUNTERSET_HELP_STRING)),
            hex(Expected().text("Waves with corners.").zeros(2).bytes()));
  EXPECT_EQ(hex(registration(PERF_REG_PROVIDER_NAME)),
            hex(Expected().text("waves").zeros(2).bytes()));
  EXPECT_EQ(hex(registration(PERF_REG_PROVIDER_GUID)),
            hex(Expected().guid(kGeometric.provider_guid).bytes()));
}

TEST_F(GoldenRegistration, GivesTheStringsOfCountersByOffset) {
  const std::string names = hex(Expected()
                                    .u32(76, 2, 1, 24, 2, 52)
                                    .text("Triangle Wave")
                                    .zeros(2)
                                    .text("Square Wave")
                                    .zeros(2)
                                    .bytes());
  EXPECT_EQ(hex(registration(PERF_REG_COUNTER_NAME_STRINGS)), names);
  EXPECT_EQ(hex(registration(PERF_REG_COUNTER_ENGLISH_NAMES)), names);
  EXPECT_EQ(hex(registration(PERF_REG_COUNTER_HELP_STRINGS)), hex(Expected()
                                                                      .u32(68, 2, 1, 24, 2, 48)
                                                                      .text("A triangle.")
                                                                      .zeros(2)
                                                                      .text("A square.")
                                                                      .zeros(2)
                                                                      .bytes()));
}

TEST_F(GoldenRegistration, ListsInstancesWithTheirIds) {
  const GUID set = guid_of(kGeometric.guid);
  Bytes block(96);
  DWORD needed = 0;
  ASSERT_EQ(meterbank_utf16_PerfEnumerateCounterSetInstances(
                nullptr, &set, reinterpret_cast<PPERF_INSTANCE_HEADER>(block.data()), 96, &needed),
            kSuccess);
  EXPECT_EQ(needed, 96U);
  EXPECT_EQ(hex(block), hex(Expected()
                                .u32(32, 0)
                                .text("Small Wave")
                                .zeros(4)
                                .u32(32, 1)
                                .text("Medium Wave")
                                .zeros(2)
                                .u32(32, 2)
                                .text("Large Wave")
                                .zeros(4)
                                .bytes()));
}

}  // namespace
}  // namespace meterbank::test
