// SPDX-License-Identifier: Apache-2.0
//
// What the arbiter survives: clients that keep to no rule.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "descriptors.hpp"
#include "pmud_process.hpp"

namespace meterbank::test {
namespace {

using pmu::Rejection;
using Bytes = std::vector<std::byte>;

class PmudHostile : public testing::Test {
 protected:
  void expect_service() {
    RawClient client = RawClient::greeted(pmud_.socket());
    const pmu::Token token = token_of(client.ask(events(1, 0b10)));
    EXPECT_NE(token, 0U);
    const auto freed = client.ask(pmu::Free{token});
    EXPECT_TRUE(freed && freed->as<pmu::Done>() != nullptr);
  }
  void send_raw(RawClient& client, Bytes packet, const std::vector<int>& descriptors = {}) {
    static_cast<void>(test::send_raw(client.socket().descriptor(), std::move(packet), descriptors));
  }
  static std::optional<Rejection> rejection_of(const std::optional<Got>& got) {
    const auto* const rejected = got ? got->as<pmu::Rejected>() : nullptr;
    return rejected == nullptr ? std::nullopt : std::optional(rejected->reason);
  }

  PmudProcess pmud_;
};

template <typename Field>
Bytes with(Bytes packet, std::size_t offset, Field value) {
  std::memcpy(packet.data() + offset, &value, sizeof value);
  return packet;
}

TEST_F(PmudHostile, GetsAReasonAndIsClosedAfterTheThirdFault) {
  const Bytes good = pmu::encode(7, pmu::ClientMessage(pmu::Free{1}));
  const std::vector<std::pair<Bytes, Rejection>> cases{
      {with(good, offsetof(pmu::LeaseHeader, type), std::uint16_t{0x7f}), Rejection::kUnknownType},
      {with(good, offsetof(pmu::LeaseHeader, version), std::uint16_t{2}), Rejection::kVersion},
      {with(good, offsetof(pmu::LeaseHeader, reserved), 1U), Rejection::kMalformed}};
  for (const auto& [packet, reason] : cases) {
    RawClient client = RawClient::greeted(pmud_.socket());
    for (std::uint32_t fault = 1; fault <= 3; ++fault) {
      send_raw(client, packet);
      const auto got = client.next();
      EXPECT_EQ(rejection_of(got), reason);
      EXPECT_EQ(got ? got->id : 0, 7U);
    }
    EXPECT_TRUE(client.waits_until_hung_up());
  }
  expect_service();
}

TEST_F(PmudHostile, IsHungUpOnAtOnceWherePacketsCannotBeToldApart) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Bytes good = pmu::encode(7, pmu::ClientMessage(pmu::Free{1}));
  const std::vector<std::pair<Bytes, std::vector<int>>> cases{
      {Bytes(24, std::byte{7}), {}},               // not of this protocol
      {Bytes(1), {}},                              // cut short
      {Bytes(kPacketBytesMax + 1), {}},            // too long
      {good, {null.get(), null.get()}},            // more descriptors than any packet has
      {good, std::vector<int>(253, null.get())}};  // as many as the kernel passes
  const std::size_t before = pmud_.descriptors();
  for (const auto& [packet, descriptors] : cases) {
    RawClient client = RawClient::greeted(pmud_.socket());
    send_raw(client, packet, descriptors);
    EXPECT_TRUE(client.waits_until_hung_up());
  }
  EXPECT_TRUE(comes_true([&] { return pmud_.descriptors() <= before; }));
  expect_service();
}

TEST_F(PmudHostile, MustGreetFirstAndOnce) {
  RawClient client(pmud_.socket());
  EXPECT_EQ(rejection_of(client.ask(events(1, 1))), Rejection::kNoHello);
  EXPECT_TRUE(client.greet());
  EXPECT_EQ(rejection_of(client.ask(pmu::Hello())), Rejection::kMalformed);
  EXPECT_NE(token_of(client.ask(events(1, 1))), 0U);
}

TEST_F(PmudHostile, AttachesOnlyWhatPassesTheGateAndOnlyWhereItBelongs) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  RawClient client(pmud_.socket());
  EXPECT_EQ(rejection_of(client.ask(pmu::Hello(), null.get())), Rejection::kMalformed);
  const OwnedExtent page = heartbeat_page();
  EXPECT_TRUE(client.greet(page.descriptor()));
  EXPECT_EQ(rejection_of(client.ask(pmu::Free{1}, null.get())), Rejection::kMalformed);
  // Third fault: an Offer without what is offered.
  EXPECT_EQ(rejection_of(client.ask(pmu::Offer{1, 1})), Rejection::kMalformed);
  EXPECT_TRUE(client.waits_until_hung_up());
  RawClient other = RawClient::greeted(pmud_.socket());
  const auto got = other.ask(pmu::Offer{1, 1}, null.get());
  ASSERT_NE(refusal_of(got), nullptr);
  expect_service();
}

TEST_F(PmudHostile, CannotLieAboutItsThreads) {
  RawClient client = RawClient::greeted(pmud_.socket());
  pmu::Allocate request = events(1, 0);
  request.head.flags = pmu::kAllocateHasItems;
  request.head.group_count = 0;
  request.groups.clear();
  for (const std::uint32_t task : {1U, static_cast<std::uint32_t>(pmud_.pid()), ~0U}) {
    request.head.task = task;
    const auto got = client.ask(request);
    ASSERT_NE(refusal_of(got), nullptr) << task;
    EXPECT_EQ(refusal_of(got)->answer, pmu::Answer::kInvalidParameter);
  }
  request.head.task = static_cast<std::uint32_t>(::gettid());
  EXPECT_NE(token_of(client.ask(request)), 0U);
}

TEST_F(PmudHostile, ASilentClientTakesNoPlaceOfOthers) {
  std::vector<RawClient> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(pmud_.socket());
  expect_service();
}

TEST_F(PmudHostile, ExcessConnectionsGetAReasonAndAreClosed) {
  std::vector<RawClient> kept;
  bool was_refused = false;
  for (int i = 0; i < 300 && !was_refused; ++i) {
    RawClient client(pmud_.socket());
    const auto got = client.ask(pmu::Hello());
    if (got && got->as<pmu::Welcome>() != nullptr) {
      kept.push_back(std::move(client));
    } else {
      was_refused = client.waits_until_hung_up();
    }
  }
  EXPECT_TRUE(was_refused);
  EXPECT_EQ(kept.size(), ::geteuid() == 0 ? 128U : 32U);
  kept.pop_back();
  EXPECT_TRUE(comes_true([&] { return RawClient(pmud_.socket()).greet(); }));
}

TEST_F(PmudHostile, AClientThatFetchesNoAnswersIsClosed) {
  RawClient client = RawClient::greeted(pmud_.socket());
  const Bytes packet = pmu::encode(9, pmu::ClientMessage(pmu::Free{1}));
  EXPECT_TRUE(comes_true([&] {
    auto sent = PacketSocket::Sent::kAll;
    while (sent == PacketSocket::Sent::kAll) sent = client.socket().send(packet);
    return sent == PacketSocket::Sent::kEnd;
  }));
  expect_service();
}

// Another user's packets come out of a share; root's do not.
TEST_F(PmudHostile, AnotherUserHasARateOfItsOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user can be tried by root only";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::chmod(pmud_.directory().c_str(), 0755);
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    RawClient client(pmud_.socket());
    if (!client.greet()) ::_exit(3);
    // Many at a time: a client that waits for each answer may be too slow for any limit.
    for (int turn = 0; turn < 1000; ++turn) {
      for (int i = 0; i < 100; ++i) client.send(pmu::Free{1});
      for (int i = 0; i < 100; ++i) {
        if (rejection_of(client.next()) == Rejection::kRate) ::_exit(0);
      }
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_service();
}

TEST_F(PmudHostile, DoesNotFloodTheLog) {
  for (int i = 0; i < 300; ++i) {
    RawClient client(pmud_.socket());
    send_raw(client, Bytes(kPacketBytesMax + 1));
    EXPECT_TRUE(client.waits_until_hung_up());
  }
  expect_service();
  EXPECT_LT(pmud_.complaints().size(), 8192U);
}

// With no descriptor left the arbiter hangs up instead of turning in circles, and serves again when
// it has some.
TEST_F(PmudHostile, AClientThatUsesUpAllDescriptorsIsClosed) {
  const std::size_t used = pmud_.descriptors();
  const rlimit few{used + 6, used + 6};
  ASSERT_EQ(::prlimit(pmud_.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  std::vector<RawClient> many;
  bool was_hung_up = false;
  for (int i = 0; i < 20; ++i) {
    RawClient client(pmud_.socket());
    if (!client.greet()) was_hung_up = was_hung_up || client.is_hung_up();
    many.push_back(std::move(client));
  }
  EXPECT_TRUE(was_hung_up);
  many.clear();
  EXPECT_TRUE(comes_true([&] { return RawClient(pmud_.socket()).greet(); }));
}

}  // namespace
}  // namespace meterbank::test
