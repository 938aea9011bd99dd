// SPDX-License-Identifier: Apache-2.0
//
// A counter of a thread of this process, read by the thread itself: from the registers where the
// kernel and the machine allow it, else by read().
//
// Thread safety  Any thread may call read(); threads other than the counter's own always ask the
//                kernel, because their registers count something else.
// Errors         kGone if the counter was lost (a read of no bytes): that is never a zero. kClosed
//                if its lease has ended. kForked. kSystem, kCorrupt (not an event's answer).
// Progress       From registers: wait-free but for repeats while the kernel changes the page.
// Cost           From registers: no system call. Else one. bench/README.md has the figures.
// Lifetime       To be destroyed before the lease that it is of.
// Units          Counts of the event; nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::pmu {

class LocalCounter;
namespace detail {
struct Held;
Result<LocalCounter> open_of_lease(UniqueFd event, std::uint32_t tid, std::shared_ptr<Held> held);
class OpenCounters;
}  // namespace detail

struct LocalValue {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  // From a register; then the times are those of when the kernel last scheduled the counter, if
  // the page does not say how to bring them up to date.
  bool is_direct = false;
};

class LocalCounter {
 public:
  // Takes an event's descriptor over, opened with the format total time enabled | total time
  // running, of thread `tid`. Maps the page once: doing it again costs the kernel a grace period.
  // Errors: kInvalidArgument (no such descriptor); a page that cannot be mapped is not an error.
  static Result<LocalCounter> open(UniqueFd event, std::uint32_t tid);
  LocalCounter(LocalCounter&&) noexcept;
  LocalCounter& operator=(LocalCounter&&) noexcept;
  ~LocalCounter();

  [[nodiscard]] Result<LocalValue> read() const;
  // -1: moved from.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  friend class detail::OpenCounters;
  friend Result<LocalCounter> detail::open_of_lease(UniqueFd event, std::uint32_t tid,
                                                    std::shared_ptr<detail::Held> held);
  struct State;
  explicit LocalCounter(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::pmu
