// SPDX-License-Identifier: Apache-2.0
//
// What the request server counts. Who writes a counter, and what a reader wants of it, decides the
// sort of its set; there are four here, one of each sort.
#pragma once

#include <array>

#include "meterbank/publisher.hpp"

namespace request_server {

namespace mb = meterbank;

// Counted by all workers at once: a sharded set, each thread has a block of its own in it. An
// instance for each kind of request.
enum class RequestCounter : std::uint32_t { kRequests, kBytesIn, kBytesOut, kErrors, kLatency };
inline constexpr std::array kRequestCounters{
    mb::CounterSpec{.id = 1,
                    .name = "Requests/sec",
                    .symbol = "requests",
                    .unit = "{request}",
                    .help = "Requests answered, also with an error."},
    mb::CounterSpec{.id = 2,
                    .name = "Bytes In/sec",
                    .symbol = "bytes_in",
                    .unit = "By",
                    .help = "Bytes of these requests."},
    mb::CounterSpec{.id = 3,
                    .name = "Bytes Out/sec",
                    .symbol = "bytes_out",
                    .unit = "By",
                    .help = "Bytes of their answers."},
    mb::CounterSpec{.id = 4,
                    .name = "Errors/sec",
                    .symbol = "errors",
                    .unit = "{request}",
                    .help = "Requests that were not understood or asked for what is not there."},
    mb::CounterSpec{.id = 5,
                    .name = "Latency",
                    .symbol = "latency",
                    .unit = "s",
                    .help = "Time from the beginning of the work on a request to its answer.",
                    .form = mb::ValueForm::kDistribution,
                    .buckets = {.scale = 4, .least = 1e-7, .most = 10}}};
inline constexpr mb::CountersetSpec kRequestSet{.name = "Server Requests",
                                                .symbol = "server_requests",
                                                .help = "Requests by kind.",
                                                .label = "kind",
                                                .sharded = true,
                                                .counters = kRequestCounters};

// Each thread writes an instance of its own, and they hang together: a connection is closed by
// another thread than the one that opened it. With cuts a reader never sees the second without the
// first.
enum class ThreadCounter : std::uint32_t { kOpened, kClosed, kConnections, kReads, kRequests };
inline constexpr std::array kThreadCounters{
    mb::CounterSpec{.id = 1,
                    .name = "Connections Opened/sec",
                    .symbol = "opened",
                    .unit = "{connection}",
                    .help = "Connections accepted and given to a worker."},
    mb::CounterSpec{.id = 2,
                    .name = "Connections Closed/sec",
                    .symbol = "closed",
                    .unit = "{connection}",
                    .help = "Connections that ended."},
    mb::CounterSpec{.id = 3,
                    .name = "Connections Now",
                    .symbol = "connections",
                    .type = mb::CounterType::kLargeRawCount,
                    .unit = "{connection}",
                    .help = "Connections that this worker has.",
                    .timed = true},
    mb::CounterSpec{.id = 4,
                    .name = "Reads/sec",
                    .symbol = "reads",
                    .unit = "{read}",
                    .help = "Reads from sockets; a pipelining client needs few."},
    mb::CounterSpec{.id = 5,
                    .name = "Requests Served/sec",
                    .symbol = "served",
                    .unit = "{request}",
                    .help = "Requests of all kinds that this worker answered."}};
inline constexpr mb::CountersetSpec kThreadSet{.name = "Server Threads",
                                               .symbol = "server_threads",
                                               .help = "The acceptor and the workers.",
                                               .label = "thread",
                                               .cuts = true,
                                               .counters = kThreadCounters};

// What a person wants to know first. One thread writes it; there is one row.
enum class ServerCounter : std::uint32_t { kState, kPort };
inline constexpr std::array kServerCounters{
    mb::CounterSpec{.id = 1,
                    .name = "State",
                    .symbol = "state",
                    .type = mb::CounterType::kText,
                    .help = "starting, serving, draining or stopped.",
                    .form = mb::ValueForm::kText,
                    .timed = true,
                    .text_bytes = 16},
    mb::CounterSpec{.id = 2,
                    .name = "Port",
                    .symbol = "port",
                    .type = mb::CounterType::kLargeRawCount,
                    .help = "Where it listens."}};
inline constexpr mb::CountersetSpec kServerSet{.name = "Request Server",
                                               .symbol = "request_server",
                                               .help = "The server as a whole.",
                                               .instances = mb::InstanceKind::kSingle,
                                               .counters = kServerCounters};

// Rare, and anybody's: one word each, added to atomically. Not worth a block for each thread.
enum class FaultCounter : std::uint32_t { kLost, kTooLong };
inline constexpr std::array kFaultCounters{
    mb::CounterSpec{.id = 1,
                    .name = "Connections Lost",
                    .symbol = "connections_lost",
                    .type = mb::CounterType::kLargeRawCount,
                    .unit = "{connection}",
                    .help = "Connections that broke, with or without unsent answers.",
                    .any_thread = true},
    mb::CounterSpec{.id = 2,
                    .name = "Requests Too Long",
                    .symbol = "requests_too_long",
                    .type = mb::CounterType::kLargeRawCount,
                    .unit = "{request}",
                    .help = "Lines without an end. Their connections are closed.",
                    .any_thread = true}};
inline constexpr mb::CountersetSpec kFaultSet{.name = "Server Faults",
                                              .symbol = "server_faults",
                                              .help = "What should not happen.",
                                              .instances = mb::InstanceKind::kSingle,
                                              .consistency = mb::Consistency::kIndependent,
                                              .counters = kFaultCounters};

}  // namespace request_server
