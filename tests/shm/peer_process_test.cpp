// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/peer_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>

#include "../support/comes_true.hpp"
#include "../support/forbidden_calls.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {
namespace {

using Found = PeerProcess::Found;
using test::ForbiddenCall;

constexpr std::uint32_t kPeerProcess = 77;  // SO_PEERPIDFD
constexpr int kNoFilters = 100;

ForbiddenCall peer_descriptor_fails(int error) { return {SYS_getsockopt, error, kPeerProcess}; }
ForbiddenCall process_descriptor_fails(int error) { return {SYS_pidfd_open, error}; }
// Before Linux 6.5.
const ForbiddenCall kOlderKernel = peer_descriptor_fails(ENOPROTOOPT);

std::uint64_t now() { return clock_ns(CLOCK_BOOTTIME); }

// A process that has connected to the test, and what the test has of it.
class Peer {
 public:
  Peer() : listener_(*PacketListener::listen(directory_.path() + "/s", 4)) {
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto socket = PacketSocket::connect(directory_.path() + "/s");
      for (;;) ::pause();
    }
    static_cast<void>(test::comes_true(
        [this] { return listener_.accept(socket_) == ListeningSocket::Came::kPeer; }));
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] int socket() const { return socket_.descriptor(); }

 private:
  const test::TemporaryDirectory directory_;
  PacketListener listener_;
  PacketSocket socket_;
  pid_t pid_ = 0;
};

// What peer_process() finds where these calls fail; in a process of its own.
Found found_where(const std::vector<ForbiddenCall>& calls, int socket, std::uint64_t connected_ns) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!test::forbid(calls)) ::_exit(kNoFilters);
    const PeerProcess peer = peer_process(socket, connected_ns);
    const bool agrees = static_cast<bool>(peer.descriptor) == (peer.found == Found::kProcess);
    ::_exit(agrees ? static_cast<int>(peer.found) : kNoFilters - 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_LT(WEXITSTATUS(status), kNoFilters - 1);
  return static_cast<Found>(WEXITSTATUS(status));
}

TEST(PeerProcess, IsHeldUntilItEnds) {
  Peer peer;
  const PeerProcess held = peer_process(peer.socket(), now());
  ASSERT_EQ(held.found, Found::kProcess);
  EXPECT_FALSE(has_ended(held.descriptor.get()));
  peer.end();
  EXPECT_TRUE(has_ended(held.descriptor.get()));
}

TEST(PeerProcess, IsHeldOnOlderKernels) {
  const Peer peer;
  EXPECT_EQ(found_where({kOlderKernel}, peer.socket(), now()), Found::kProcess);
}

TEST(PeerProcess, IsNotHeldOnceItHasEnded) {
  Peer peer;
  peer.end();
  EXPECT_EQ(found_where({kOlderKernel}, peer.socket(), now()), Found::kEnded);
  EXPECT_EQ(found_where({peer_descriptor_fails(EINVAL)}, peer.socket(), now()), Found::kEnded);
  EXPECT_EQ(found_where({peer_descriptor_fails(ESRCH)}, peer.socket(), now()), Found::kEnded);
}

// The id that the kernel noted belongs to a process that started later.
TEST(PeerProcess, IsAnotherIfItStartedAfterTheConnection) {
  const std::uint64_t before = now();
  const auto tick = static_cast<std::uint64_t>(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  ASSERT_TRUE(test::comes_true([&] { return now() > before + 2 * tick; }));
  const Peer peer;
  EXPECT_EQ(found_where({kOlderKernel}, peer.socket(), before), Found::kEnded);
  EXPECT_EQ(found_where({}, peer.socket(), before), found_where({}, peer.socket(), now()))
      << "a kernel that says it itself needs no time";
}

// Not a reason to believe the id instead.
TEST(PeerProcess, ReportsALackOfDescriptorsAsSuch) {
  const Peer peer;
  for (const int error : {EMFILE, ENFILE, ENOMEM}) {
    EXPECT_EQ(found_where({peer_descriptor_fails(error)}, peer.socket(), now()), Found::kNoRoom);
    EXPECT_EQ(found_where({kOlderKernel, process_descriptor_fails(error)}, peer.socket(), now()),
              Found::kNoRoom);
  }
}

TEST(PeerProcess, ReportsARefusalAsSuch) {
  const Peer peer;
  for (const int error : {EPERM, EACCES, ENOSYS}) {
    EXPECT_EQ(found_where({peer_descriptor_fails(error)}, peer.socket(), now()),
              Found::kNotPossible);
    EXPECT_EQ(found_where({kOlderKernel, process_descriptor_fails(error)}, peer.socket(), now()),
              Found::kNotPossible);
  }
}

TEST(PeerProcess, WithoutProcAnOlderKernelCannotTell) {
  const Peer peer;
  EXPECT_EQ(found_where({kOlderKernel, {SYS_openat, ENOENT}}, peer.socket(), now()),
            Found::kNotPossible);
}

TEST(PeerProcess, ADescriptorThatIsNoSocketHasNone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  errno = 0;
  EXPECT_EQ(peer_process(ends[0], now()).found, Found::kNotPossible);
  EXPECT_EQ(errno, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace meterbank
