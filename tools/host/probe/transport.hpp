// SPDX-License-Identifier: Apache-2.0
//
// TCP and UDP of this network namespace: /proc/net/snmp and /proc/net/snmp6. The kernel counts the
// segments of TCP over IPv4 and IPv6 together, the datagrams of UDP apart.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

enum class TcpField : std::uint8_t {
  // Since the namespace was made.
  kActiveOpens,
  kPassiveOpens,
  kAttemptsFailed,
  kResets,
  kReceivedSegments,
  kSentSegments,  // without those that only repeat data
  kRepeatedSegments,
  // Levels.
  kEstablished,
  kCount
};
using TcpValues = FieldValues<TcpField>;

enum class UdpField : std::uint8_t {
  // Since the namespace was made.
  kReceived,
  kNoPort,
  kReceivedErrors,
  kSent,
  kCount
};
using UdpValues = FieldValues<UdpField>;

// False: not one known value was found; the targets are then as before. Each protocol has a line of
// names and a line of values, which belong together by their position.
bool parse_snmp(std::string_view text, TcpValues& tcp, UdpValues& udp) noexcept;

// A line for each value. False: as above.
bool parse_snmp6(std::string_view text, UdpValues& udp) noexcept;

class TransportReader {
 public:
  explicit TransportReader(FileReader& files) noexcept : files_(files) {}

  // False: neither file could be read. What a file says no more is as of the last good sample.
  [[nodiscard]] bool sample();

  [[nodiscard]] const TcpValues& tcp() const noexcept { return tcp_; }
  [[nodiscard]] const UdpValues& udp4() const noexcept { return udp4_; }
  [[nodiscard]] const UdpValues& udp6() const noexcept { return udp6_; }

 private:
  FileReader& files_;
  TcpValues tcp_;
  UdpValues udp4_;
  UdpValues udp6_;
};

}  // namespace meterbank::host
