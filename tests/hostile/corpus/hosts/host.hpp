// SPDX-License-Identifier: Apache-2.0
//
// Host programs that embed the publisher library, some also the reader library, and misuse it. Each
// must end by itself, with 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../beside/healthy.hpp"

namespace meterbank::hostile {

inline constexpr int kSkipped = 77;  // with the reason on standard output

struct Host {
  std::string_view name;
  std::string_view what;  // what it does, and what must hold
  int (*run)();
};

[[nodiscard]] std::span<const Host> process_hosts();
[[nodiscard]] std::span<const Host> limit_hosts();
[[nodiscard]] std::span<const Host> lifetime_hosts();
[[nodiscard]] std::span<const Host> value_hosts();
[[nodiscard]] std::vector<Host> all_hosts();

// A set with three rows, and one of each other kind.
inline constexpr CountersetSpec kHosted{.name = "Hosted Set",
                                        .symbol = "hosted_set",
                                        .help = "What a host program counts.",
                                        .label = "row",
                                        .counters = kLevelCounters};

// A provider with a set and a row of every kind there is.
struct HostedProvider {
  explicit HostedProvider(ProviderOptions options = {.name = "host"}, bool with_callback = true);
  // Counts once in each row.
  void count() noexcept;

  Provider provider;
  Instance block, independent, cut;
  ShardedInstance sharded, by_processor;
};

// Says what did not hold, and ends with 1.
int fault(const char* what);
// Runs `body` in a child of fork() and returns what it ended with; a signal is 128 and its number.
int in_forked_child(const std::function<int()>& body);
int status_of(int child);

}  // namespace meterbank::hostile
