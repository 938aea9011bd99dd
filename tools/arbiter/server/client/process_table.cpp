// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/client/process_table.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/peer_process.hpp"
#include "meterbank/base/process_facts.hpp"

namespace meterbank::arbiter {
namespace {

// Users in more groups than that are rare; for them the groups do not count.
constexpr std::size_t kGroupsRead = 1024;
constexpr std::size_t kTextBytesMax = 4096;

std::vector<std::uint32_t> groups_of(int socket) {
  std::vector<std::uint32_t> groups(kGroupsRead);
  auto bytes = static_cast<socklen_t>(groups.size() * sizeof groups[0]);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) return {};
  groups.resize(bytes / sizeof groups[0]);
  return groups;
}

// The line "0::/path" of /proc/PID/cgroup.
std::string unified_path_in(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("0::")) return std::string(line.substr(3));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

}  // namespace

Result<ProcessTable> ProcessTable::open() {
  ProcessTable table;
  table.directory_.reset(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!table.directory_) return fail(ErrorCode::kSystem, "open /proc", "mount it", errno);
  return table;
}

std::string ProcessTable::read_small(const std::string& path) const {
  const UniqueFd file(::openat(directory_.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return {};
  std::array<char, kTextBytesMax> text;
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : std::string();
}

void ProcessTable::describe(ClientIdentity& identity) const {
  const std::string process = std::to_string(identity.pid);
  const auto stat = parse_process_stat(read_small(process + "/stat"));
  identity.start_time = stat ? stat->start_time : 0;
  identity.program = read_small(process + "/comm");
  if (!identity.program.empty() && identity.program.back() == '\n') identity.program.pop_back();
  identity.cgroup = unified_path_in(read_small(process + "/cgroup"));
  // Of another user's process it may be read with CAP_SYS_PTRACE only.
  std::array<char, kTextBytesMax> target;
  const std::string link = process + "/exe";
  const ssize_t count = ::readlinkat(directory_.get(), link.c_str(), target.data(), target.size());
  if (count > 0) identity.executable.assign(target.data(), static_cast<std::size_t>(count));
}

Result<Peer> ProcessTable::peer_of(int socket) const {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return fail(ErrorCode::kSystem, "credentials of a client", {}, errno);
  }
  const std::string client = "the process of user " + std::to_string(credentials.uid) +
                             " with id " + std::to_string(credentials.pid);
  Peer peer;
  peer.identity.pid = static_cast<std::uint32_t>(credentials.pid);
  peer.identity.uid = credentials.uid;
  peer.identity.gid = credentials.gid;
  PeerProcess process = peer_process(socket, clock_ns(CLOCK_BOOTTIME));
  switch (process.found) {
    case PeerProcess::Found::kProcess:
      break;
    case PeerProcess::Found::kEnded:
      return fail(ErrorCode::kGone, client + " has ended");
    case PeerProcess::Found::kNoRoom:
      return fail(ErrorCode::kLimit, "no descriptor for " + client, "raise the limit: ulimit -n");
    case PeerProcess::Found::kNotPossible:
      return fail(ErrorCode::kSystem, "cannot hold " + client,
                  "allow pidfd_open() and /proc, or run Linux 6.5 or newer");
  }
  peer.process = std::move(process.descriptor);
  peer.identity.groups = groups_of(socket);
  describe(peer.identity);
  // While it runs no other process has its number: what was read is of this process.
  if (has_ended(peer.process.get())) return fail(ErrorCode::kGone, client + " has ended");
  return peer;
}

bool ProcessTable::has_thread(std::uint32_t pid, std::uint32_t tid) const {
  const std::string path = std::to_string(pid) + "/task/" + std::to_string(tid);
  return ::faccessat(directory_.get(), path.c_str(), F_OK, 0) == 0;
}

bool ProcessTable::is_counter(int descriptor, std::uint64_t kernel_id) const {
  constexpr std::string_view kCounter = "anon_inode:[perf_event]";
  const std::string path = "self/fd/" + std::to_string(descriptor);
  std::array<char, 64> target;
  const ssize_t count = ::readlinkat(directory_.get(), path.c_str(), target.data(), target.size());
  if (count < 0) return false;
  if (std::string_view(target.data(), static_cast<std::size_t>(count)) != kCounter) return false;
  std::uint64_t id = 0;
  return ::ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0 && id == kernel_id;
}

}  // namespace meterbank::arbiter
