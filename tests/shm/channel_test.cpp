// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/channel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace meterbank {
namespace {

using Bytes = std::vector<std::byte>;

ChannelRequest a_request() {
  ChannelRequest request;
  request.type = MessageType::kCollect;
  request.id = 7;
  request.registration = 640;
  request.generation = 3;
  request.timeout_ns = 1'000'000;
  request.counter_mask = {5, 1};
  request.instance_id = 12;
  request.pattern = "gr\u00F6\u00DFen*";
  request.collect_many = false;
  return request;
}

template <typename T>
void put(Bytes& packet, std::size_t offset, T value) {
  std::memcpy(packet.data() + offset, &value, sizeof value);
}

std::optional<ChannelRefusal> refusal_of(const Bytes& packet) {
  return decode_request(packet).refusal;
}

TEST(ChannelRequests, ComeOutAsTheyWentIn) {
  for (const MessageType type : {MessageType::kAddInterest, MessageType::kRemoveInterest,
                                 MessageType::kEnumerate, MessageType::kCollect}) {
    ChannelRequest sent = a_request();
    sent.type = type;
    const Bytes packet = encode(sent);
    EXPECT_EQ(packet.size() % 8, 0U);
    const DecodedRequest decoded = decode_request(packet);
    ASSERT_FALSE(decoded.refusal);
    const ChannelRequest& got = decoded.request;
    EXPECT_EQ(got.type, type);
    EXPECT_EQ(got.id, sent.id);
    EXPECT_EQ(got.registration, sent.registration);
    EXPECT_EQ(got.generation, sent.generation);
    EXPECT_EQ(got.timeout_ns, sent.timeout_ns);
    EXPECT_EQ(got.counter_mask, sent.counter_mask);
    EXPECT_EQ(got.instance_id, sent.instance_id);
    EXPECT_EQ(got.pattern, sent.pattern);
    EXPECT_EQ(got.collect_many, sent.collect_many);
  }
}

TEST(ChannelRequests, CancelWithAHeaderAlone) {
  ChannelRequest cancel;
  cancel.type = MessageType::kCancel;
  cancel.id = 9;
  const Bytes packet = encode(cancel);
  EXPECT_EQ(packet.size(), sizeof(MessageHeader));
  EXPECT_EQ(decode_request(packet).request.id, 9U);
  Bytes longer = packet;
  longer.resize(longer.size() + 8);
  put(longer, offsetof(MessageHeader, bytes), static_cast<std::uint32_t>(longer.size()));
  EXPECT_EQ(refusal_of(longer), ChannelRefusal::kMalformed);
}

TEST(ChannelRequests, AreRefusedAtEveryLengthButTheirOwn) {
  const Bytes packet = encode(a_request());
  for (std::size_t bytes = 0; bytes < packet.size() + 16; ++bytes) {
    if (bytes == packet.size()) continue;
    Bytes other(packet.begin(),
                packet.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, packet.size())));
    other.resize(bytes);
    EXPECT_TRUE(refusal_of(other)) << bytes;
    if (bytes < sizeof(MessageHeader)) continue;
    put(other, offsetof(MessageHeader, bytes), static_cast<std::uint32_t>(bytes));
    EXPECT_EQ(refusal_of(other), ChannelRefusal::kMalformed) << bytes;
  }
}

TEST(ChannelRequests, SayWhyTheyAreRefused) {
  const auto damaged = [](std::size_t offset, auto value) {
    Bytes packet = encode(a_request());
    put(packet, offset, value);
    return decode_request(packet);
  };
  constexpr std::size_t kBody = sizeof(MessageHeader);
  EXPECT_EQ(damaged(offsetof(MessageHeader, magic), 1U).refusal, ChannelRefusal::kMalformed);
  EXPECT_EQ(damaged(offsetof(MessageHeader, version), std::uint16_t{2}).refusal,
            ChannelRefusal::kVersion);
  EXPECT_EQ(damaged(offsetof(MessageHeader, reserved), 1U).refusal, ChannelRefusal::kMalformed);
  for (const int number : {0, 6, 0x81, 0x82, 0xffff}) {
    const auto type = static_cast<std::uint16_t>(number);
    const DecodedRequest decoded = damaged(offsetof(MessageHeader, type), type);
    EXPECT_EQ(decoded.refusal, ChannelRefusal::kUnknownType);
    EXPECT_EQ(decoded.request.id, 7U);  // so that the refusal finds its request
  }
  EXPECT_EQ(damaged(kBody + offsetof(RequestBody, collect_many), std::uint8_t{2}).refusal,
            ChannelRefusal::kMalformed);
  EXPECT_EQ(damaged(kBody + sizeof(RequestBody) + 8 + 1, std::uint8_t{0xff}).refusal,
            ChannelRefusal::kMalformed);  // no UTF-8
  Bytes packet = encode(a_request());
  packet.back() = std::byte{1};  // the padding
  EXPECT_EQ(refusal_of(packet), ChannelRefusal::kMalformed);
}

TEST(ChannelRows, ComeOutAsTheyWentIn) {
  RowsEncoder encoder;
  const std::array<std::uint64_t, 2> values{11, ~std::uint64_t{0}};
  encoder.add(1, "small", values);
  encoder.add(2, "", {});
  RowsWalker walker(encoder.bytes(), encoder.rows());
  auto row = walker.next();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->id, 1U);
  EXPECT_EQ(row->name, "small");
  EXPECT_EQ(std::vector<std::uint64_t>(row->values.begin(), row->values.end()),
            (std::vector<std::uint64_t>{11, ~std::uint64_t{0}}));
  row = walker.next();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->name, "");
  EXPECT_TRUE(row->values.empty());
  EXPECT_FALSE(walker.next());
  EXPECT_TRUE(walker.is_sound());
}

TEST(ChannelRows, AreSoundOnlyInTheirOwnLengthAndNumber) {
  RowsEncoder encoder;
  const std::array<std::uint64_t, 1> value{1};
  encoder.add(1, "a", value);
  encoder.add(2, "b", value);
  const auto is_sound = [](std::span<const std::byte> bytes, std::uint32_t rows) {
    RowsWalker walker(bytes, rows);
    while (walker.next()) {
    }
    return walker.is_sound();
  };
  EXPECT_TRUE(is_sound(encoder.bytes(), 2));
  EXPECT_FALSE(is_sound(encoder.bytes(), 1));
  EXPECT_FALSE(is_sound(encoder.bytes(), 3));
  EXPECT_FALSE(is_sound(encoder.bytes(), 0xffffffff));
  for (std::size_t bytes = 0; bytes < encoder.bytes().size(); ++bytes) {
    EXPECT_FALSE(is_sound(encoder.bytes().first(bytes), 2)) << bytes;
  }
}

TEST(ChannelRows, MayNotHaveAReservedId) {
  RowsEncoder encoder;
  encoder.add(kInstanceIdMax + 1, "total", {});
  RowsWalker walker(encoder.bytes(), encoder.rows());
  EXPECT_FALSE(walker.next());
  EXPECT_FALSE(walker.is_sound());
}

}  // namespace
}  // namespace meterbank
