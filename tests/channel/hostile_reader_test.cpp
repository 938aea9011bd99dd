// SPDX-License-Identifier: Apache-2.0
//
// What a provider with a callback survives: readers that keep to no rule.
#include <fcntl.h>

#include <cstring>
#include <random>
#include <vector>

#include "../support/depth.hpp"
#include "callback_server.hpp"
#include "channel_fixture.hpp"
#include "channel_limits.hpp"

namespace meterbank {
namespace {

using test::AskingReader;
using test::ChannelFixture;
using test::comes_true;
using test::Gate;

using Bytes = std::vector<std::byte>;

void send_raw(AskingReader& reader, Bytes packet, const std::vector<int>& descriptors = {}) {
  static_cast<void>(test::send_raw(reader.socket().descriptor(), std::move(packet), descriptors));
}

class HostileReader : public ChannelFixture {
 protected:
  HostileReader() {
    registration_ = register_with([](CallbackRequest& request) {
      request.add("a", 1, std::array<std::uint64_t, 3>{1, 2, 3});
      return 0U;
    });
    good_ = request(MessageType::kCollect);
    good_.pattern = "a*";
  }
  // A queue of callers may be full for a moment: as the library does, it comes again.
  void expect_service() {
    EXPECT_TRUE(comes_true([this] {
      AskingReader reader = this->reader();
      const auto answer = reader.ask_and_wait(good_);
      return answer && answer->rows.size() == 1;
    }));
  }
  [[nodiscard]] std::uint64_t refused() const {
    const auto catalog = Catalog::open({.directory = directory_.path()});
    // relaxed: a statistic
    return catalog->providers().at(0)->segment->header().channel_refused.load(
        std::memory_order_relaxed);
  }

  Registration registration_;
  ChannelRequest good_;
};

TEST_F(HostileReader, IsHungUpOnAfterTheThirdPacketThatBreaksARule) {
  AskingReader reader = this->reader();
  ChannelRequest request = good_;
  request.id = 9;
  Bytes unknown = encode(request);
  const auto type = static_cast<std::uint16_t>(MessageType::kDone);
  std::memcpy(unknown.data() + offsetof(MessageHeader, type), &type, sizeof type);
  for (int i = 0; i < 3; ++i) {
    send_raw(reader, unknown);
    const auto answer = reader.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->id, 9U);
    EXPECT_EQ(answer->refusal, ChannelRefusal::kUnknownType);
  }
  EXPECT_FALSE(reader.answer());
  EXPECT_EQ(refused(), 3U);
  expect_service();
}

TEST_F(HostileReader, IsHungUpOnAtOnceWherePacketsCannotBeToldApart) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Bytes packet = encode(good_);
  const std::vector<std::pair<Bytes, std::vector<int>>> cases{
      {Bytes(24, std::byte{7}), {}},                 // not of this protocol
      {Bytes(1), {}},                                // cut short
      {Bytes(kPacketBytesMax + 1), {}},              // too long
      {packet, {null.get()}},                        // a descriptor where none belongs
      {packet, std::vector<int>(253, null.get())}};  // as many as the kernel passes
  const std::ptrdiff_t before = test::open_descriptors();
  for (const auto& [bytes, descriptors] : cases) {
    AskingReader reader = this->reader();
    send_raw(reader, bytes, descriptors);
    auto answer = reader.answer();
    if (answer) answer = reader.answer();  // told why, then hung up on
    EXPECT_FALSE(answer);
  }
  EXPECT_TRUE(comes_true([before] { return test::open_descriptors() <= before; }));
  expect_service();
}

TEST_F(HostileReader, CannotUseAnIdTwice) {
  Gate gate;
  registration_.close();
  registration_ = register_with([&gate](CallbackRequest&) {
    gate.pass();
    return 0U;
  });
  AskingReader reader = this->reader();
  ChannelRequest request = this->request(MessageType::kCollect);
  request.id = 5;
  send_raw(reader, encode(request));
  gate.wait_for(1);
  send_raw(reader, encode(request));
  const auto refused = reader.answer();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->refusal, ChannelRefusal::kMalformed);
  gate.open();
  EXPECT_EQ(reader.answer()->type, MessageType::kRows);
  // Cancelling what is not under way is nothing.
  request.type = MessageType::kCancel;
  send_raw(reader, encode(request));
  request.type = MessageType::kCollect;
  send_raw(reader, encode(request));
  EXPECT_EQ(reader.answer()->type, MessageType::kRows);
}

TEST_F(HostileReader, CannotTakeThePlaceOfOthersWithTenThousandSilentConnections) {
  AskingReader old = this->reader();
  ASSERT_EQ(old.ask_and_wait(request(MessageType::kAddInterest))->type, MessageType::kDone);
  std::vector<AskingReader> silent;
  for (int i = 0; i < 10'000; ++i) {
    AskingReader reader = this->reader();
    // Kept while descriptors allow; then the oldest makes room.
    if (silent.size() < 400) {
      silent.push_back(std::move(reader));
    } else {
      silent[static_cast<std::size_t>(i) % silent.size()] = std::move(reader);
    }
  }
  expect_service();
  // The interested reader was not evicted.
  EXPECT_EQ(readers_in_segment(), 1U);
  EXPECT_EQ(old.ask_and_wait(good_)->type, MessageType::kRows);
  const detail::ChannelLimits limits;
  EXPECT_LE(static_cast<std::size_t>(test::open_descriptors()),
            silent.size() + 2 * limits.connections_max + 64);
}

TEST_F(HostileReader, IsHungUpOnIfItFetchesNoAnswers) {
  AskingReader reader = this->reader();
  bool hung_up = false;
  for (int i = 0; i < 100'000 && !hung_up; ++i) {
    good_.id = static_cast<std::uint64_t>(i) + 1;
    hung_up = reader.socket().send(encode(good_)) == PacketSocket::Sent::kEnd;
    if (i % 100 == 0) std::this_thread::yield();
  }
  EXPECT_TRUE(hung_up);
  expect_service();
}

TEST_F(HostileReader, GetsAShareAndARateOfItsOwnAsAnotherUser) {
  const std::string path = directory_.path() + "/apart.ask";
  detail::ChannelLimits limits;
  limits.trusts_own_user = false;
  limits.requests = {.per_second = 0.001, .at_once = 5};
  SharedWord refused{0}, readers{0};
  auto server = detail::CallbackServer::start(path, limits, refused);
  ASSERT_TRUE(server) << server.error().message();
  Gate gate;
  const auto counts =
      std::make_shared<detail::InterestCounts>(readers, std::vector<std::uint32_t>{1, 2, 5});
  const auto callable = std::make_shared<detail::Callable>(
      [&gate](CallbackRequest&) {
        gate.pass();
        return 0U;
      },
      CallbackOptions{}, counts, true);
  (*server)->add(64, 1, callable);
  ChannelRequest request = good_;
  request.registration = 64;
  request.generation = 1;
  AskingReader reader = AskingReader::connected(path);
  reader.ask(request);
  reader.ask(request);
  gate.wait_for(2);
  EXPECT_EQ(reader.ask_and_wait(request)->type, MessageType::kBusy);
  EXPECT_EQ(reader.ask_and_wait(request)->type, MessageType::kBusy);
  EXPECT_EQ(reader.ask_and_wait(request)->type, MessageType::kBusy);
  EXPECT_EQ(reader.ask_and_wait(request)->refusal, ChannelRefusal::kRate);
  gate.open();
  EXPECT_TRUE(reader.answer());
  EXPECT_TRUE(reader.answer());
  (*server)->stop();
  EXPECT_EQ(refused.load(std::memory_order_relaxed), 4U);
}

// Good requests, damaged ones and noise. Seldom is the damage such that the connection has to end
// at once, so that most of what is sent is looked at.
class Noise {
 public:
  Noise(AskingReader reader, ChannelRequest good)
      : reader_(std::move(reader)), good_(std::move(good)) {}

  Bytes next() {
    constexpr std::array kTypes{MessageType::kAddInterest, MessageType::kRemoveInterest,
                                MessageType::kEnumerate, MessageType::kCollect,
                                MessageType::kCancel};
    ChannelRequest request = good_;
    request.type = kTypes[random_() % kTypes.size()];
    request.id = 1 + random_() % 8;
    if (random_() % 4 == 0) request.counter_mask.assign(1 + random_() % 5, random_());
    Bytes packet = encode(request);
    const std::uint64_t kind = random_() % 4;
    if (kind == 0) return packet;
    if (kind == 1) packet.resize(sizeof(MessageHeader) + random_() % (2 * packet.size()));
    const std::size_t first = random_() % 256 == 0 ? 0 : offsetof(MessageHeader, version);
    const std::size_t changes = 1 + random_() % 4;
    for (std::size_t i = 0; i < changes; ++i) {
      packet[first + random_() % (packet.size() - first)] = static_cast<std::byte>(random_());
    }
    if (kind == 3) {
      const auto bytes = static_cast<std::uint32_t>(packet.size());
      std::memcpy(packet.data() + offsetof(MessageHeader, bytes), &bytes, sizeof bytes);
    }
    return packet;
  }
  // False: hung up on.
  bool send(const Bytes& packet) {
    auto sent = reader_.socket().send(packet);
    while (sent == PacketSocket::Sent::kFull) {
      fetch();
      std::this_thread::yield();
      sent = reader_.socket().send(packet);
    }
    if (random_() % 8 == 0) fetch();
    return sent == PacketSocket::Sent::kAll;
  }
  void become(AskingReader reader) { reader_ = std::move(reader); }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }

 private:
  void fetch() {
    PacketBuffer packet;
    UniqueFd attached;
    while (reader_.socket().receive(packet, attached) == PacketSocket::Got::kPacket) ++answers_;
  }

  AskingReader reader_;
  ChannelRequest good_;
  std::mt19937_64 random_{20260221};
  std::uint64_t answers_ = 0;
};

TEST_F(HostileReader, IsSurvivedThroughAMillionMessages) {
  const std::uint64_t messages = test::depth(50'000, 1'000'000);
  const std::string path = directory_.path() + "/apart.ask";
  detail::ChannelLimits limits;
  limits.faults_max = static_cast<std::uint32_t>(-1);
  SharedWord refused{0}, readers{0};
  auto server = detail::CallbackServer::start(path, limits, refused);
  ASSERT_TRUE(server) << server.error().message();
  const auto counts =
      std::make_shared<detail::InterestCounts>(readers, std::vector<std::uint32_t>{1, 2, 5});
  std::atomic<int> interested{0};
  const auto callable = std::make_shared<detail::Callable>(
      [&interested](CallbackRequest& request) {
        if (request.reason() == CallbackReason::kAddInterest) ++interested;
        if (request.reason() == CallbackReason::kRemoveInterest) --interested;
        request.add("a", 1, std::array<std::uint64_t, 3>{1, 2, 3});
        return 0U;
      },
      CallbackOptions{}, counts, true);
  (*server)->add(64, 1, callable);
  good_.registration = 64;
  good_.generation = 1;
  const std::ptrdiff_t before = test::open_descriptors();
  {
    Noise noise(AskingReader::connected(path), good_);
    for (std::uint64_t sent = 0; sent < messages;) {
      if (noise.send(noise.next())) {
        ++sent;
      } else {
        noise.become(AskingReader::connected(path));
      }
    }
    EXPECT_GT(noise.answers(), messages / 2);
  }
  EXPECT_TRUE(comes_true([&] {
    // relaxed, both: looked at again until they agree
    return readers.load(std::memory_order_relaxed) == 0 &&
           interested.load(std::memory_order_relaxed) == 0;
  }));
  EXPECT_TRUE(comes_true([before] { return test::open_descriptors() <= before; }));
  AskingReader reader = AskingReader::connected(path);
  EXPECT_EQ(reader.ask_and_wait(good_)->rows.size(), 1U);
  (*server)->stop();
  EXPECT_GT(refused.load(std::memory_order_relaxed), 1000U);
}

}  // namespace
}  // namespace meterbank
