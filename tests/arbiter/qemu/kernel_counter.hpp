// SPDX-License-Identifier: Apache-2.0
//
// Counters of the emulated PMU, asked of the kernel directly: what the arbiter's tests compare
// with, and what they compete with.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace meterbank::emulated {

// Of QEMU's cortex-a57. Cycles may be on a counter of their own, instructions only on general ones.
inline constexpr std::uint32_t kGeneral = 6;
inline constexpr std::uint32_t kCycles = 0x11;
inline constexpr std::uint32_t kInstructions = 0x08;

// Of the event source armv8_pmuv3; 0: this machine has none.
[[nodiscard]] std::uint32_t pmu_type();

struct Counted {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

struct Wish {
  std::uint32_t event = kInstructions;
  int cpu = 0;  // -1: wherever the task runs
  pid_t task = -1;
  bool is_pinned = true;
  bool is_exclusive = false;
  bool is_disabled = false;
  bool counts_nothing = false;
  bool user_only = false;
  bool is_dummy = false;     // counts nothing, and needs no counter
  bool is_long = false;      // 64 bits: two adjacent counters here, but for cycles
  bool is_readable = false;  // by the task itself, without a system call; not of a CPU
};

// One open event.
class KernelCounter {
 public:
  // Negative descriptor: refused; then error() says why.
  explicit KernelCounter(const Wish& wish, const KernelCounter* leader = nullptr);
  KernelCounter(KernelCounter&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_) {}
  KernelCounter& operator=(KernelCounter&& other) noexcept;
  ~KernelCounter();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] int error() const noexcept { return error_; }
  // Nothing: it has no counter (the error state of pinned events).
  [[nodiscard]] std::optional<Counted> read() const;
  [[nodiscard]] bool has_counter() const { return read().has_value(); }
  void enable() const;
  void disable() const;

 private:
  int descriptor_ = -1;
  int error_ = 0;
};

// `count` of them, alike.
[[nodiscard]] std::vector<KernelCounter> open_counters(std::size_t count, const Wish& wish);
[[nodiscard]] std::uint32_t count_answering(const std::vector<KernelCounter>& counters);
// How many pinned instruction events could be had on the CPU, by having them. Evicts flexible ones.
[[nodiscard]] std::uint32_t probe_by_opening(int cpu);

// The calling thread stays on the CPU from here on.
void move_to(int cpu);
// Runs for about so many instructions.
void work(std::uint64_t steps);

}  // namespace meterbank::emulated
