// SPDX-License-Identifier: Apache-2.0
//
// The few calls of the kernel's perf interface, in one place so that tests can stand in for a
// kernel with other hardware, or for one that refuses.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <utility>

namespace meterbank::arbiter {

// Errors are returned as negative numbers of errno.
class PerfCalls {
 public:
  PerfCalls() = default;
  PerfCalls(const PerfCalls&) = delete;
  PerfCalls& operator=(const PerfCalls&) = delete;
  virtual ~PerfCalls() = default;

  // A descriptor with CLOEXEC, which is its own group. -1 means: of no task, on no CPU.
  virtual int open(const perf_event_attr& attributes, pid_t task, int cpu);
  // Bytes; 0: the event has lost its counter.
  virtual std::int64_t read(int descriptor, std::span<std::uint64_t> words);
  virtual int control(int descriptor, unsigned long request, void* argument);
  virtual void close(int descriptor);
  // Whether a breakpoint counts the writes of this thread. Some virtual machines have such that can
  // be set and never count. True as well where none can be set now.
  virtual bool has_counting_breakpoints();
  // As open(), but into the group of another descriptor.
  virtual int open_in_group(const perf_event_attr& attributes, pid_t task, int cpu, int leader);
};

// An open event.
class EventFile {
 public:
  EventFile() = default;
  EventFile(PerfCalls& calls, int descriptor) noexcept : calls_(&calls), descriptor_(descriptor) {}
  EventFile(EventFile&& other) noexcept
      : calls_(other.calls_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  EventFile& operator=(EventFile&& other) noexcept {
    std::swap(calls_, other.calls_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~EventFile() { reset(); }

  void reset() noexcept {
    if (descriptor_ >= 0) calls_->close(std::exchange(descriptor_, -1));
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  PerfCalls* calls_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace meterbank::arbiter
