// SPDX-License-Identifier: Apache-2.0
//
// Finds providers by their memory, in the tables of descriptors of all processes. No record is
// needed and no directory, so that this is the way into containers that share nothing with the
// reader. It takes root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, for processes of other users.
//
// A sealed memfd called "meterbank:..." is a provider's first extent if it begins with the header
// of a segment, and if the process is the one that the header names: a child of fork() has its
// parent's descriptors, too, and publishes nothing.
//
// Cost: walks rest a thousand times as long as they take, so that they use a thousandth of a
// processor. A walk lists all processes and looks into the tables of those that are new or young,
// and of one in sixteen of the others: a process may well create a provider late.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {

// A process by what identifies it in this process's pid namespace.
struct ProcessHere {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;

  auto operator<=>(const ProcessHere&) const = default;
};

struct WalkedMemory {
  ProcessHere process;
  std::uint32_t owner = 0;              // uid of the memory
  std::array<std::uint64_t, 2> file{};  // device and inode of the first extent
  PointerRecord record;                 // as the provider could have written it
};

class ProcessWalk {
 public:
  // Looks again unless it is too early.
  void walk();

  // By inode. Those of processes that ended are gone after the next walk.
  [[nodiscard]] const std::map<std::uint64_t, WalkedMemory>& memories() const noexcept {
    return memories_;
  }
  // Processes, by user, whose descriptors this one may not list.
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& refused() const noexcept {
    return refused_;
  }

 private:
  struct Known {
    std::uint64_t start_time = 0;
    std::uint64_t first_seen_ns = 0;  // CLOCK_MONOTONIC
    std::uint64_t seen_in = 0;        // number of a walk
    bool refused = false;
    std::uint32_t uid = 0;
  };

  void visit(std::uint32_t pid, std::uint64_t now_ns);
  // False: this process may not list them, or not look at all of them.
  [[nodiscard]] bool look_into(ProcessHere process);
  [[nodiscard]] bool take(ProcessHere process, int descriptors, const char* number);

  std::uint64_t walks_ = 0;
  std::uint64_t rests_until_ns_ = 0;
  std::unordered_map<std::uint32_t, Known> known_;
  std::map<std::uint64_t, WalkedMemory> memories_;
  std::map<std::uint32_t, std::uint64_t> refused_;
};

}  // namespace meterbank
