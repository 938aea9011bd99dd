// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/packet_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../support/descriptors.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank {
namespace {

using test::open_descriptors;
using Bytes = std::vector<std::byte>;

// Two ends, and the raw descriptor of the far one for what a PacketSocket would not send.
class PacketSocketTest : public testing::Test {
 protected:
  PacketSocketTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    near_ = PacketSocket(UniqueFd(ends[0]));
    far_ = PacketSocket(UniqueFd(ends[1]));
  }

  void send_raw(std::size_t bytes, const std::vector<int>& descriptors) const {
    ASSERT_TRUE(test::send_raw(far_.descriptor(), Bytes(bytes, std::byte{7}), descriptors));
  }
  PacketSocket::Got receive() { return near_.receive(packet_, attached_); }

  [[nodiscard]] Bytes received() const { return {packet_.bytes().begin(), packet_.bytes().end()}; }

  PacketSocket near_, far_;
  PacketBuffer packet_;
  UniqueFd attached_;
};

using Got = PacketSocket::Got;
using Came = ListeningSocket::Came;

TEST_F(PacketSocketTest, KeepsPacketsApart) {
  const Bytes one(24, std::byte{1}), two(kPacketBytesMax, std::byte{2});
  EXPECT_EQ(far_.send(one), PacketSocket::Sent::kAll);
  EXPECT_EQ(far_.send(two), PacketSocket::Sent::kAll);
  EXPECT_EQ(receive(), Got::kPacket);
  EXPECT_EQ(received(), one);
  EXPECT_EQ(receive(), Got::kPacket);
  EXPECT_EQ(received(), two);
  EXPECT_EQ(receive(), Got::kNothing);
}

TEST_F(PacketSocketTest, PassesOneDescriptor) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Bytes packet(8);
  EXPECT_EQ(far_.send(packet, null.get()), PacketSocket::Sent::kAll);
  EXPECT_EQ(receive(), Got::kPacket);
  ASSERT_TRUE(attached_);
  EXPECT_NE(attached_.get(), null.get());
  EXPECT_EQ(::fcntl(attached_.get(), F_GETFD), FD_CLOEXEC);
  struct stat here {
  }, there{};
  ::fstat(null.get(), &here);
  ::fstat(attached_.get(), &there);
  EXPECT_EQ(here.st_rdev, there.st_rdev);
}

TEST_F(PacketSocketTest, RefusesAPacketBeyondTheLimit) {
  send_raw(kPacketBytesMax + 1, {});
  EXPECT_EQ(receive(), Got::kMalformed);
}

TEST_F(PacketSocketTest, ClosesEveryDescriptorOfAPacketWithTooMany) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::ptrdiff_t before = open_descriptors();
  for (const std::size_t count : {std::size_t{2}, std::size_t{100}, std::size_t{253}}) {
    send_raw(8, std::vector<int>(count, null.get()));
    EXPECT_EQ(receive(), Got::kMalformed) << count;
    EXPECT_FALSE(attached_);
    EXPECT_EQ(open_descriptors(), before) << count;
  }
}

TEST_F(PacketSocketTest, PassesSixteenDescriptorsInOrderAndClosesThemOnExec) {
  std::vector<UniqueFd> sent;
  std::vector<int> numbers;
  for (std::size_t at = 0; at < kPacketDescriptorsMax; ++at) {
    sent.emplace_back(::memfd_create("passed", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(sent.back().get(), static_cast<off_t>(at)), 0);
    numbers.push_back(sent.back().get());
  }
  EXPECT_EQ(far_.send(Bytes(8), numbers), PacketSocket::Sent::kAll);
  std::array<UniqueFd, kPacketDescriptorsMax> received;
  std::size_t count = 0;
  ASSERT_EQ(near_.receive(packet_, received, count), Got::kPacket);
  ASSERT_EQ(count, kPacketDescriptorsMax);
  for (std::size_t at = 0; at < count; ++at) {
    struct stat file {};
    ASSERT_EQ(::fstat(received[at].get(), &file), 0);
    EXPECT_EQ(file.st_size, static_cast<off_t>(at));
    EXPECT_EQ(::fcntl(received[at].get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(PacketSocketTest, TakesNoMoreDescriptorsThanItsCallerHasRoomFor) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::ptrdiff_t before = open_descriptors();
  std::array<UniqueFd, 3> received;
  std::size_t count = 7;
  for (const std::size_t fits : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    send_raw(8, std::vector<int>(fits, null.get()));
    EXPECT_EQ(near_.receive(packet_, received, count), Got::kPacket);
    EXPECT_EQ(count, fits);
    EXPECT_EQ(open_descriptors(), before + static_cast<std::ptrdiff_t>(fits));
  }
  send_raw(8, std::vector<int>(4, null.get()));
  EXPECT_EQ(near_.receive(packet_, received, count), Got::kMalformed);
  EXPECT_EQ(errno, EPROTO);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(open_descriptors(), before);
}

// The kernel hands over those for which there is room, and marks the packet.
TEST_F(PacketSocketTest, RefusesAPacketForWhoseDescriptorsThisProcessHasNoRoom) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::ptrdiff_t before = open_descriptors();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  send_raw(8, std::vector<int>(4, null.get()));
  // One number below the limit is free at least, and fewer than four.
  const rlimit low{static_cast<rlim_t>(UniqueFd(::dup(null.get())).get()) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::array<UniqueFd, 4> received;
  std::size_t count = 7;
  EXPECT_EQ(near_.receive(packet_, received, count), Got::kMalformed);
  EXPECT_EQ(errno, EMFILE);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(count, 0U);
  for (const UniqueFd& descriptor : received) EXPECT_FALSE(descriptor);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PacketSocketTest, SendsNothingWithMoreDescriptorsThanAPacketMayHave) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(far_.send(Bytes(8), std::vector<int>(kPacketDescriptorsMax + 1, null.get())),
            PacketSocket::Sent::kEnd);
  EXPECT_EQ(receive(), Got::kNothing);
}

TEST_F(PacketSocketTest, LetsGoOfADescriptorWhenTheNextPacketComes) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::ptrdiff_t before = open_descriptors();
  send_raw(8, {null.get()});
  send_raw(8, {});
  EXPECT_EQ(receive(), Got::kPacket);
  EXPECT_EQ(open_descriptors(), before + 1);
  EXPECT_EQ(receive(), Got::kPacket);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PacketSocketTest, DoesNotWaitForAPeerThatDoesNotRead) {
  const Bytes packet(kPacketBytesMax);
  PacketSocket::Sent sent = PacketSocket::Sent::kAll;
  for (int turn = 0; turn < 1000 && sent == PacketSocket::Sent::kAll; ++turn) {
    sent = far_.send(packet);
  }
  EXPECT_EQ(sent, PacketSocket::Sent::kFull);
}

TEST_F(PacketSocketTest, TellsTheEndFromSilence) {
  EXPECT_EQ(receive(), Got::kNothing);
  far_ = PacketSocket();
  EXPECT_EQ(receive(), Got::kEnd);
  EXPECT_EQ(near_.send(Bytes(8)), PacketSocket::Sent::kEnd);
}

TEST(PacketListener, MeetsWhoConnectsAndKnowsWhoItIs) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  PacketListener listener = *PacketListener::listen(path, 8);
  PacketSocket far;
  EXPECT_EQ(listener.accept(far), Came::kNone);
  PacketSocket near = *PacketSocket::connect(path);
  EXPECT_EQ(listener.accept(far), Came::kPeer);
  ASSERT_TRUE(far);
  EXPECT_EQ(far.peer().pid, ::getpid());
  EXPECT_EQ(far.peer().uid, ::getuid());
  EXPECT_EQ(near.peer().pid, ::getpid());
}

// A connection that cannot be accepted would else stay in the queue and wake its server repeatedly.
TEST(PacketListener, ClosesNewConnectionsWhenNoDescriptorIsLeftAndServesAgainLater) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  PacketListener listener = *PacketListener::listen(path, 8);
  PacketSocket turned_away = *PacketSocket::connect(path);
  PacketSocket served = *PacketSocket::connect(path);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  // Up to the next free number: whatever has a higher one stays open.
  const rlimit none_left{static_cast<rlim_t>(UniqueFd(::dup(null.get())).get()), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);

  PacketSocket far;
  EXPECT_EQ(listener.accept(far), Came::kTurnedAway);
  EXPECT_FALSE(far);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);

  EXPECT_EQ(listener.accept(far), Came::kPeer);
  EXPECT_TRUE(far);
  PacketBuffer packet;
  UniqueFd attached;
  EXPECT_EQ(turned_away.receive(packet, attached), Got::kEnd);
}

TEST(PacketListener, IsAbandonedByAChildWithoutTakingItsNameAway) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  const std::ptrdiff_t before = open_descriptors();
  {
    PacketListener listener = *PacketListener::listen(path, 8);
    listener.abandon();
    EXPECT_EQ(open_descriptors(), before);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(PacketListener, TakesThePlaceOfOneThatIsGoneButNotOfOneThatListens) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  {
    const PacketListener listener = *PacketListener::listen(path, 8);
    EXPECT_EQ(PacketListener::listen(path, 8).error().code, ErrorCode::kExists);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(PacketSocket::connect(path).error().code, ErrorCode::kGone);
  const int left = ::mknod(path.c_str(), S_IFSOCK | 0600, 0);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(PacketSocket::connect(path).error().code, ErrorCode::kGone);
  EXPECT_TRUE(PacketListener::listen(path, 8));
}

TEST(PacketListener, GivesItsNameTheModeThatIsAskedFor) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  for (const mode_t mode : {mode_t{0666}, mode_t{0600}}) {
    const auto listener = PacketListener::listen(path, 8, mode);
    ASSERT_TRUE(listener);
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, mode);
  }
}

TEST(PacketListener, HangsUpOnPeersThatWaitWhenItCloses) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  PacketListener listener = *PacketListener::listen(path, 8);
  PacketSocket waiting = *PacketSocket::connect(path);
  listener.close();
  EXPECT_FALSE(std::filesystem::exists(path));
  PacketBuffer packet;
  UniqueFd attached;
  EXPECT_EQ(waiting.receive(packet, attached), Got::kEnd);
  EXPECT_EQ(PacketSocket::connect(path).error().code, ErrorCode::kGone);
}

// As for a program that replaces itself, or one that a service manager has started.
TEST(PacketListener, GoesOnAtASocketThatItIsGivenAndRemovesOnlyANameOfItsOwn) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/socket";
  PacketListener first = *PacketListener::listen(path, 8);
  const auto again = [&first] { return UniqueFd(::fcntl(first.descriptor(), F_DUPFD_CLOEXEC, 3)); };
  const PacketSocket near = *PacketSocket::connect(path);
  {
    PacketListener of_manager = *PacketListener::adopt(again(), "");
    PacketSocket far;
    EXPECT_EQ(of_manager.accept(far), Came::kPeer);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  { const PacketListener own = *PacketListener::adopt(again(), path); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PacketListener, RefusesAPathThatASocketCannotHave) {
  for (const std::string& path : {std::string(), std::string(200, 'x')}) {
    EXPECT_EQ(PacketListener::listen(path, 8).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(PacketSocket::connect(path).error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace meterbank
