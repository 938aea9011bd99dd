// SPDX-License-Identifier: Apache-2.0
//
// How a client of the PMU arbiter asks for counters, and how it is answered.
//
// One SOCK_SEQPACKET socket. A message is one packet: LeaseHeader, then the body of its type, then
// what the body counts.
//
//   client                                       arbiter
//     | -- Hello (heartbeat memfd) -------------> |
//     | <--------------- Welcome (ledger memfd) - |
//     | -- Allocate ----------------------------> |   decided at once, or queued if it may wait
//     | <------------------------------- Queued - |   only if it waits; the answer follows
//     | <----------------- Granted or Refused --- |
//     | -- Read (token) ------------------------> |
//     | <-------------------------- LeaseValues - |
//     | <----------- Notice: revoking, until ... - |   unasked, with id 0
//     | -- Drained (token) ---------------------> |
//     | <--------------------------------- Done - |
//     | <----------------------- LeaseValues, Notice: lost (id 0) |
//
// Rules
//   1. A request has an id, not 0, that the client chose and has no other request out with. It is
//      answered exactly once, by the answer that its type names, Refused or Rejected; Queued comes
//      before the answer. What comes unasked has id 0.
//   2. A packet is as long as its header says. What counts in the body promise is there, and no
//      more.
//   3. Hello may carry a descriptor, Offer carries one; Welcome, Ledger and Counter carry one.
//      No other packet does.
//   4. Names end at their first NUL, which is there; reserved fields are zero.
//   5. A client that breaks a rule is told Rejected where there is an id to answer to, and
//      disconnected after the third time, or at once where packets cannot be told apart.
//   6. Numbers have the byte order of the machine: both ends run on it. Times are nanoseconds of
//      CLOCK_MONOTONIC; 0 stands for "never" or "not known", as said.
//
// The identity of a client comes from the kernel (SO_PEERCRED, SO_PEERPIDFD), never from a message.
// Nothing here believes a byte that it did not check, or throws but for lack of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/pmu/lease_answers.hpp"
#include "meterbank/shm/pmu/lease_requests.hpp"

namespace meterbank::pmu {

inline constexpr std::uint32_t kLeaseMagic = 0x6d70626d;  // "mbpm"
inline constexpr std::uint16_t kLeaseVersion = 1;
// In the arbiter's directory.
inline constexpr std::string_view kArbiterSocket = "pmud.sock";
inline constexpr std::string_view kArbiterJournal = "pmud.journal";

enum class LeaseType : std::uint16_t {
  kHello = 1,
  kAllocate,
  kFree,
  kCancel,
  kRenew,
  kDrained,
  kRead,
  kOffer,
  kProbe,
  kOwners,
  kAdminRevoke,
  kAdminReserve,
  kWelcome = 0x81,
  kGranted,
  kCounter,
  kRefused,
  kQueued,
  kDone,
  kValues,
  kRoom,
  kOwnersAnswer,
  kRejected,
  kNotice = 0xc1,
  kNewLedger,
};

struct LeaseHeader {
  std::uint32_t magic;     //  0  kLeaseMagic
  std::uint16_t version;   //  4  kLeaseVersion
  LeaseType type;          //  6
  std::uint32_t bytes;     //  8  of the packet
  std::uint32_t reserved;  // 12  zero
  std::uint64_t id;        // 16
};
static_assert(offsetof(LeaseHeader, magic) == 0);
static_assert(offsetof(LeaseHeader, version) == 4);
static_assert(offsetof(LeaseHeader, type) == 6);
static_assert(offsetof(LeaseHeader, bytes) == 8);
static_assert(offsetof(LeaseHeader, reserved) == 12);
static_assert(offsetof(LeaseHeader, id) == 16);
static_assert(sizeof(LeaseHeader) == 24);
static_assert(std::has_unique_object_representations_v<LeaseHeader>);

// In the order of LeaseType.
using ClientMessage = std::variant<Hello, Allocate, Free, Cancel, Renew, Drained, Read, Offer,
                                   Probe, Owners, AdminRevoke, AdminReserve>;
using ArbiterMessage = std::variant<Welcome, Granted, Counter, Refused, Queued, Done, LeaseValues,
                                    Room, OwnersAnswer, Rejected, Notice, NewLedger>;

// A packet. Counts in heads are set from what is there, but for Allocate and Probe, whose counts
// are the client's own words. What is beyond the limits above is left out. Precondition: `message`
// fits in kPacketBytesMax.
[[nodiscard]] std::vector<std::byte> encode(std::uint64_t id, const ClientMessage& message);
[[nodiscard]] std::vector<std::byte> encode(std::uint64_t id, const ArbiterMessage& message);

template <typename Message>
struct Decoded {
  std::optional<Rejection> rejection;  // then only id is there, 0 where it could not be read
  std::uint64_t id = 0;
  Message message;
};
// Enumerations of a client's message are within their ranges and its names have an end. But what
// Item, CpuGroup and AllocateHead say otherwise (kinds, flags, reserved words of a group) is the
// arbiter's to answer.
[[nodiscard]] Decoded<ClientMessage> decode_client_message(std::span<const std::byte> packet);
// All enumerations are within their ranges, counts within their limits.
[[nodiscard]] Decoded<ArbiterMessage> decode_arbiter_message(std::span<const std::byte> packet);

}  // namespace meterbank::pmu
