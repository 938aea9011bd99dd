// SPDX-License-Identifier: Apache-2.0
//
// The door: the socket at which a provider hands its memory to readers.
//
//   reader                                provider, on its keeper thread
//   connect, DoorRequest   ------------>  Does the policy admit this user?
//                          <------------  DoorAnswer, with read-only descriptors of extents
//
// Extents are asked for by index, because a segment grows. One answer carries at most
// kPacketDescriptorsMax of them; a reader asks again for the rest. It keeps the connection while it
// has room for it: the kernel names the provider's process at its other end, and its end is the
// end of the process, also where the pid in the record means nothing.
//
// A reader trusts none of this. Each descriptor must be read-only, must have the inode that the
// record or the header names, and passes the attach gate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace meterbank {

inline constexpr std::uint32_t kDoorMagic = 0x314f4f44;  // "DOO1": another version has another one

struct DoorRequest {
  std::uint32_t magic = kDoorMagic;  // 0
  std::uint32_t first_extent = 0;    // 4  all from this one on
};
static_assert(offsetof(DoorRequest, magic) == 0);
static_assert(offsetof(DoorRequest, first_extent) == 4);
static_assert(sizeof(DoorRequest) == 8);

enum class DoorStatus : std::uint32_t {
  kHere = 0,           // with `count` descriptors
  kNotAdmitted = 1,    // by ProviderOptions::readers
  kTooMany = 2,        // this user asks too often, or has too many connections
  kNoDescriptors = 3,  // the provider cannot open its memory once more
};

struct DoorAnswer {
  std::uint32_t magic = kDoorMagic;  //  0
  std::uint32_t status = 0;          //  4  DoorStatus
  std::uint32_t first_extent = 0;    //  8  as asked
  std::uint32_t count = 0;           // 12  descriptors with this packet
};
static_assert(offsetof(DoorAnswer, magic) == 0);
static_assert(offsetof(DoorAnswer, status) == 4);
static_assert(offsetof(DoorAnswer, first_extent) == 8);
static_assert(offsetof(DoorAnswer, count) == 12);
static_assert(sizeof(DoorAnswer) == 16);

// Nothing: a packet of another size or version.
template <typename Message>
[[nodiscard]] std::optional<Message> decode_door(std::span<const std::byte> packet) noexcept {
  Message message;
  if (packet.size() != sizeof message) return std::nullopt;
  std::memcpy(&message, packet.data(), sizeof message);
  if (message.magic != kDoorMagic) return std::nullopt;
  return message;
}

}  // namespace meterbank
