// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace {

using F = NetworkField;
using V = NetworkValues;

constexpr std::array kColumns{
    Column<V>{{.id = 1,
               .name = "Bytes Received/sec",
               .symbol = "bytes_received",
               .type = CounterType::kBulkCount,
               .unit = "By",
               .help = "Bytes received."},
              bit(F::kReceivedBytes),
              field<F::kReceivedBytes, V>},
    Column<V>{{.id = 2,
               .name = "Bytes Sent/sec",
               .symbol = "bytes_sent",
               .type = CounterType::kBulkCount,
               .unit = "By",
               .help = "Bytes sent."},
              bit(F::kSentBytes),
              field<F::kSentBytes, V>},
    Column<V>{{.id = 3,
               .name = "Bytes Total/sec",
               .symbol = "bytes_total",
               .type = CounterType::kBulkCount,
               .unit = "By",
               .help = "Bytes received or sent."},
              bit(F::kReceivedBytes) | bit(F::kSentBytes),
              [](const V& values, const Moment&) {
                return values.get(F::kReceivedBytes) + values.get(F::kSentBytes);
              }},
    Column<V>{{.id = 4,
               .name = "Packets Received/sec",
               .symbol = "packets_received",
               .type = CounterType::kBulkCount,
               .unit = "{packet}",
               .help = "Packets received."},
              bit(F::kReceivedPackets),
              field<F::kReceivedPackets, V>},
    Column<V>{{.id = 5,
               .name = "Packets Sent/sec",
               .symbol = "packets_sent",
               .type = CounterType::kBulkCount,
               .unit = "{packet}",
               .help = "Packets sent."},
              bit(F::kSentPackets),
              field<F::kSentPackets, V>},
    Column<V>{{.id = 6,
               .name = "Packets/sec",
               .symbol = "packets",
               .type = CounterType::kBulkCount,
               .unit = "{packet}",
               .help = "Packets received or sent."},
              bit(F::kReceivedPackets) | bit(F::kSentPackets),
              [](const V& values, const Moment&) {
                return values.get(F::kReceivedPackets) + values.get(F::kSentPackets);
              }},
    Column<V>{{.id = 7,
               .name = "Packets Received Errors",
               .symbol = "packets_received_errors",
               .type = CounterType::kLargeRawCount,
               .unit = "{packet}",
               .help = "Packets received with errors."},
              bit(F::kReceivedErrors),
              field<F::kReceivedErrors, V>},
    Column<V>{{.id = 8,
               .name = "Packets Outbound Errors",
               .symbol = "packets_outbound_errors",
               .type = CounterType::kLargeRawCount,
               .unit = "{packet}",
               .help = "Packets not sent because of errors."},
              bit(F::kSentErrors),
              field<F::kSentErrors, V>},
    Column<V>{{.id = 9,
               .name = "Packets Received Discarded",
               .symbol = "packets_received_discarded",
               .type = CounterType::kLargeRawCount,
               .unit = "{packet}",
               .help = "Good packets dropped on receipt."},
              bit(F::kReceivedDropped),
              field<F::kReceivedDropped, V>},
    Column<V>{{.id = 10,
               .name = "Packets Outbound Discarded",
               .symbol = "packets_outbound_discarded",
               .type = CounterType::kLargeRawCount,
               .unit = "{packet}",
               .help = "Good packets dropped before sending."},
              bit(F::kSentDropped),
              field<F::kSentDropped, V>},
    Column<V>{{.id = 11,
               .name = "Multicast Received/sec",
               .symbol = "multicast_received",
               .type = CounterType::kBulkCount,
               .unit = "{packet}",
               .help = "Multicast packets received."},
              bit(F::kReceivedMulticast),
              field<F::kReceivedMulticast, V>},
    Column<V>{{.id = 12,
               .name = "Collisions",
               .symbol = "collisions",
               .type = CounterType::kLargeRawCount,
               .unit = "{collision}",
               .help = "Collisions while sending."},
              bit(F::kSentCollisions),
              field<F::kSentCollisions, V>},
};

constexpr std::array kLinkColumns{
    Column<V>{{.id = 1,
               .name = "Current Bandwidth",
               .symbol = "current_bandwidth",
               .type = CounterType::kLargeRawCount,
               .unit = "bit/s",
               .help = "Speed of the link."},
              bit(F::kBitsPerSecond),
              field<F::kBitsPerSecond, V>},
};

constexpr CountersetSpec kSet{.name = "Network Interface",
                              .symbol = "network_interface",
                              .help = "Interfaces of this network namespace, loopback included.",
                              .label = "interface",
                              .guid = "{5a7b1f6c-2c3e-4a43-9b0d-44d5c9a2e904}"_guid};

// A set of its own, because an instance has all counters of its set or does not exist: loopback and
// interfaces without a link have traffic, but no speed.
constexpr CountersetSpec kLinkSet{.name = "Network Link",
                                  .symbol = "network_link",
                                  .help = "Interfaces whose link has a known speed.",
                                  .label = "interface",
                                  .guid = "{9c0f6f0e-3f0e-4e0b-8f7c-2b6d8e41a906}"_guid};

}  // namespace

const CountersetSpec& network_set() noexcept { return kSet; }
std::span<const Column<NetworkValues>> network_columns() noexcept { return kColumns; }
const CountersetSpec& link_set() noexcept { return kLinkSet; }
std::span<const Column<NetworkValues>> link_columns() noexcept { return kLinkColumns; }

}  // namespace meterbank::host
