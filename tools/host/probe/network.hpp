// SPDX-License-Identifier: Apache-2.0
//
// Network interfaces: /proc/net/dev and what sysfs adds about each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

inline constexpr std::size_t kInterfacesMax = 16384;

enum class NetworkField : std::uint8_t {
  // Since the interface appeared.
  kReceivedBytes,
  kReceivedPackets,
  kReceivedErrors,
  kReceivedDropped,
  kReceivedOverruns,
  kReceivedFrameErrors,
  kReceivedCompressed,
  kReceivedMulticast,
  kSentBytes,
  kSentPackets,
  kSentErrors,
  kSentDropped,
  kSentOverruns,
  kSentCollisions,
  kSentCarrierErrors,
  kSentCompressed,
  // Levels.
  kBitsPerSecond,       // absent where there is no link or no notion of speed
  kTransmitQueueLimit,  // how long the queue may get, not how long it is
  kHardwareType,        // ARPHRD_ETHER and so on
  kCount
};

using NetworkValues = FieldValues<NetworkField>;
using InterfaceName = FixedText<16>;

struct InterfaceReading {
  InterfaceName name;
  // The kernel's interface number: another number means another interface, even under the same
  // name. Zero where sysfs is not there.
  std::uint64_t life = 0;
  NetworkValues values;
};

// No value: a title line, or one that lacks a name or one of its sixteen numbers.
[[nodiscard]] std::optional<InterfaceReading> parse_interface_line(std::string_view line) noexcept;

// Replaces `interfaces` by those of the text, at most kInterfacesMax.
void parse_net_dev(std::string_view text, std::vector<InterfaceReading>& interfaces);

class NetworkReader {
 public:
  explicit NetworkReader(FileReader& files) noexcept : files_(files) {}

  // False: the table was unreadable; the interfaces are then those of the last good sample.
  [[nodiscard]] bool sample();

  // In the order of the kernel, loopback included.
  [[nodiscard]] std::span<const InterfaceReading> interfaces() const noexcept {
    return interfaces_;
  }

 private:
  void read_levels(InterfaceReading& interface);

  FileReader& files_;
  std::vector<InterfaceReading> interfaces_;
};

}  // namespace meterbank::host
