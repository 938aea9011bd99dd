// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/perf_calls.hpp"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace meterbank::arbiter {

int PerfCalls::open(const perf_event_attr& attributes, pid_t task, int cpu) {
  return open_in_group(attributes, task, cpu, -1);
}

int PerfCalls::open_in_group(const perf_event_attr& attributes, pid_t task, int cpu, int leader) {
  const long descriptor =
      ::syscall(SYS_perf_event_open, &attributes, task, cpu, leader, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

std::int64_t PerfCalls::read(int descriptor, std::span<std::uint64_t> words) {
  for (;;) {
    const ssize_t bytes = ::read(descriptor, words.data(), words.size_bytes());
    if (bytes >= 0) return bytes;
    if (errno != EINTR) return -errno;
  }
}

int PerfCalls::control(int descriptor, unsigned long request, void* argument) {
  return ::ioctl(descriptor, request, argument) < 0 ? -errno : 0;
}

void PerfCalls::close(int descriptor) { ::close(descriptor); }

}  // namespace meterbank::arbiter
