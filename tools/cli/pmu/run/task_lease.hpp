// SPDX-License-Identifier: Apache-2.0
//
// A lease on the first thread of a command, and on what it starts.
//
// The arbiter counts threads of its clients only, so the command's process asks itself, before it
// becomes the command:
//
//   this process                    the command's process               arbiter
//     | <-- fork -------------------- |                                    |
//     |                               | -- Hello, Allocate(own thread) --> |
//     | <----- every packet, passed - | <----------------------- Granted - |
//     | <------ its connection, too - |                                    |
//     | -- let go ------------------> |                                    |
//     |                               exec                                 |
//     | -- Read, on that connection ----------------------------------->   |
//
// The connection lives on here after exec, and the lease with it, until the process ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/pmu/run/counts.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pmu/refusal.hpp"
#include "meterbank/pmu/request.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank::cli {

// In the new process: asks, passes what comes to `parent`. Returns when that is done.
void ask_for_own_thread(const std::string& socket, const pmu::Request& request, int parent);

class TaskLease {
 public:
  // `child`: the other end of `parent` above.
  explicit TaskLease(UniqueFd child) : child_(std::move(child)) {}

  // Readable when take() has something to do.
  [[nodiscard]] int descriptor() const noexcept { return child_.descriptor(); }
  enum class Progress : std::uint8_t { kAsking, kQueued, kGranted, kRefused };
  // After one kQueued further packets follow.
  [[nodiscard]] Progress take();
  [[nodiscard]] const pmu::Queued& queued() const noexcept { return queued_; }
  [[nodiscard]] const pmu::Granted& granted() const noexcept { return granted_; }
  [[nodiscard]] const pmu::Refusal& refusal() const noexcept { return refusal_; }

  // The counts so far; after the process's end those of its end where descriptors were delegated,
  // else those of the last call. Nothing: there were none yet.
  [[nodiscard]] std::optional<Counts> read();
  // Counts are those of the very end.
  [[nodiscard]] bool is_exact_at_end() const noexcept { return !counters_.empty(); }

 private:
  [[nodiscard]] Progress understand(pmu::ArbiterMessage message, UniqueFd attached);
  [[nodiscard]] bool read_counters();
  [[nodiscard]] bool ask_arbiter();

  PacketSocket child_;
  PacketSocket arbiter_;
  PacketBuffer packet_;
  pmu::Queued queued_;
  pmu::Granted granted_;
  pmu::Refusal refusal_;
  struct OpenCounter {
    std::uint32_t position = 0;  // in granted_.counters
    UniqueFd event;
  };
  std::vector<OpenCounter> counters_;
  std::optional<Counts> last_;
  std::uint64_t last_id_ = 1000;
};

}  // namespace meterbank::cli
