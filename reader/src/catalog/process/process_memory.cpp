// SPDX-License-Identifier: Apache-2.0
#include "process_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "meterbank/shm/process_watch.hpp"
#include "why_denied.hpp"

namespace meterbank {

// Held by path first, so that nothing but the expected regular file is ever opened.
Result<UniqueFd> open_memory_of(std::uint32_t pid, std::uint32_t descriptor, std::uint64_t inode,
                                std::uint32_t owner) {
  const std::string there = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  const UniqueFd held(::open(there.c_str(), O_PATH | O_CLOEXEC));
  if (!held) {
    const int reason = errno;
    if (reason == EACCES || reason == EPERM) {
      DeniedCause cause = why_denied(pid, owner);
      return fail(ErrorCode::kDenied, "memory of process " + std::to_string(pid) + ": " + cause.why,
                  std::move(cause.remedy), reason);
    }
    return fail(is_shortage(reason) ? ErrorCode::kSystem : ErrorCode::kGone,
                "memory of process " + std::to_string(pid) + " (" + there + ")",
                is_shortage(reason) ? kMoreDescriptors : "", reason);
  }
  struct stat facts {};
  if (::fstat(held.get(), &facts) != 0 || facts.st_ino != inode || !S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::kGone, there + " is not the memory that the provider announced",
                "its record is stale: meterbank doctor --clean");
  }
  const std::string here = "/proc/self/fd/" + std::to_string(held.get());
  UniqueFd opened(::open(here.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) {
    const int reason = errno;
    const bool denied = reason == EACCES || reason == EPERM;
    return fail(denied ? ErrorCode::kDenied : ErrorCode::kSystem,
                "memory of process " + std::to_string(pid),
                denied                ? "the provider publishes for its owner and group only"
                : is_shortage(reason) ? kMoreDescriptors
                                      : "",
                reason);
  }
  return opened;
}

}  // namespace meterbank
