// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of an answer, which a stranger wrote, to rows that can be trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../plan/asked_rows.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank {

// Beyond it rows are left out and the answer counts as incomplete: a row takes more memory here
// than in a packet.
inline constexpr std::size_t kAnsweredRowsMax = std::size_t{1} << 18;

struct ReadRows {
  std::vector<ChannelRow> rows;  // names and values lie in the bytes
  bool is_cut = false;           // kAnsweredRowsMax
};

// Those that were asked for; of a set without names the first. Nothing: some row breaks a rule of
// the channel or of the schema. Precondition: `bytes` are aligned to 8, and no other thread or
// process can change them.
[[nodiscard]] std::optional<ReadRows> read_rows(std::span<const std::byte> bytes,
                                                std::uint32_t count, MessageType type,
                                                const AskedRows& asked, const Counterset& set);

// A copy of the rows in a memfd. Nothing: it is not one, is not sealed, has holes, or is too short.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> copy_of_memory(UniqueFd memory,
                                                                       std::uint64_t bytes);

}  // namespace meterbank
