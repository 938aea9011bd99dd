// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace meterbank::agent {

// The flight recorder of a machine: a ring that the agent writes.
struct RecordSettings {
  std::string directory;  // empty: nothing is recorded
  std::chrono::milliseconds interval{1000};
  std::uint64_t bytes_max = std::uint64_t{64} << 20U;
  std::vector<std::string> paths;  // empty: everything

  [[nodiscard]] bool is_on() const noexcept { return !directory.empty(); }
  friend bool operator==(const RecordSettings&, const RecordSettings&) = default;
};

}  // namespace meterbank::agent
