// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pmu/local_counter.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>
#include <utility>

#include "counter_page.hpp"
#include "local_state.hpp"
#include "meterbank/base/report_no_memory.hpp"
#include "registers.hpp"

namespace meterbank::pmu {
namespace {

std::uint32_t own_tid() noexcept {
  thread_local const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  return tid;
}

}  // namespace

namespace detail {

void OpenCounters::add(LocalCounter::State* state) {
  static const bool is_watched = (watch_forks(*this), true);
  static_cast<void>(is_watched);
  const std::lock_guard lock(mutex_);
  states_.push_back(state);
}

void OpenCounters::remove(const LocalCounter::State* state) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(states_, state);
}

bool OpenCounters::lock_for_fork() noexcept {
  mutex_.lock();
  return true;
}

void OpenCounters::leave_to_parent() noexcept {
  for (LocalCounter::State* const state : states_) {
    // A breakpoint stays taken as long as any process has its descriptor.
    state->close_event();
  }
  states_.clear();
}

OpenCounters& OpenCounters::of_process() noexcept {
  // In memory of its own, so that the first use cannot fail.
  alignas(OpenCounters) static std::byte memory[sizeof(OpenCounters)];
  static auto* const counters = new (memory) OpenCounters;
  return *counters;
}

bool is_event_descriptor(int descriptor) noexcept {
  constexpr std::string_view kName = "anon_inode:[perf_event]";
  if (descriptor < 0) return false;
  std::array<char, 64> path{};
  std::array<char, 64> name{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  const ssize_t bytes = ::readlink(path.data(), name.data(), name.size());
  return bytes > 0 && std::string_view(name.data(), static_cast<std::size_t>(bytes)) == kName;
}

Result<LocalCounter> open_of_lease(UniqueFd event, std::uint32_t tid, std::shared_ptr<Held> held) {
  auto counter = LocalCounter::open(std::move(event), tid);
  if (!counter) return counter;
  counter->state_->token = held->claimed();
  counter->state_->held = std::move(held);
  return counter;
}

}  // namespace detail

LocalCounter::State::~State() {
  detail::OpenCounters::of_process().remove(this);
  // A child has not inherited the page, and may have memory of its own there.
  if (page != nullptr && !is_inherited()) ::munmap(page, page_bytes);
  close_event();
}

void LocalCounter::State::close_event() noexcept {
  // The program may have closed it by its number, and have another file there.
  if (!detail::is_event_descriptor(event.get())) static_cast<void>(event.release());
  event.reset();
}

LocalCounter::LocalCounter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LocalCounter::LocalCounter(LocalCounter&&) noexcept = default;
LocalCounter& LocalCounter::operator=(LocalCounter&&) noexcept = default;
LocalCounter::~LocalCounter() = default;

Result<LocalCounter> LocalCounter::open(UniqueFd event, std::uint32_t tid) {
  return report_no_memory([&]() -> Result<LocalCounter> {
    if (!detail::is_event_descriptor(event.get())) {
      return fail(ErrorCode::kInvalidArgument, "a descriptor that is of no performance event");
    }
    auto state = std::make_unique<State>();
    state->event = std::move(event);
    state->owner = tid;
    state->page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const page =
        ::mmap(nullptr, state->page_bytes, PROT_READ, MAP_SHARED, state->event.get(), 0);
    // Uncore and CPU-wide events of some kernels have no page: then the kernel is asked each time.
    state->page = page == MAP_FAILED ? nullptr : page;
    if (state->page != nullptr) ::madvise(state->page, state->page_bytes, MADV_DONTFORK);
    detail::OpenCounters::of_process().add(state.get());
    return LocalCounter(std::move(state));
  });
}

int LocalCounter::descriptor() const noexcept { return state_ ? state_->event.get() : -1; }

namespace detail {

Result<LocalValue> value_of_read(ssize_t bytes, const ReadWords& words) {
  if (bytes == 0) {
    return fail(ErrorCode::kGone, "the counter was lost: another process has it",
                "ask the arbiter for it again");
  }
  if (bytes < 0) return fail(ErrorCode::kSystem, "cannot read a counter", "", errno);
  if (static_cast<std::size_t>(bytes) < 3 * sizeof(std::uint64_t)) {
    return fail(ErrorCode::kCorrupt, "an event that tells no times");
  }
  return LocalValue{.value = words[0], .enabled_ns = words[1], .running_ns = words[2]};
}

}  // namespace detail

Result<LocalValue> LocalCounter::State::read() const {
  if (is_inherited()) return fail(ErrorCode::kForked, "a counter of the parent process");
  if (page != nullptr && owner == own_tid()) {
    detail::Registers registers;
    const auto* const shown = static_cast<const perf_event_mmap_page*>(page);
    const detail::PageReading reading = detail::read_page(*shown, registers);
    if (reading.outcome == detail::PageOutcome::kDirect) {
      return LocalValue{.value = reading.value,
                        .enabled_ns = reading.enabled_ns,
                        .running_ns = reading.running_ns,
                        .is_direct = true};
    }
  }
  detail::ReadWords words{};
  ssize_t bytes = 0;
  do {
    bytes = ::read(event.get(), words.data(), sizeof words);
  } while (bytes < 0 && errno == EINTR);
  return detail::value_of_read(bytes, words);
}

Result<LocalValue> LocalCounter::read() const {
  return report_no_memory([&]() -> Result<LocalValue> {
    if (state_ == nullptr) return fail(ErrorCode::kClosed, "a counter that was moved from");
    auto value = state_->read();
    if (!value || state_->held == nullptr) return value;
    // After the value: what is in force now was when it was read.
    if (!state_->held->use() || state_->held->claimed() != state_->token) {
      return fail(ErrorCode::kClosed, "the lease of this counter has ended, or was granted anew",
                  "Lease::local() once more");
    }
    return value;
  });
}

}  // namespace meterbank::pmu
