// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace network_interface {

using C = host_counters::NetworkInterfaceCounter;
using L = host_counters::NetworkLinkCounter;
using F = NetworkField;
using V = NetworkValues;

constexpr std::array kColumns{
    plain<F::kReceivedBytes, V>(C::kBytesReceived),
    plain<F::kSentBytes, V>(C::kBytesSent),
    Column<V>{C::kBytesTotal, bit(F::kReceivedBytes) | bit(F::kSentBytes),
              [](const V& values, const Moment&) {
                return values.get(F::kReceivedBytes) + values.get(F::kSentBytes);
              }},
    plain<F::kReceivedPackets, V>(C::kPacketsReceived),
    plain<F::kSentPackets, V>(C::kPacketsSent),
    Column<V>{C::kPackets, bit(F::kReceivedPackets) | bit(F::kSentPackets),
              [](const V& values, const Moment&) {
                return values.get(F::kReceivedPackets) + values.get(F::kSentPackets);
              }},
    plain<F::kReceivedErrors, V>(C::kPacketsReceivedErrors),
    plain<F::kSentErrors, V>(C::kPacketsOutboundErrors),
    plain<F::kReceivedDropped, V>(C::kPacketsReceivedDiscarded),
    plain<F::kSentDropped, V>(C::kPacketsOutboundDiscarded),
    plain<F::kReceivedMulticast, V>(C::kMulticastReceived),
    plain<F::kSentCollisions, V>(C::kCollisions),
};
static_assert(is_whole(kColumns, host_counters::kNetworkInterfaceSet));

constexpr std::array kLinkColumns{
    plain<F::kBitsPerSecond, V>(L::kCurrentBandwidth),
};
static_assert(is_whole(kLinkColumns, host_counters::kNetworkLinkSet));

}  // namespace network_interface

const CountersetSpec& network_set() noexcept { return host_counters::kNetworkInterfaceSet; }
std::span<const Column<NetworkValues>> network_columns() noexcept {
  return network_interface::kColumns;
}
const CountersetSpec& link_set() noexcept { return host_counters::kNetworkLinkSet; }
std::span<const Column<NetworkValues>> link_columns() noexcept {
  return network_interface::kLinkColumns;
}

}  // namespace meterbank::host
