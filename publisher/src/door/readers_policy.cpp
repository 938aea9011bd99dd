// SPDX-License-Identifier: Apache-2.0
#include "readers_policy.hpp"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "meterbank/shm/utf8.hpp"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59  // Linux 4.13
#endif

namespace meterbank::detail {
namespace {

constexpr std::string_view kGroup = "group:";

std::optional<gid_t> group_number(const std::string& name) {
  gid_t gid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), gid);
  if (error == std::errc{} && end == name.data() + name.size()) return gid;
  std::vector<char> room(1024);
  for (;;) {
    struct group entry {};
    struct group* found = nullptr;
    const int failed = ::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
    if (failed == EINTR) continue;
    constexpr std::size_t kRoomMax = std::size_t{1} << 20;
    if (failed == ERANGE && room.size() < kRoomMax) {
      room.resize(room.size() * 2);
      continue;
    }
    if (found == nullptr) return std::nullopt;
    return found->gr_gid;
  }
}

}  // namespace

Result<ReadersPolicy> ReadersPolicy::parse(std::string_view text, std::string_view source) {
  ReadersPolicy policy;
  policy.owner_ = ::geteuid();
  if (text == "owner") return policy;
  if (text == "everyone") {
    policy.everyone_ = true;
    return policy;
  }
  const std::string what =
      std::string(source) + " '" + escape_for_terminal(std::string(text)) + "'";
  if (!text.starts_with(kGroup) || text.size() == kGroup.size()) {
    return fail(ErrorCode::kInvalidArgument, what + " is not a choice of readers",
                "owner, everyone or group:NAME");
  }
  policy.group_ = group_number(std::string(text.substr(kGroup.size())));
  if (!policy.group_) {
    return fail(ErrorCode::kInvalidArgument, what + ": there is no such group",
                "create it, or write group:GID with its number");
  }
  return policy;
}

Result<ReadersPolicy> ReadersPolicy::choose(std::string_view option, const std::string& directory) {
  if (const char* named = ::secure_getenv("METERBANK_READERS"); named != nullptr && *named != 0) {
    return parse(named, "METERBANK_READERS");
  }
  if (!option.empty()) return parse(option, "ProviderOptions::readers");
  ReadersPolicy policy;
  policy.owner_ = ::geteuid();
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) == 0 && (facts.st_mode & S_ISGID) != 0) {
    policy.group_ = facts.st_gid;
  }
  return policy;
}

bool ReadersPolicy::admits(uid_t uid, std::span<const gid_t> groups) const noexcept {
  if (everyone_ || uid == 0 || uid == owner_) return true;
  return group_ && std::find(groups.begin(), groups.end(), *group_) != groups.end();
}

std::vector<gid_t> peer_groups(int socket, gid_t primary) {
  std::vector<gid_t> groups(64);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int got = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    const std::size_t count = bytes / sizeof(gid_t);
    if (got != 0 && errno == ERANGE && count > groups.size()) {
      groups.resize(count);
      continue;
    }
    groups.resize(got == 0 ? std::min(count, groups.size()) : 0);
    groups.push_back(primary);
    return groups;
  }
}

}  // namespace meterbank::detail
