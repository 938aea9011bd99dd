// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/peer_connection.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <vector>

#include "../support/descriptors.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank {
namespace {

using test::open_descriptors;
using Bytes = std::vector<std::byte>;
using Got = PacketSocket::Got;

// A server's connection, and the peer at its other end.
class PeerConnectionTest : public testing::Test {
 protected:
  PeerConnection connect(UnsentLimits limits) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_ = PacketSocket(UniqueFd(ends[1]));
    return {PacketSocket(UniqueFd(ends[0])), KnownFd(), limits};
  }
  // Until the kernel takes no more.
  static void fill(PeerConnection& connection) {
    while (!connection.has_unsent()) {
      ASSERT_TRUE(connection.send(Bytes(kPacketBytesMax, std::byte{1})));
    }
  }
  // The first bytes of the packets that the peer finds.
  std::vector<int> read_all() {
    std::vector<int> firsts;
    PacketBuffer packet;
    UniqueFd attached;
    while (peer_.receive(packet, attached) == Got::kPacket) {
      firsts.push_back(std::to_integer<int>(packet.bytes()[0]));
      if (attached) attached_.push_back(std::move(attached));
    }
    return firsts;
  }

  PacketSocket peer_;
  std::vector<UniqueFd> attached_;
};

constexpr UnsentLimits kRoomy{16, 16 * kPacketBytesMax};

TEST_F(PeerConnectionTest, KeepsWhatThePeerDoesNotReadAndSendsItInOrder) {
  PeerConnection connection = connect(kRoomy);
  fill(connection);
  for (int i = 2; i < 5; ++i) EXPECT_TRUE(connection.send(Bytes(8, static_cast<std::byte>(i))));
  EXPECT_EQ(connection.unsent().size(), 4U);
  std::vector<int> found = read_all();
  EXPECT_TRUE(connection.flush());
  EXPECT_FALSE(connection.has_unsent());
  for (const int first : read_all()) found.push_back(first);
  const std::vector<int> last(found.end() - 4, found.end());
  EXPECT_EQ(last, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(PeerConnectionTest, SaysWhenAPeerLeavesTooManyPacketsUnread) {
  PeerConnection connection = connect({.packets_max = 3, .bytes_max = 16 * kPacketBytesMax});
  fill(connection);
  EXPECT_TRUE(connection.send(Bytes(8)));
  EXPECT_TRUE(connection.send(Bytes(8)));
  EXPECT_FALSE(connection.send(Bytes(8)));
  EXPECT_EQ(connection.unsent().size(), 3U);
}

TEST_F(PeerConnectionTest, SaysWhenAPeerLeavesTooManyBytesUnread) {
  PeerConnection connection = connect({.packets_max = 100, .bytes_max = kPacketBytesMax + 16});
  fill(connection);
  EXPECT_TRUE(connection.send(Bytes(8)));
  EXPECT_FALSE(connection.send(Bytes(9)));
  EXPECT_TRUE(connection.send(Bytes(8)));
  EXPECT_FALSE(connection.send(Bytes(1)));
}

TEST_F(PeerConnectionTest, SaysWhenThePeerHasGone) {
  PeerConnection connection = connect(kRoomy);
  fill(connection);
  peer_ = PacketSocket();
  EXPECT_FALSE(connection.flush());
  PeerConnection other = connect(kRoomy);
  peer_ = PacketSocket();
  EXPECT_FALSE(other.send(Bytes(8)));
}

TEST_F(PeerConnectionTest, KeepsADescriptorThatItsCallerCloses) {
  PeerConnection connection = connect(kRoomy);
  fill(connection);
  {
    const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(connection.send(Bytes(8, std::byte{2}), null.get()));
  }
  read_all();
  EXPECT_TRUE(connection.flush());
  EXPECT_EQ(read_all().back(), 2);
  ASSERT_EQ(attached_.size(), 1U);
  struct stat null {
  }, found{};
  ASSERT_EQ(::stat("/dev/null", &null), 0);
  ASSERT_EQ(::fstat(attached_[0].get(), &found), 0);
  EXPECT_EQ(found.st_rdev, null.st_rdev);
}

TEST_F(PeerConnectionTest, ClosesADescriptorThatWasHandedOverWhenItIsSentOrForgotten) {
  PeerConnection connection = connect(kRoomy);
  const std::ptrdiff_t before = open_descriptors();
  const auto null = [] {
    std::vector<KnownFd> one;
    one.emplace_back(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    return one;
  };
  EXPECT_TRUE(connection.send(Bytes(8), null()));
  EXPECT_EQ(open_descriptors(), before);
  fill(connection);
  EXPECT_TRUE(connection.send(Bytes(8), null()));
  EXPECT_TRUE(connection.send(Bytes(8), null()));
  EXPECT_EQ(open_descriptors(), before + 2);
  connection.hang_up();
  EXPECT_FALSE(connection.has_unsent());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PeerConnectionTest, KeepsAndPassesSeveralDescriptorsOfOnePacket) {
  PeerConnection connection = connect(kRoomy);
  fill(connection);
  const std::ptrdiff_t before = open_descriptors();
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> all(kPacketDescriptorsMax, null.get());
  EXPECT_TRUE(connection.send(Bytes(8, std::byte{2}), all));
  EXPECT_EQ(open_descriptors(), before + 1 + std::ptrdiff_t{kPacketDescriptorsMax});
  read_all();
  EXPECT_TRUE(connection.flush());
  EXPECT_EQ(open_descriptors(), before + 1);
  PacketBuffer packet;
  std::array<UniqueFd, kPacketDescriptorsMax> attached;
  std::size_t count = 0;
  Got got = Got::kPacket;
  do {
    got = peer_.receive(packet, attached, count);
  } while (got == Got::kPacket && count == 0);
  EXPECT_EQ(got, Got::kPacket);
  EXPECT_EQ(count, kPacketDescriptorsMax);
  EXPECT_TRUE(attached.back());
}

TEST_F(PeerConnectionTest, EndsForThePeerWhenItHangsUpButNotWhenItIsAbandoned) {
  PeerConnection connection = connect(kRoomy);
  const PacketSocket of_parent(UniqueFd(::fcntl(connection.descriptor(), F_DUPFD_CLOEXEC, 3)));
  PacketBuffer packet;
  UniqueFd attached;
  connection.abandon();
  EXPECT_EQ(peer_.receive(packet, attached), Got::kNothing);
  PeerConnection other = connect(kRoomy);
  const PacketSocket also(UniqueFd(::fcntl(other.descriptor(), F_DUPFD_CLOEXEC, 3)));
  other.hang_up();
  EXPECT_EQ(peer_.receive(packet, attached), Got::kEnd);
}

// A crowd must not keep a server from those that are connected already.
TEST(AcceptWaiting, TakesAllThatWaitButNotACrowdAtOnce) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  PacketListener listener = *PacketListener::listen(path, 128);
  std::vector<PacketSocket> peers;
  for (int i = 0; i < 70; ++i) peers.push_back(*PacketSocket::connect(path));
  std::vector<PacketSocket> accepted;
  const auto admit = [&accepted](PacketSocket peer) { accepted.push_back(std::move(peer)); };
  const auto turned_away = [] { ADD_FAILURE() << "descriptors are left"; };
  accept_waiting(listener, admit, turned_away);
  EXPECT_EQ(accepted.size(), 64U);
  accept_waiting(listener, admit, turned_away);
  EXPECT_EQ(accepted.size(), 70U);
  accept_waiting(listener, admit, turned_away);
  EXPECT_EQ(accepted.size(), 70U);
}

}  // namespace
}  // namespace meterbank
