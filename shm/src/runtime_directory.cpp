// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "meterbank/base/directory_stream.hpp"
#include "meterbank/base/process_facts.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {
namespace {

// Of all the directories of directories together.
constexpr std::uint64_t kDirectoryObjectsMax = std::uint64_t{1} << 20;

bool is_tmpfs(const std::string& path) noexcept {
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) == 0 && facts.f_type == TMPFS_MAGIC;
}

std::string from_environment(const char* variable) {
  const char* value = ::secure_getenv(variable);  // null in set-uid programs
  return value == nullptr ? std::string() : std::string(value);
}

// A uid as std::to_string() prints it: one name for each user.
std::optional<uid_t> parse_uid(std::string_view text) noexcept {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return uid;
}

void add_once(std::vector<std::string>& paths, std::string path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

// Adds a directory that belongs to the user whose name it bears, and counts any other.
void add_directory_of(uid_t uid, std::string path, SegmentDirectories& found) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return;
  if (facts.st_uid == uid && S_ISDIR(facts.st_mode)) {
    add_once(found.paths, std::move(path));
  } else {
    ++found.squatted[facts.st_uid];
  }
}

// The directories `parent`/`prefix`UID`suffix`. Any user can fill the parent with names, so that
// only names that bear a uid cost more than their entry.
void add_directories_of_users(const std::string& parent, std::string_view prefix,
                              std::string_view suffix, SegmentDirectories& found) {
  const DirectoryStream directory(::opendir(parent.c_str()));
  if (directory == nullptr) return;
  while (const dirent* item = ::readdir(directory.get())) {
    if (++found.objects > kDirectoryObjectsMax) {
      found.is_whole = false;
      return;
    }
    std::string_view name = item->d_name;
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    const auto uid = parse_uid(name);
    if (!uid) continue;
    std::string path = parent + "/" + item->d_name;
    path += suffix;
    add_directory_of(*uid, std::move(path), found);
  }
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool is_usable_system_directory(const std::string& path) noexcept {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == 0 &&
         !is_open_to_removal(facts.st_mode, facts.st_uid) &&
         ::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

}  // namespace

std::vector<std::string> split_directories(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto end = std::min(list.find(':'), list.size());
    if (end > 0) add_once(parts, std::string(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

bool is_open_to_removal(std::uint32_t mode, std::uint32_t owner) noexcept {
  if ((mode & S_ISVTX) != 0) return false;
  return (mode & S_IWOTH) != 0 || ((mode & S_IWGRP) != 0 && owner != 0);
}

std::string remedy_for_open_directory(const std::string& directory) {
  return "chmod +t " + directory + ", or chmod go-w if only its owner writes there";
}

std::vector<std::string> provider_directories(const DirectoryRoots& roots) {
  if (auto named = split_directories(from_environment("METERBANK_DIR")); !named.empty()) {
    return named;
  }
  const uid_t user = ::geteuid();
  if (is_usable_system_directory(roots.system)) return {roots.system};
  if (const std::string session = from_environment("XDG_RUNTIME_DIR");
      !session.empty() && is_tmpfs(session)) {
    return {session + "/meterbank"};
  }
  if (user == 0 && is_tmpfs(parent_of(roots.system))) return {roots.system};
  return {roots.shared_memory + "/meterbank-" + std::to_string(user)};
}

SegmentDirectories segment_directories(bool everyone, const DirectoryRoots& roots) {
  SegmentDirectories found;
  found.paths = provider_directories(roots);
  if (!everyone || !from_environment("METERBANK_DIR").empty()) return found;
  struct stat facts {};
  if (::lstat(roots.system.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    add_once(found.paths, roots.system);
  }
  // By name first, so that nothing hides those of this user and of root.
  const auto shared_memory_of = [&roots](uid_t uid) {
    return roots.shared_memory + "/meterbank-" + std::to_string(uid);
  };
  SegmentDirectories direct;
  add_directory_of(::geteuid(), shared_memory_of(::geteuid()), direct);
  add_directory_of(0, shared_memory_of(0), direct);
  for (std::string& path : direct.paths) add_once(found.paths, std::move(path));
  add_directories_of_users(roots.sessions, "", "/meterbank", found);
  add_directories_of_users(roots.shared_memory, "meterbank-", "", found);
  return found;
}

Result<void> prepare_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kNoDirectory, "create " + directory,
                "create it yourself or set METERBANK_DIR", errno);
  }
  const UniqueFd opened(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!opened) {
    const int reason = errno;
    const bool out_of_files = reason == EMFILE || reason == ENFILE;
    return fail(ErrorCode::kNoDirectory, "open directory " + directory,
                out_of_files ? "raise the limit of open files: ulimit -n"
                             : "it must be a directory, not a link; or set METERBANK_DIR",
                reason);
  }
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0) {
    return fail(ErrorCode::kNoDirectory, "inspect " + directory, {}, errno);
  }
  // What the kernel says of an owner whom a user namespace does not have.
  constexpr uid_t kOverflowUid = 65534;
  if (facts.st_uid == kOverflowUid && facts.st_uid != ::geteuid() && is_in_user_namespace()) {
    return fail(
        ErrorCode::kNoDirectory,
        directory + " belongs to a user whom this user namespace does not have",
        "chown it, from outside, to root of this namespace or this user, or set METERBANK_DIR");
  }
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return fail(ErrorCode::kNoDirectory,
                "user " + std::to_string(facts.st_uid) + " has taken " + directory +
                    ", where records of user " + std::to_string(::geteuid()) + " go",
                "remove it as that user or as root, or set METERBANK_DIR");
  }
  if (is_open_to_removal(facts.st_mode, facts.st_uid)) {
    return fail(ErrorCode::kNoDirectory, directory + " may be written by others",
                remedy_for_open_directory(directory));
  }
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return fail(ErrorCode::kNoDirectory, directory + " is not writable",
                "chmod u+wx it or set METERBANK_DIR", errno);
  }
  return {};
}

Result<std::string> prepare_first_directory(const std::vector<std::string>& directories) {
  std::optional<Error> first;
  for (const std::string& directory : directories) {
    auto prepared = prepare_directory(directory);
    if (prepared) return directory;
    if (!first) first = std::move(prepared.error());
  }
  if (first) return tl::make_unexpected(*std::move(first));
  return fail(ErrorCode::kNoDirectory, "no directory is named", "name one in METERBANK_DIR");
}

}  // namespace meterbank
