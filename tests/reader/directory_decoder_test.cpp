// SPDX-License-Identifier: Apache-2.0
//
// Decoders over bytes that lie. What they find through a catalog is in catalog_test.cpp.
#include "catalog/decode/directory_decoder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "../support/allocation_count.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

// The schema decoder, on bytes made here.
class SchemaTest : public testing::Test {
 protected:
  SchemaTest() : bytes_(*encode_schema(test::kOrders, "orders")), form_(form_of(test::kOrders)) {}

  template <typename T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  [[nodiscard]] static std::size_t counter(std::size_t index, std::size_t field) {
    return sizeof(SchemaHeader) + index * sizeof(CounterRecord) + field;
  }
  void expect_corrupt(const char* why) const {
    const auto set = decode_schema(bytes_, form_);
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(set.error().what.find(why), std::string::npos) << set.error().what;
  }

  std::vector<std::byte> bytes_;
  BlockForm form_;
};

TEST_F(SchemaTest, IsReadAsItWasWritten) {
  const auto set = decode_schema(bytes_, form_);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->counters.size(), 3U);
  EXPECT_EQ(set->counters[1].unit, "By");
  EXPECT_EQ(set->counters[1].help, "Bytes of orders accepted.");
  EXPECT_EQ(set->stamp_word, kNoCounter);
}

TEST_F(SchemaTest, IsRefusedAtEveryTruncation) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    EXPECT_FALSE(decode_schema(std::span(bytes_).first(size), form_).has_value()) << size;
  }
}

TEST_F(SchemaTest, MustAgreeWithTheWordsOfItsBlocks) {
  form_.words = 4;
  expect_corrupt("words of a block");
  put(offsetof(SchemaHeader, flags), kSchemaStamped);
  const auto stamped = decode_schema(bytes_, form_);
  ASSERT_TRUE(stamped.has_value());
  EXPECT_EQ(stamped->stamp_word, 3U);
}

TEST_F(SchemaTest, MayNotNameTextOutsideItself) {
  put(offsetof(SchemaHeader, name), TextRef{static_cast<std::uint32_t>(bytes_.size()), 1});
  expect_corrupt("name");
  put(offsetof(SchemaHeader, name), TextRef{0xffffffff, 0xffffffff});
  expect_corrupt("name");
}

TEST_F(SchemaTest, MayNotMultiplyItsTextWithoutEnd) {
  for (std::size_t index = 0; index < 3; ++index) {
    for (const std::size_t field : {offsetof(CounterRecord, name), offsetof(CounterRecord, symbol),
                                    offsetof(CounterRecord, help)}) {
      put(counter(index, field), TextRef{0, static_cast<std::uint32_t>(bytes_.size())});
    }
  }
  expect_corrupt("counter ");
}

TEST_F(SchemaTest, MayNotUseAnIdTwice) {
  put(counter(1, offsetof(CounterRecord, id)), std::uint32_t{1});
  expect_corrupt("two counters have one id");
}

TEST_F(SchemaTest, MayOnlyLinkCountersThatItHas) {
  put(counter(0, offsetof(CounterRecord, base)), std::uint32_t{5});
  EXPECT_EQ(decode_schema(bytes_, form_)->counters[0].base, 2U);  // a word, not an id
  put(counter(0, offsetof(CounterRecord, base)), std::uint32_t{6});
  expect_corrupt("base of a counter");
}

TEST_F(SchemaTest, MayNotScaleBeyondItsDocumentedRange) {
  put(counter(2, offsetof(CounterRecord, scale)), std::int32_t{-11});
  expect_corrupt("scale");
}

TEST_F(SchemaTest, KeepsATypeThatThisReaderDoesNotKnow) {
  put(counter(0, offsetof(CounterRecord, type)), std::uint32_t{0x12345678});
  EXPECT_EQ(bits_of(decode_schema(bytes_, form_)->counters[0].type), 0x12345678U);
}

TEST_F(SchemaTest, RepairsTextThatIsNotUtf8) {
  TextRef name{};
  std::memcpy(&name, bytes_.data() + offsetof(SchemaHeader, name), sizeof name);
  put(name.offset, std::uint8_t{0xff});
  EXPECT_EQ(decode_schema(bytes_, form_)->name,
            "\xEF\xBF\xBD"
            "emo Orders");
}

// The directory decoder, on a real segment that is damaged.
class DirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    provider_.emplace(*Provider::create({.name = "orders", .directory = directory_.path()}));
    CountersetSpec second = test::kOrders;
    second.name = "Other Orders";
    second.symbol = "other_orders";
    second.guid = {};
    for (const CountersetSpec& spec : {test::kOrders, second}) {
      const Registration set = *provider_->add(spec);
      kept_.push_back(*set.create_instance("eu"));
      kept_.push_back(*set.create_instance("us"));
    }
    const Catalog catalog = *Catalog::open({.directory = directory_.path()});
    const MappedBytes bytes = catalog.providers().front()->segment->extent(0).bytes();
    words_.resize(bytes.size() / sizeof(Line));
    std::memcpy(words_.data(), bytes.span_at(0, bytes.size(), 1), bytes.size());
  }
  [[nodiscard]] std::byte* data() { return words_.front().bytes.data(); }
  [[nodiscard]] SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(data()); }
  [[nodiscard]] RegistrationRecord& record(std::size_t index) {
    const Ref ref = header().registrations[index].load(std::memory_order_relaxed);
    return *reinterpret_cast<RegistrationRecord*>(data() + offset_of(ref));
  }
  [[nodiscard]] DecodedDirectory decode() {
    auto extent = MappedExtent::over({data(), words_.size() * sizeof(Line)});
    return decode_directory(**MappedSegment::attach(std::move(extent)));
  }
  void expect_second_only(DecodedDirectory directory, const char* why) {
    ASSERT_EQ(directory.sets.size(), 1U);
    EXPECT_EQ(directory.sets.front().set->name, "Other Orders");
    EXPECT_EQ(directory.sets.front().instances.size(), 2U);
    ASSERT_EQ(directory.errors.size(), 1U);
    EXPECT_EQ(directory.errors.front().code, ErrorCode::kCorrupt);
    EXPECT_NE(directory.errors.front().what.find(why), std::string::npos)
        << directory.errors.front().what;
  }

  struct alignas(kCacheLine) Line {
    std::array<std::byte, kCacheLine> bytes;
  };
  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  std::vector<Instance> kept_;
  std::vector<Line> words_;
};

TEST_F(DirectoryTest, IsReadWhole) {
  const DecodedDirectory directory = decode();
  EXPECT_EQ(directory.sets.size(), 2U);
  EXPECT_TRUE(directory.errors.empty());
}

TEST_F(DirectoryTest, LeavesOutASetWhoseSchemaIsOutside) {
  record(0).schema = make_ref(7, 0);
  expect_second_only(decode(), "schema outside");
}

TEST_F(DirectoryTest, LeavesOutASetWithAnImpossibleBlock) {
  record(0).lanes = 3;
  expect_second_only(decode(), "form of its blocks");
}

TEST_F(DirectoryTest, LeavesOutASetWhoseGroupsAreOutside) {
  record(0).first_group.store(make_ref(0, 0xffffffc0), std::memory_order_relaxed);
  expect_second_only(decode(), "outside the segment");
}

TEST_F(DirectoryTest, LeavesOutASetWhoseGroupIsTooLarge) {
  const Ref group = record(0).first_group.load(std::memory_order_relaxed);
  reinterpret_cast<GroupHeader*>(data() + offset_of(group))->slots = kGroupSlotsMax;
  expect_second_only(decode(), "group exceeds");
}

TEST_F(DirectoryTest, LeavesOutASetThatIsDeclaredTwice) {
  const Ref first = header().registrations[0].load(std::memory_order_relaxed);
  header().registrations[1].store(first, std::memory_order_relaxed);
  const DecodedDirectory directory = decode();
  EXPECT_EQ(directory.sets.size(), 1U);
  EXPECT_EQ(directory.errors.size(), 1U);
}

TEST_F(DirectoryTest, ReadsNoMoreRegistrationsThanThereIsRoomFor) {
  header().registrations_count.store(0xffffffff, std::memory_order_relaxed);
  const DecodedDirectory directory = decode();
  EXPECT_EQ(directory.sets.size(), 2U);
  EXPECT_EQ(directory.errors.size(), 1U);
}

TEST_F(DirectoryTest, LeavesOutAnInstanceWithoutASoundName) {
  const DecodedDirectory whole = decode();
  const RegisteredSet& set = whole.sets.front();
  auto* descriptors = reinterpret_cast<SlotDescriptor*>(data() + offset_of(set.groups[0]) +
                                                        set.layouts[0].descriptors);
  SlotDescriptor& first = descriptors[set.instances[0].slot];
  first.identity.store(std::uint64_t{1024} << 32, std::memory_order_relaxed);
  const DecodedDirectory damaged = decode();
  ASSERT_EQ(damaged.sets.size(), 2U);
  EXPECT_EQ(damaged.sets.front().instances.size(), 1U);
  EXPECT_EQ(damaged.errors.size(), 1U);
}

TEST_F(DirectoryTest, ListsAnInstanceWhoseNameIsNotUtf8WithAName) {
  const DecodedDirectory whole = decode();
  const RegisteredSet& set = whole.sets.front();
  auto* descriptors = reinterpret_cast<SlotDescriptor*>(data() + offset_of(set.groups[0]) +
                                                        set.layouts[0].descriptors);
  SlotDescriptor& first = descriptors[set.instances[0].slot];
  first.name_here[0].store(0xc0 | 'u' << 8, std::memory_order_relaxed);
  EXPECT_EQ(decode().sets.front().instances[0].name, "\xEF\xBF\xBDu");
}

// Slots that a provider only claims to have cost a reader nothing.
TEST_F(DirectoryTest, IgnoresALogThatNamesASlotOfNoGroup) {
  const auto segment =
      *MappedSegment::attach(MappedExtent::over({data(), words_.size() * sizeof(Line)}));
  const DecodedDirectory known = decode_directory(*segment);
  const std::uint64_t version = known.version + 1;
  constexpr std::uint32_t kFarSlot = 0xfffffe;
  const DirectoryChange change{static_cast<std::uint32_t>(version), 0, kFarSlot};
  header().changes[version % kChangesKept].store(change.raw(), std::memory_order_relaxed);
  header().directory_version.store(version, std::memory_order_relaxed);
  const std::size_t before = test::allocations_made();
  const auto followed = decode_changes(*segment, {known.version, known.sets});
  EXPECT_LT(test::allocations_made() - before, 100U);
  ASSERT_TRUE(followed.has_value());
  EXPECT_EQ(followed->sets.front().instances.size(), 2U);
}

}  // namespace
}  // namespace meterbank
