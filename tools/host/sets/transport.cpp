// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host/sets/sets.hpp"
#include "transport.hpp"

namespace meterbank::host {
namespace transport {

using T = transport_counters::Tcpv4Counter;

constexpr std::uint64_t kSegments = bit(TcpField::kReceivedSegments) | bit(TcpField::kSentSegments);

constexpr std::array kTcpColumns{
    Column<TcpValues>{T::kSegments, kSegments,
                      [](const TcpValues& values, const Moment&) {
                        return values.get(TcpField::kReceivedSegments) +
                               values.get(TcpField::kSentSegments);
                      }},
    plain<TcpField::kEstablished, TcpValues>(T::kConnectionsEstablished),
    plain<TcpField::kActiveOpens, TcpValues>(T::kConnectionsActive),
    plain<TcpField::kPassiveOpens, TcpValues>(T::kConnectionsPassive),
    plain<TcpField::kAttemptsFailed, TcpValues>(T::kConnectionFailures),
    plain<TcpField::kResets, TcpValues>(T::kConnectionsReset),
    plain<TcpField::kReceivedSegments, TcpValues>(T::kSegmentsReceived),
    plain<TcpField::kSentSegments, TcpValues>(T::kSegmentsSent),
    plain<TcpField::kRepeatedSegments, TcpValues>(T::kSegmentsRetransmitted),
};
static_assert(is_whole(kTcpColumns, transport_counters::kTcpv4Set));

// `C` are the counters of UDP over one version of IP.
template <typename C>
constexpr auto udp_columns_of() noexcept {
  constexpr std::uint64_t kDatagrams = bit(UdpField::kReceived) | bit(UdpField::kSent);
  return std::array{
      Column<UdpValues>{C::kDatagrams, kDatagrams,
                        [](const UdpValues& values, const Moment&) {
                          return values.get(UdpField::kReceived) + values.get(UdpField::kSent);
                        }},
      plain<UdpField::kReceived, UdpValues>(C::kDatagramsReceived),
      plain<UdpField::kNoPort, UdpValues>(C::kDatagramsNoPort),
      plain<UdpField::kReceivedErrors, UdpValues>(C::kDatagramsReceivedErrors),
      plain<UdpField::kSent, UdpValues>(C::kDatagramsSent),
  };
}

constexpr auto kUdp4Columns = udp_columns_of<transport_counters::Udpv4Counter>();
constexpr auto kUdp6Columns = udp_columns_of<transport_counters::Udpv6Counter>();
static_assert(is_whole(kUdp4Columns, transport_counters::kUdpv4Set));
static_assert(is_whole(kUdp6Columns, transport_counters::kUdpv6Set));

}  // namespace transport

const CountersetSpec& tcp_set() noexcept { return transport_counters::kTcpv4Set; }
std::span<const Column<TcpValues>> tcp_columns() noexcept { return transport::kTcpColumns; }
const CountersetSpec& udp4_set() noexcept { return transport_counters::kUdpv4Set; }
std::span<const Column<UdpValues>> udp4_columns() noexcept { return transport::kUdp4Columns; }
const CountersetSpec& udp6_set() noexcept { return transport_counters::kUdpv6Set; }
std::span<const Column<UdpValues>> udp6_columns() noexcept { return transport::kUdp6Columns; }

}  // namespace meterbank::host
