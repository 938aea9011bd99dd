// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pmu/lease_wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "lease_messages.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::pmu {

// For messages that are one structure, and their parts.
template <typename T>
static bool same(const T& one, const T& other) {
  static_assert(std::has_unique_object_representations_v<T>);
  return std::memcmp(&one, &other, sizeof one) == 0;
}
template <typename T>
static bool same(const std::vector<T>& one, const std::vector<T>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0);
}
static bool same(const Allocate& one, const Allocate& other) {
  return same(one.head, other.head) && same(one.groups, other.groups) &&
         same(one.items, other.items);
}
static bool same(const Probe& one, const Probe& other) {
  return one.flags == other.flags && one.group_count == other.group_count && one.pmu == other.pmu &&
         same(one.item, other.item) && same(one.groups, other.groups);
}
static bool same(const AdminReserve& one, const AdminReserve& other) {
  return one.flags == other.flags && one.group_count == other.group_count &&
         one.count == other.count && one.pmu == other.pmu && same(one.groups, other.groups);
}
static bool same(const Granted& one, const Granted& other) {
  return same(one.head, other.head) && same(one.counters, other.counters);
}
static bool same(const Refused& one, const Refused& other) {
  return same(one.head, other.head) && same(one.blockers, other.blockers) &&
         one.sentence == other.sentence;
}
static bool same(const LeaseValues& one, const LeaseValues& other) {
  return same(one.head, other.head) && same(one.values, other.values);
}
static bool same(const OwnersAnswer& one, const OwnersAnswer& other) {
  return one.owner_count == other.owner_count && same(one.owners, other.owners);
}
template <typename... Bodies>
static bool same(const std::variant<Bodies...>& one, const std::variant<Bodies...>& other) {
  return one.index() == other.index() && std::visit(
                                             [&other](const auto& body) {
                                               using Body = std::decay_t<decltype(body)>;
                                               return same(body, std::get<Body>(other));
                                             },
                                             one);
}

namespace {

using Packet = std::vector<std::byte>;
constexpr std::size_t kBody = sizeof(LeaseHeader);

Decoded<ClientMessage> decode_as(const Packet& packet, const ClientMessage&) {
  return decode_client_message(packet);
}
Decoded<ArbiterMessage> decode_as(const Packet& packet, const ArbiterMessage&) {
  return decode_arbiter_message(packet);
}

// Calls `look(message, packet)` for every sample of either side.
template <typename Look>
void for_each_sample(Look look) {
  for (const ClientMessage& message : test::client_samples()) {
    look(message, encode(test::id_for(message), message));
  }
  for (const ArbiterMessage& message : test::arbiter_samples()) {
    look(message, encode(test::id_for(message), message));
  }
}

template <typename T>
Packet with(Packet packet, std::size_t at, T value) {
  EXPECT_LE(at + sizeof value, packet.size());
  std::memcpy(packet.data() + at, &value, sizeof value);
  return packet;
}
Packet resized(Packet packet, std::size_t bytes) {
  packet.resize(bytes);
  return with(std::move(packet), offsetof(LeaseHeader, bytes), static_cast<std::uint32_t>(bytes));
}

std::optional<Rejection> client_says(const Packet& packet) {
  return decode_client_message(packet).rejection;
}
std::optional<Rejection> arbiter_says(const Packet& packet) {
  return decode_arbiter_message(packet).rejection;
}

TEST(LeaseWire, SamplesAreOfEveryTypeInItsOrder) {
  std::set<LeaseType> types;
  const auto note = [&types](const auto&, const Packet& packet) {
    LeaseHeader header{};
    std::memcpy(&header, packet.data(), sizeof header);
    EXPECT_EQ(header.magic, kLeaseMagic);
    EXPECT_EQ(header.version, kLeaseVersion);
    EXPECT_EQ(header.bytes, packet.size());
    types.insert(header.type);
  };
  for_each_sample(note);
  std::set<LeaseType> known;
  for (unsigned type = 1; type <= 12; ++type) known.insert(static_cast<LeaseType>(type));
  for (unsigned type = 0x81; type <= 0x8a; ++type) known.insert(static_cast<LeaseType>(type));
  known.insert({LeaseType::kNotice, LeaseType::kNewLedger});
  EXPECT_EQ(types, known);
  EXPECT_EQ(static_cast<unsigned>(LeaseType::kAdminReserve), 12U);
  EXPECT_EQ(static_cast<unsigned>(LeaseType::kRejected), 0x8aU);
}

TEST(LeaseWire, EveryMessageComesBackAsItWas) {
  for_each_sample([](const auto& message, const Packet& packet) {
    const auto decoded = decode_as(packet, message);
    ASSERT_FALSE(decoded.rejection) << message.index();
    EXPECT_EQ(decoded.id, test::id_for(message));
    EXPECT_TRUE(same(decoded.message, message)) << message.index();
  });
}

TEST(LeaseWire, ComparisonOfThisFileCanFail) {
  const std::vector<ClientMessage> clients = test::client_samples();
  EXPECT_FALSE(same(clients[2], clients[3]));
  ClientMessage probe = clients[8];
  std::get<Probe>(probe).groups[1].mask = 1;
  EXPECT_FALSE(same(probe, clients[8]));
  ArbiterMessage refused = test::arbiter_samples()[3];
  std::get<Refused>(refused).sentence += "!";
  EXPECT_FALSE(same(refused, test::arbiter_samples()[3]));
}

TEST(LeaseWire, EveryTruncationIsRejected) {
  for_each_sample([](const auto& message, const Packet& packet) {
    for (std::size_t bytes = 0; bytes < packet.size(); ++bytes) {
      const Packet cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(bytes));
      EXPECT_EQ(decode_as(cut, message).rejection, Rejection::kMalformed) << bytes;
      if (bytes < kBody) continue;
      // The same, and the header agrees.
      EXPECT_EQ(decode_as(resized(packet, bytes), message).rejection, Rejection::kMalformed)
          << message.index() << " " << bytes;
    }
  });
}

TEST(LeaseWire, EveryExtensionIsRejected) {
  for_each_sample([](const auto& message, const Packet& packet) {
    for (const std::size_t more : {std::size_t{1}, std::size_t{8}, sizeof(CpuGroup), sizeof(Item),
                                   sizeof(Blocker), std::size_t{4096}}) {
      const auto decoded = decode_as(resized(packet, packet.size() + more), message);
      EXPECT_EQ(decoded.rejection, Rejection::kMalformed) << message.index() << " " << more;
      EXPECT_EQ(decoded.id, test::id_for(message));
    }
  });
}

// Bits are flipped one by one and bytes all at once. Whatever is still taken is a message that says
// the same when it is sent on.
TEST(LeaseWire, NoFlippedByteIsTakenForSomethingThatCannotBeSaid) {
  std::size_t taken = 0;
  for_each_sample([&taken](const auto& message, const Packet& packet) {
    for (std::size_t at = 0; at < packet.size(); ++at) {
      for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U}) {
        const Packet flipped = with(packet, at, packet[at] ^ static_cast<std::byte>(mask));
        const auto decoded = decode_as(flipped, message);
        if (decoded.rejection) continue;
        ++taken;
        ASSERT_EQ(encode(decoded.id, decoded.message), flipped) << message.index() << " " << at;
      }
    }
  });
  EXPECT_GT(taken, 10'000U);
}

// ---- The rules, one by one ----

TEST(LeaseWire, Rule1RequestsAndAnswersHaveAnIdAndNoticesHaveNone) {
  for_each_sample([](const auto& message, const Packet& packet) {
    LeaseHeader header{};
    std::memcpy(&header, packet.data(), sizeof header);
    const bool either = header.type == LeaseType::kCancel || header.type == LeaseType::kValues ||
                        header.type == LeaseType::kRejected;
    const std::uint64_t other = header.id == 0 ? 7 : 0;
    const auto rejection =
        decode_as(with(packet, offsetof(LeaseHeader, id), other), message).rejection;
    EXPECT_EQ(rejection.has_value(), !either) << static_cast<unsigned>(header.type);
  });
}

TEST(LeaseWire, Rule2PacketsAreAsLongAsTheirHeaderSays) {
  const Packet packet = encode(5, Free{.token = 1});
  constexpr std::size_t kBytes = offsetof(LeaseHeader, bytes);
  const auto bytes = static_cast<std::uint32_t>(packet.size());
  ASSERT_EQ(client_says(packet), std::nullopt);
  EXPECT_EQ(client_says(with(packet, kBytes, bytes - 1)), Rejection::kMalformed);
  EXPECT_EQ(client_says(with(packet, kBytes, bytes + 1)), Rejection::kMalformed);
  EXPECT_EQ(client_says(with(packet, kBytes, ~std::uint32_t{0})), Rejection::kMalformed);
}

TEST(LeaseWire, Rule2CountsMatchTheItemsAndTheirLimits) {
  constexpr std::size_t kGroupCount = kBody + offsetof(AllocateHead, group_count);
  constexpr std::size_t kItemCount = kBody + offsetof(AllocateHead, item_count);
  const Packet allocate = encode(5, test::client_samples()[1]);
  for (const std::uint32_t count : {0U, 1U, 3U, 65U, 0x10000000U, 0xffffffffU}) {
    EXPECT_EQ(client_says(with(allocate, kGroupCount, count)), Rejection::kMalformed) << count;
  }
  for (const std::uint32_t count : {0U, 2U, 129U, 0x02222223U, 0xffffffffU}) {
    EXPECT_EQ(client_says(with(allocate, kItemCount, count)), Rejection::kMalformed) << count;
  }
  const Packet refused = encode(5, test::arbiter_samples()[3]);
  constexpr std::size_t kBlockers = kBody + offsetof(RefusedHead, blocker_count);
  constexpr std::size_t kSentence = kBody + offsetof(RefusedHead, sentence_bytes);
  for (const std::uint32_t count : {0U, 1U, 3U, 17U, 0xffffffffU}) {
    EXPECT_EQ(arbiter_says(with(refused, kBlockers, count)), Rejection::kMalformed) << count;
    EXPECT_EQ(arbiter_says(with(refused, kSentence, count)), Rejection::kMalformed) << count;
  }
  Granted granted;
  granted.head.descriptor_count = 1;
  EXPECT_EQ(arbiter_says(encode(5, granted)), Rejection::kMalformed);
}

TEST(LeaseWire, Rule2MoreThanTheLimitsIsRejectedThoughItIsThere) {
  Allocate allocate;
  allocate.head.flags = kAllocateHasGroups;
  allocate.head.group_count = kGroupsMax;
  allocate.groups.assign(kGroupsMax, {.mask = 1});
  Packet packet = encode(5, allocate);
  EXPECT_EQ(client_says(packet), std::nullopt);
  packet = resized(packet, packet.size() + sizeof(CpuGroup));
  EXPECT_EQ(client_says(with(packet, kBody + offsetof(AllocateHead, group_count), kGroupsMax + 1)),
            Rejection::kMalformed);
  const Packet values = encode(5, LeaseValues{.head = {}, .values = std::vector<Value>(2100)});
  ASSERT_GT(values.size(), kPacketBytesMax);
  EXPECT_EQ(arbiter_says(values), Rejection::kMalformed);
}

TEST(LeaseWire, Rule4NamesHaveAnEnd) {
  std::size_t names = 0;
  for_each_sample([&names](const auto& message, const Packet& packet) {
    // Every name of a sample begins with one of these, and is filled up to its last byte.
    for (const std::string_view text :
         {"llc-misses", "cpu_core", "nightly run", "cpu_atom", "uncore", "perf", "a label"}) {
      const std::string_view all(reinterpret_cast<const char*>(packet.data()), packet.size());
      for (std::size_t at = all.find(text); at != std::string_view::npos;
           at = all.find(text, at + 1)) {
        Packet endless = packet;
        std::fill_n(endless.begin() + static_cast<std::ptrdiff_t>(at), kWireNameBytes,
                    std::byte{'x'});
        EXPECT_EQ(decode_as(endless, message).rejection, Rejection::kMalformed) << text;
        ++names;
      }
    }
  });
  EXPECT_EQ(names, 10U);
}

TEST(LeaseWire, Rule4ReservedFieldsAreZero) {
  EXPECT_EQ(client_says(encode(5, Hello{.reserved = 1})), Rejection::kMalformed);
  EXPECT_EQ(client_says(encode(5, Owners{.cpu = 0, .reserved = 1, .pmu = {}})),
            Rejection::kMalformed);
  AdminReserve reserve;
  reserve.reserved = 1;
  EXPECT_EQ(client_says(encode(5, reserve)), Rejection::kMalformed);
  EXPECT_EQ(client_says(with(encode(5, Free{}), offsetof(LeaseHeader, reserved), 1U)),
            Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, Counter{.token = 1, .position = 0, .reserved = 1})),
            Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, Queued{.ahead = 0, .reserved = 1, .estimate_ns = 0})),
            Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, Done{.reserved = 1})), Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, Rejected{.reason = Rejection::kRate, .reserved = 1})),
            Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(0, NewLedger{.reserved = 1})), Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, OwnersAnswer{.owner_count = 0, .reserved = 1, .owners = {}})),
            Rejection::kMalformed);
  CounterOwner owner;
  owner.reserved = 1;
  EXPECT_EQ(
      arbiter_says(encode(5, OwnersAnswer{.owner_count = 1, .reserved = 0, .owners = {owner}})),
      Rejection::kMalformed);
}

TEST(LeaseWire, Rule4FlagsAreKnown) {
  Probe probe;
  probe.flags = 2;
  EXPECT_EQ(client_says(encode(5, probe)), Rejection::kMalformed);
  AdminReserve reserve;
  reserve.flags = 2;
  EXPECT_EQ(client_says(encode(5, reserve)), Rejection::kMalformed);
  EXPECT_EQ(arbiter_says(encode(5, Welcome{.flags = 8, .epoch = 1, .client = 1})),
            Rejection::kMalformed);
}

TEST(LeaseWire, Rule5FaultsAreToldWithTheIdWhereThereIsOne) {
  const Packet packet = encode(5, Free{.token = 1});
  const auto decoded =
      decode_client_message(with(packet, offsetof(LeaseHeader, version), std::uint16_t{2}));
  EXPECT_EQ(decoded.rejection, Rejection::kVersion);
  EXPECT_EQ(decoded.id, 5U);
  for (const int type : {0, 13, 0x80, 0x81, 0x8b, 0xc1, 0xc3, 0xffff}) {
    const auto unknown = decode_client_message(
        with(packet, offsetof(LeaseHeader, type), static_cast<std::uint16_t>(type)));
    EXPECT_EQ(unknown.rejection, Rejection::kUnknownType) << type;
    EXPECT_EQ(unknown.id, 5U);
  }
  const auto strange = decode_client_message(with(packet, 0, 1U));
  EXPECT_EQ(strange.rejection, Rejection::kMalformed);
  EXPECT_EQ(strange.id, 0U);
  EXPECT_EQ(arbiter_says(packet), Rejection::kUnknownType);
  EXPECT_EQ(client_says(encode(5, Done{})), Rejection::kUnknownType);
}

TEST(LeaseWire, InvalidRequestsThatParseAreLeftToTheArbiter) {
  Allocate allocate;
  allocate.head.flags = ~0U;
  allocate.head.group_count = 1;
  allocate.head.item_count = 1;
  allocate.head.priority = 77;
  allocate.head.duty_permille = 9999;
  allocate.groups = {{.mask = 0, .group = 0xffff, .reserved = {1, 2, 3}}};
  allocate.items = {{.kind = 0x999, .flags = 0xffff}};
  const auto decoded = decode_client_message(encode(5, allocate));
  ASSERT_FALSE(decoded.rejection);
  EXPECT_TRUE(same(decoded.message, ClientMessage(allocate)));
  // Counts without their flags go through as well, and nothing comes with them.
  allocate.head.flags = 0;
  const auto bare = decode_client_message(encode(5, allocate));
  ASSERT_FALSE(bare.rejection);
  EXPECT_EQ(std::get<Allocate>(bare.message).head.item_count, 1U);
  EXPECT_TRUE(std::get<Allocate>(bare.message).items.empty());
}

TEST(LeaseWire, EnumerationsOfTheArbiterAreWithinTheirRanges) {
  const auto refused_at = [](const ArbiterMessage& message, std::size_t at, std::uint32_t last) {
    const Packet packet = encode(test::id_for(message), message);
    EXPECT_EQ(arbiter_says(with(packet, kBody + at, last)), std::nullopt) << message.index();
    EXPECT_EQ(arbiter_says(with(packet, kBody + at, last + 1)), Rejection::kMalformed)
        << message.index() << " " << at;
  };
  const std::vector<ArbiterMessage> samples = test::arbiter_samples();
  refused_at(samples[1], offsetof(GrantedHead, grade), 2);
  refused_at(samples[1], offsetof(GrantedHead, quality), 5);
  refused_at(samples[3], offsetof(RefusedHead, answer), 3);
  refused_at(samples[3], offsetof(RefusedHead, reason), 17);
  refused_at(samples[3], sizeof(RefusedHead) + offsetof(Blocker, priority), 4);
  refused_at(samples[3], sizeof(RefusedHead) + offsetof(Blocker, is_waiting), 1);
  refused_at(samples[6], offsetof(ValuesHead, quality), 5);
  refused_at(samples[7], offsetof(Room, is_probed), 1);
  refused_at(samples[8], 8 + offsetof(CounterOwner, kind), 6);
  refused_at(samples[9], offsetof(Rejected, reason), 7);
  refused_at(samples[10], offsetof(Notice, kind), 3);
  refused_at(samples[10], offsetof(Notice, cause), 10);
}

TEST(LeaseWire, ItemsBeyondTheLimitsAreLeftOutAndCounted) {
  Refused refused;
  refused.blockers.assign(kBlockersMax + 3, Blocker{});
  refused.head.blockers_left_out = 2;
  refused.sentence = std::string(kSentenceBytesMax - 1, 'x') + "\u00e4";
  const auto decoded = decode_arbiter_message(encode(5, refused));
  ASSERT_FALSE(decoded.rejection);
  const auto& cut = std::get<Refused>(decoded.message);
  EXPECT_EQ(cut.blockers.size(), kBlockersMax);
  EXPECT_EQ(cut.head.blockers_left_out, 5U);
  EXPECT_EQ(cut.sentence, std::string(kSentenceBytesMax - 1, 'x'));
  refused.sentence = "\xff name";
  const auto repaired = decode_arbiter_message(encode(5, refused));
  ASSERT_FALSE(repaired.rejection);
  EXPECT_EQ(std::get<Refused>(repaired.message).sentence, "\ufffd name");
}

TEST(LeaseWire, SentencesAreUtf8) {
  Refused refused;
  refused.sentence = "good";
  Packet packet = encode(5, refused);
  packet.back() = std::byte{0xc3};
  EXPECT_EQ(arbiter_says(packet), Rejection::kMalformed);
}

// ---- Parts ----

TEST(WireName, IsCutWhereItHasNoRoom) {
  EXPECT_EQ(text_of(wire_name("cpu")), "cpu");
  EXPECT_EQ(text_of(wire_name("")), "");
  const std::string longest(kWireNameBytes - 1, 'x');
  EXPECT_EQ(text_of(wire_name(longest)), longest);
  EXPECT_EQ(text_of(wire_name(longest + "yz")), longest);
  EXPECT_TRUE(is_terminated(wire_name(longest + "yz")));
  WireName endless;
  endless.fill('x');
  EXPECT_FALSE(is_terminated(endless));
}

TEST(Token, IsMadeOfItsParts) {
  const Token token = make_token(0xabcd, 0x1234, 0xdeadbeef);
  EXPECT_EQ(token, 0xabcd1234deadbeefU);
  EXPECT_EQ(epoch_of(token), 0xabcd);
  EXPECT_EQ(lease_of(token), 0x1234);
  EXPECT_EQ(generation_of(token), 0xdeadbeefU);
}

// Each value has a word of its own, of small letters and hyphens, and there are no more of them.
template <typename Enum>
void expect_words(Enum first, Enum last) {
  std::set<std::string_view> words;
  for (auto value = static_cast<std::uint64_t>(first); value <= static_cast<std::uint64_t>(last);
       ++value) {
    const std::string_view word = name_of(static_cast<Enum>(value));
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
        << word;
    EXPECT_FALSE(word.empty() || word == "unknown") << value;
  }
  EXPECT_EQ(name_of(static_cast<Enum>(static_cast<std::uint64_t>(last) + 1)), "unknown");
}

TEST(Words, AreThereForEveryValue) {
  expect_words(Answer::kGranted, Answer::kInsufficientResources);
  expect_words(Reason::kNone, Reason::kUnverified);
  expect_words(Priority::kBatch, Priority::kKernel);
  expect_words(Grade::kLedger, Grade::kGuarded);
  expect_words(Quality::kExact, Quality::kUnverified);
  expect_words(OwnerKind::kFree, OwnerKind::kLimbo);
  expect_words(Rejection::kMalformed, Rejection::kNotAllowed);
  expect_words(NoticeKind::kRevoking, NoticeKind::kResumed);
  expect_words(Cause::kNone, Cause::kPolicyChanged);
  expect_words(CounterState::kFree, CounterState::kRevoking);
  expect_words(LeaseState::kNone, LeaseState::kLimbo);
  EXPECT_EQ(name_of(Answer::kInsufficientResources), "insufficient-resources");
  EXPECT_EQ(name_of(Reason::kTooHard), "too-hard");
  EXPECT_EQ(name_of(Cause::kTakenByOutsider), "taken-by-outsider");
}

}  // namespace
}  // namespace meterbank::pmu
