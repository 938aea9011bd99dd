// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a packet to the PMU arbiter, and as one from it. Inputs that do not begin like a
// packet get a header, so that the fuzzer starts behind the first checks. What is taken must be
// said again in the same bytes.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a reader that believes a count
// stands beside the real one, and the fuzzer must find where it reads outside.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu {
namespace {

using Packet = std::vector<std::byte>;

template <typename Message>
void take(const Packet& packet, const Decoded<Message>& decoded) {
  if (decoded.rejection) {
    static_cast<void>(name_of(*decoded.rejection));
    return;
  }
  if (encode(decoded.id, decoded.message) != packet) std::abort();
}

// The first byte chooses a type, of either side or unknown; the rest is the body.
Packet with_header(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t choice = size == 0 ? 0 : data[0] % 32;
  const bool is_unasked = choice >= 26;
  const unsigned type = choice < 14   ? choice
                        : choice < 26 ? 0x80U + choice - 14
                                      : 0xc0U + choice - 26;
  const std::size_t body = size == 0 ? 0 : size - 1;
  const LeaseHeader header{.magic = kLeaseMagic,
                           .version = kLeaseVersion,
                           .type = static_cast<LeaseType>(type),
                           .bytes = static_cast<std::uint32_t>(sizeof(LeaseHeader) + body),
                           .reserved = 0,
                           .id = is_unasked ? 0U : 1U};
  Packet packet(sizeof header + body);
  std::memcpy(packet.data(), &header, sizeof header);
  if (body != 0) std::memcpy(packet.data() + sizeof header, data + 1, body);
  return packet;
}

#ifdef METERBANK_FUZZ_CONTROL
void believe(const Packet& packet) {
  const Decoded<ClientMessage> decoded = decode_client_message(packet);
  if (decoded.rejection != Rejection::kMalformed) return;
  if (packet.size() < sizeof(LeaseHeader) + sizeof(AllocateHead)) return;
  AllocateHead head;
  std::memcpy(&head, packet.data() + sizeof(LeaseHeader), sizeof head);
  // The fault: the count is believed.
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < head.group_count; ++i) {
    CpuGroup group;
    std::memcpy(&group, packet.data() + sizeof(LeaseHeader) + sizeof head + i * sizeof group,
                sizeof group);
    sum += group.mask;
  }
  // So that the sum is needed. No value of it may end the program: the fuzzer would look for that.
  asm volatile("" : : "r"(sum));
}
#endif

}  // namespace
}  // namespace meterbank::pmu

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank::pmu;
  std::uint32_t magic = 0;
  if (size >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const Packet packet =
      magic == kLeaseMagic ? Packet(bytes, bytes + size) : with_header(data, size);
  take(packet, decode_client_message(packet));
  take(packet, decode_arbiter_message(packet));
#ifdef METERBANK_FUZZ_CONTROL
  believe(packet);
#endif
  return 0;
}
