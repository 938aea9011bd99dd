// SPDX-License-Identifier: Apache-2.0
#include "door_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "meterbank/base/process_facts.hpp"
#include "process/why_denied.hpp"

namespace meterbank {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOneWait{100};
constexpr milliseconds kWaitsOfOneUser{250};
constexpr milliseconds kFreeWait{5};

bool is_read_only(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

tl::unexpected<Error> broken(const char* rule) {
  return fail(ErrorCode::kCorrupt, std::string("the provider's door handed out ") + rule,
              "restart the provider with a current library");
}

// How root is admitted that is not root for the provider: its user namespace has no such user.
std::string way_of_root() {
  if (::geteuid() == 0 && !is_in_user_namespace()) return "use --all-namespaces";
  return std::string("run as ") + name_of_root();
}

Result<HandedOut> check(const DoorAnswer& answer, HandedOut got) {
  switch (static_cast<DoorStatus>(answer.status)) {
    case DoorStatus::kHere:
      break;
    case DoorStatus::kNotAdmitted:
      return fail(ErrorCode::kDenied, "the provider does not admit this user",
                  "join the group that it admits, " + way_of_root() +
                      ", or start it with METERBANK_READERS=everyone");
    case DoorStatus::kTooMany:
      return fail(ErrorCode::kLimit, "this user asks the provider too often", "ask less often");
    case DoorStatus::kNoDescriptors:
      return fail(ErrorCode::kLimit, "the provider has no descriptor left to hand out",
                  "raise its limit of open files: ulimit -n");
    default:
      return broken("an unknown status");
  }
  if (answer.count != got.count || answer.first_extent != got.first) {
    return broken("another number of descriptors than it says");
  }
  for (const UniqueFd& descriptor : std::span(got.descriptors).first(got.count)) {
    if (!is_read_only(descriptor.get())) return broken("a descriptor that is not read-only");
  }
  return got;
}

}  // namespace

DoorTimeouts::Clock::duration DoorTimeouts::for_user(std::uint32_t uid) const {
  const auto waited = waited_.find(uid);
  if (waited == waited_.end()) return kOneWait;
  return std::clamp<Clock::duration>(kWaitsOfOneUser - waited->second, Clock::duration::zero(),
                                     kOneWait);
}

void DoorTimeouts::charge(std::uint32_t uid, Clock::duration waited) {
  if (waited > kFreeWait) waited_[uid] += waited;
}

Result<DoorConnection> DoorConnection::connect(const std::string& path) {
  auto socket = PacketSocket::connect(path);
  if (!socket) return tl::make_unexpected(std::move(socket.error()));
  return DoorConnection(std::move(*socket));
}

Result<HandedOut> DoorConnection::ask(std::uint32_t first, std::uint32_t uid,
                                      DoorTimeouts& timeouts) {
  const auto ended = [] {
    return fail(ErrorCode::kGone, "the provider's door was shut meanwhile", "try again");
  };
  const DoorTimeouts::Clock::duration longest = timeouts.for_user(uid);
  const auto too_late = [longest] {
    const auto waited = std::chrono::duration_cast<milliseconds>(longest);
    return fail(ErrorCode::kTimeout, "the provider did not answer at its door within " +
                                         std::to_string(waited.count()) + " ms");
  };
  if (longest == DoorTimeouts::Clock::duration::zero()) {
    return fail(ErrorCode::kTimeout,
                "the provider was not asked at its door: others of its user did not answer",
                "see to those of its user that are stopped or hung");
  }
  DoorRequest request;
  request.first_extent = first;
  if (socket_.send(std::as_bytes(std::span(&request, 1))) != PacketSocket::Sent::kAll) {
    return ended();
  }
  const auto begin = DoorTimeouts::Clock::now();
  HandedOut got;
  got.first = first;
  for (;;) {
    std::size_t count = 0;
    switch (socket_.receive(timeouts.packet(), got.descriptors, count)) {
      case PacketSocket::Got::kPacket: {
        timeouts.charge(uid, DoorTimeouts::Clock::now() - begin);
        got.count = static_cast<std::uint32_t>(count);
        const auto answer = decode_door<DoorAnswer>(timeouts.packet().bytes());
        if (!answer) return broken("a packet that is not an answer");
        return check(*answer, std::move(got));
      }
      case PacketSocket::Got::kEnd:
        return ended();
      case PacketSocket::Got::kMalformed:
        if (errno == EMFILE) {
          return fail(ErrorCode::kLimit, "no descriptor is left for what the provider hands out",
                      "raise the limit of open files: ulimit -n", EMFILE);
        }
        return broken("too large a packet, or more descriptors than there is room for");
      case PacketSocket::Got::kNothing:
        break;
    }
    const auto left = std::chrono::ceil<milliseconds>(begin + longest - DoorTimeouts::Clock::now());
    pollfd answered{socket_.descriptor(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&answered, 1, static_cast<int>(left.count())) == 0) {
      timeouts.charge(uid, longest);
      return too_late();
    }
  }
}

bool DoorConnection::has_ended() const noexcept {
  pollfd ended{socket_.descriptor(), POLLRDHUP, 0};
  return ::poll(&ended, 1, 0) != 0;
}

}  // namespace meterbank
