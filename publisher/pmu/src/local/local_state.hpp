// SPDX-License-Identifier: Apache-2.0
//
// Behind a LocalCounter, and the list of them that a fork has to close.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../link/held.hpp"
#include "meterbank/base/fork_watch.hpp"
#include "meterbank/base/one_process.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pmu/local_counter.hpp"

namespace meterbank::pmu {

struct LocalCounter::State : OfOneProcess {
  State() = default;
  ~State();
  void close_event() noexcept;

  [[nodiscard]] Result<LocalValue> read() const;

  UniqueFd event;
  std::uint32_t owner = 0;  // the thread that is counted
  void* page = nullptr;     // null: none, the kernel is asked
  std::size_t page_bytes = 0;
  std::shared_ptr<detail::Held> held;  // null: of no lease
  Token token = 0;                     // of the lease when this was opened
};

namespace detail {

// Thread safety: any thread may call any function.
class OpenCounters final : private ForkWatcher {
 public:
  // Never destroyed: a fork in a static destructor still asks for it.
  static OpenCounters& of_process() noexcept;

  // Errors: std::bad_alloc.
  void add(LocalCounter::State* state);
  void remove(const LocalCounter::State* state) noexcept;

 private:
  bool lock_for_fork() noexcept override;
  void unlock_after_fork() noexcept override { mutex_.unlock(); }
  void leave_to_parent() noexcept override;

  std::mutex mutex_;
  std::vector<LocalCounter::State*> states_;
};

// What the kernel calls an event: a file of perf_event_open, and nothing else.
[[nodiscard]] bool is_event_descriptor(int descriptor) noexcept;

// What read() of an event gives: value, enabled, running; an id and a count of lost records may
// follow.
using ReadWords = std::array<std::uint64_t, 5>;
// `bytes` is what read() returned.
[[nodiscard]] Result<LocalValue> value_of_read(ssize_t bytes, const ReadWords& words);

[[nodiscard]] Result<LocalCounter> open_of_lease(UniqueFd event, std::uint32_t tid,
                                                 std::shared_ptr<Held> held);

}  // namespace detail
}  // namespace meterbank::pmu
