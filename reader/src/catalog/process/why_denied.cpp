// SPDX-License-Identifier: Apache-2.0
#include "why_denied.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "meterbank/base/process_facts.hpp"

namespace meterbank {

const char* name_of_root() noexcept {
  return is_in_user_namespace() ? "root outside of this user namespace" : "root";
}

DeniedCause why_denied(std::uint32_t pid, std::uint32_t owner) {
  const std::uint32_t own = ::geteuid();
  const std::string as_root = std::string("as ") + name_of_root();
  const bool in_user_namespace = is_in_user_namespace();
  if (own == 0 && !in_user_namespace) {
    return {"this reader runs as root without CAP_SYS_PTRACE", "give it CAP_SYS_PTRACE"};
  }
  const std::string user = std::to_string(owner);
  if (own != owner) {
    return {"it runs as another user (uid " + user + ")", "run as uid " + user + " or " + as_root};
  }
  // The directory /proc/PID itself keeps its owner, and what is in it does not.
  struct stat facts {};
  if (::stat(("/proc/" + std::to_string(pid) + "/fd").c_str(), &facts) == 0 &&
      facts.st_uid != owner) {
    return {
        "its process is not dumpable: it changed its user, has capabilities of its file, or "
        "said so by prctl()",
        "run " + as_root + ", or call prctl(PR_SET_DUMPABLE, 1) in the provider"};
  }
  if (in_user_namespace) {
    return {"it runs outside of this reader's user namespace, or with capabilities in it",
            "run outside of this user namespace"};
  }
  return {"its process has capabilities that this reader lacks, or a security module forbids it",
          "run " + as_root};
}

}  // namespace meterbank
