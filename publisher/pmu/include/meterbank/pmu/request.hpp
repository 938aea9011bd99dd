// SPDX-License-Identifier: Apache-2.0
//
// What a client asks for, in words:
//
//   Request().event("cycles").event("instructions").cpus("0-3").wait(5s).label("nightly bench")
//   Request().breakpoint(address, 8, Watch::kWrite).this_thread()
//   Request().index(2).range(4, 5).tag(0x4d42)
//   Request()                                  all of the first PMU on all CPUs, alone
//
// A value: it copies freely and sends nothing. The arbiter decides whether it can be served; what
// cannot even be sent (a CPU list that does not parse) is kept until then, see fault().
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu {

// The PMU whose counters are the debug registers: never meant unless it is named.
inline constexpr std::string_view kBreakpointPmu = "breakpoint";

enum class Watch : std::uint32_t { kRead = 1, kWrite = 2, kReadWrite = 3, kExecute = 4 };

class Request {
 public:
  static constexpr std::chrono::nanoseconds kForEver = std::chrono::nanoseconds::max();

  // ---- What: each call adds an item, whose position is what Value::item and Refusal::item say
  // ----

  // One counter for the event that the arbiter knows by this name. Flags: kItem...
  Request& event(std::string_view name, std::uint32_t flags = 0);
  // One counter for an event in the encoding of the PMU.
  Request& event_code(std::uint32_t code, std::uint32_t unit_mask = 0, std::uint32_t flags = 0,
                      std::uint64_t configuration = 0);
  // Names the PMU "breakpoint" as well.
  Request& breakpoint(std::uint64_t address, std::uint32_t bytes, Watch watch,
                      std::uint32_t flags = 0);
  Request& counters(std::uint32_t count, std::string_view event_class);
  Request& index(std::uint32_t counter);
  // Both included.
  Request& range(std::uint32_t begin, std::uint32_t end);
  Request& block(std::string_view rule, std::uint32_t count = 1);
  Request& unit(std::string_view name, std::uint32_t count = 1, std::uint32_t threshold = 0);
  Request& extra(std::string_view sort, std::uint64_t configuration);
  // Interrupts of the counters that the other items name.
  Request& overflow();
  Request& event_buffer(std::uint32_t threshold = 0);
  Request& tag(std::uint32_t tag);
  // Any item, right or wrong.
  Request& item(const Item& item);

  // ---- Where: of several, the last one said; without: all CPUs that are online ----

  // As the kernel writes sets of CPUs: "0-3,8".
  Request& cpus(std::string_view list);
  Request& cpus(std::span<const std::uint32_t> cpus);
  Request& cpus(std::initializer_list<std::uint32_t> cpus) {
    return this->cpus(std::span<const std::uint32_t>(cpus.begin(), cpus.size()));
  }
  // Masks of any make, right or wrong. Adds one.
  Request& group(const CpuGroup& group);
  Request& this_thread();
  // Of this process.
  Request& thread(std::uint32_t tid);
  Request& on_pmu(std::string_view name);

  // ---- For how long ----

  // In the queue; without: not at all.
  Request& wait(std::chrono::nanoseconds time);
  // Ends the lease when its connection was not used for this time (Lease::use()), at least a
  // second. Default, or 0: only the end of the connection ends it.
  Request& term(std::chrono::nanoseconds time);
  // Ends the lease after so long; without: as long as its class may.
  Request& hold(std::chrono::nanoseconds time);

  // ---- How ----

  Request& priority(Priority priority);
  // Others may count the same event on the same counters.
  Request& shares();
  // Content with counters for a part of the time, of a thousand: 1 to 1000.
  Request& duty(std::uint32_t permille);
  // Shown to others.
  Request& label(std::string_view label);
  // Survives a lost connection for a while.
  Request& detached();
  // May be preempted, and is served again later.
  Request& restorable();
  // Descriptors of the counters, for Lease::local(). Only of threads of this process.
  Request& delegates();

  // Why it cannot be sent; empty: it can.
  [[nodiscard]] std::string fault() const { return fault_; }
  // As it will be sent. Counts and flags are set from what was said.
  [[nodiscard]] Allocate message() const { return message_; }

 private:
  Request& add(ItemKind kind, std::string_view name, std::uint32_t count);
  Request& replace_cpus();

  Allocate message_;
  std::string fault_;
};

}  // namespace meterbank::pmu
