// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/packet_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace meterbank {
namespace {

// The kernel passes at most this many descriptors with a packet (SCM_MAX_FD). There is room for
// all, so that none stays open unseen.
constexpr std::size_t kKernelDescriptorsMax = 253;

// Where a socket lies. An address has room for 107 bytes; a longer path is reached through an open
// descriptor of its directory.
class SocketAddress {
 public:
  explicit SocketAddress(const std::string& path) {
    address_.sun_family = AF_UNIX;
    if (set(path)) return;
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return;
    directory_.reset(::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (directory_) set("/proc/self/fd/" + std::to_string(directory_.get()) + path.substr(slash));
  }

  [[nodiscard]] bool fits() const noexcept { return address_.sun_path[0] != '\0'; }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  static constexpr socklen_t bytes() noexcept { return sizeof(sockaddr_un); }

 private:
  bool set(const std::string& path) noexcept {
    if (path.empty() || path.size() >= sizeof address_.sun_path) return false;
    std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
    return true;
  }

  sockaddr_un address_{};
  UniqueFd directory_;
};

tl::unexpected<Error> bad_path(const std::string& path) {
  return fail(ErrorCode::kInvalidArgument, "a socket cannot have the path '" + path + "'",
              "a shorter name, in a directory that exists");
}

UniqueFd make_socket() noexcept {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

ErrorCode code_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return ErrorCode::kGone;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kDenied;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
      return ErrorCode::kLimit;
    default:
      return ErrorCode::kSystem;
  }
}

// Takes over as many descriptors as `attached` has room for, and closes the others. Returns how
// many there were.
std::size_t take_descriptors(msghdr& message, std::span<UniqueFd> attached) noexcept {
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t bytes = part->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
      UniqueFd taken(descriptor);
      if (count < attached.size()) attached[count] = std::move(taken);
      ++count;
    }
  }
  return count;
}

void close_all(std::span<UniqueFd> descriptors) noexcept {
  for (UniqueFd& descriptor : descriptors) descriptor.reset();
}

}  // namespace

Result<PacketSocket> PacketSocket::connect(const std::string& path) {
  const SocketAddress address(path);
  if (!address.fits()) return bad_path(path);
  UniqueFd socket = make_socket();
  if (!socket || ::connect(socket.get(), address.get(), address.bytes()) != 0) {
    const int error = errno;
    return fail(code_of(error), "cannot connect to " + path, "", error);
  }
  return PacketSocket(std::move(socket));
}

PeerCredentials PacketSocket::peer() const noexcept {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return {0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  }
  return {credentials.pid, credentials.uid, credentials.gid};
}

PacketSocket::Got PacketSocket::receive(PacketBuffer& packet, std::span<UniqueFd> attached,
                                        std::size_t& count) noexcept {
  close_all(attached);
  count = 0;
  packet.bytes_ = 0;
  if (!socket_.is_here_this_tick()) return Got::kEnd;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int) * kKernelDescriptorsMax)> control;
  iovec bytes{packet.room_.get(), kPacketBytesMax};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Got::kNothing : Got::kEnd;
  const std::size_t passed = take_descriptors(message, attached);
  const bool is_whole =
      passed <= attached.size() && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  // An empty packet and the end look alike; a peer must not send one.
  if (size == 0 || !is_whole) {
    close_all(attached);
    if (size == 0) return Got::kEnd;
    // There is room for as many as one packet can have, so that the kernel can only have left some
    // out for want of descriptors.
    errno = (message.msg_flags & MSG_CTRUNC) != 0 ? EMFILE : EPROTO;
    return Got::kMalformed;
  }
  count = passed;
  packet.bytes_ = static_cast<std::size_t>(size);
  return Got::kPacket;
}

bool PacketSocket::has_packet() const noexcept {
  std::byte first{};
  if (!socket_.is_here_this_tick()) return false;
  return ::recv(socket_.get(), &first, sizeof first, MSG_PEEK | MSG_DONTWAIT) > 0;
}

PacketSocket::Sent PacketSocket::send(std::span<const std::byte> packet,
                                      std::span<const int> attached) noexcept {
  if (!socket_.is_here() || attached.size() > kPacketDescriptorsMax) return Sent::kEnd;
  constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kPacketDescriptorsMax);
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  iovec bytes{const_cast<std::byte*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (!attached.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(attached.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(attached.size_bytes());
    std::memcpy(CMSG_DATA(part), attached.data(), attached.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::kAll;
    if (errno == EINTR) continue;
    // ETOOMANYREFS: more descriptors in flight than this user may have; later it may work.
    const bool is_full = errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS;
    return is_full ? Sent::kFull : Sent::kEnd;
  }
}

void PacketSocket::hang_up() noexcept {
  if (socket_.is_here()) ::shutdown(socket_.get(), SHUT_RDWR);
}

ListeningSocket::Came ListeningSocket::accept(PacketSocket& peer) noexcept {
  if (!socket_.is_here()) {
    peer = PacketSocket();
    return Came::kNone;
  }
  const auto take = [this] {
    constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    return PacketSocket(UniqueFd(::accept4(socket_.get(), nullptr, nullptr, kFlags)));
  };
  if (!reserve_) reserve();  // it was lost to another thread
  peer = take();
  if (peer) return Came::kPeer;
  const int error = errno;
  const bool is_full = error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
  if (!is_full || !reserve_) return Came::kNone;
  reserve_.reset();
  static_cast<void>(take());
  reserve();
  return Came::kTurnedAway;
}

void ListeningSocket::reserve() noexcept {
  reserve_ = KnownFd(UniqueFd(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 3)));
}

void ListeningSocket::close() noexcept {
  socket_.reset();
  reserve_.reset();
}

Result<PacketListener> PacketListener::listen(const std::string& path, int backlog,
                                              std::optional<mode_t> mode) {
  const SocketAddress address(path);
  if (!address.fits()) return bad_path(path);
  if (PacketSocket::connect(path)) {
    return fail(ErrorCode::kExists, "another process listens at " + path, "another name");
  }
  ::unlink(path.c_str());
  UniqueFd socket = make_socket();
  if (socket && ::bind(socket.get(), address.get(), address.bytes()) == 0 &&
      (!mode || ::chmod(path.c_str(), *mode) == 0) && ::listen(socket.get(), backlog) == 0) {
    ListeningSocket listening(std::move(socket));
    if (listening.has_reserve()) return PacketListener(std::move(listening), path);
  }
  const int error = errno;
  return fail(code_of(error), "cannot listen at " + path, "", error);
}

Result<PacketListener> PacketListener::adopt(UniqueFd socket, std::string path) {
  ListeningSocket listening(std::move(socket));
  if (listening.has_reserve()) return PacketListener(std::move(listening), std::move(path));
  const int error = errno;
  return fail(code_of(error), "cannot go on listening at " + path, "", error);
}

PacketListener::PacketListener(PacketListener&& other) noexcept
    : socket_(std::move(other.socket_)), path_(std::exchange(other.path_, {})) {}

PacketListener::~PacketListener() { close(); }

void PacketListener::close() noexcept {
  if (!path_.empty()) ::unlink(path_.c_str());
  abandon();
}

void PacketListener::abandon() noexcept {
  path_.clear();
  socket_.close();
}

}  // namespace meterbank
