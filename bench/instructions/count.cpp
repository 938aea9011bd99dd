// SPDX-License-Identifier: Apache-2.0
#include "instructions/count.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#ifdef METERBANK_BENCH_CALLGRIND
#include <valgrind/callgrind.h>
#endif

namespace meterbank::bench {
namespace {

// A counter of this thread, off. Negative: the machine has none, or this user may not have it.
int open_counter() noexcept {
  perf_event_attr wanted = {};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.disabled = 1;
  wanted.pinned = 1;  // all the time or not at all
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

int counter() noexcept {
  thread_local const int file = open_counter();
  return file;
}

#ifdef METERBANK_BENCH_CALLGRIND

// The value of callgrind's --callgrind-out-file, which CallgrindCounts sets. Empty: not told.
std::string callgrind_file() {
  const char* const file = std::getenv("METERBANK_BENCH_CALLGRIND");
  return RUNNING_ON_VALGRIND != 0 && file != nullptr ? file : "";
}

// Callgrind tells a program nothing; it writes FILE.1, FILE.2 and so on when it is asked to.
std::optional<std::uint64_t> next_total() {
  static unsigned dumps = 0;
  const std::string path = callgrind_file() + "." + std::to_string(++dumps);
  std::ifstream file(path);
  constexpr std::string_view kTotals = "totals: ";
  std::optional<std::uint64_t> total;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kTotals)) total = std::stoull(line.substr(kTotals.size()));
  }
  ::unlink(path.c_str());
  return total;
}

#endif

}  // namespace

bool can_count_instructions() {
#ifdef METERBANK_BENCH_CALLGRIND
  if (!callgrind_file().empty()) return true;
#endif
  return counter() >= 0;
}

void start_counting_instructions() {
#ifdef METERBANK_BENCH_CALLGRIND
  if (!callgrind_file().empty()) {
    CALLGRIND_START_INSTRUMENTATION;
    return;
  }
#endif
  ::ioctl(counter(), PERF_EVENT_IOC_RESET, 0);
  ::ioctl(counter(), PERF_EVENT_IOC_ENABLE, 0);
}

std::optional<std::uint64_t> stop_counting_instructions() {
#ifdef METERBANK_BENCH_CALLGRIND
  if (!callgrind_file().empty()) {
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    return next_total();
  }
#endif
  ::ioctl(counter(), PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t value = 0;
  if (::read(counter(), &value, sizeof value) != sizeof value) return {};
  return value;
}

}  // namespace meterbank::bench
