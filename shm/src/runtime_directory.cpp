// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {
namespace {

constexpr const char* kSystemDirectory = "/run/meterbank";
constexpr const char* kSharedMemory = "/dev/shm";

bool is_tmpfs(const std::string& path) noexcept {
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) == 0 && facts.f_type == TMPFS_MAGIC;
}

std::string from_environment(const char* variable) {
  const char* value = ::secure_getenv(variable);  // null in set-uid programs
  return value == nullptr ? std::string() : std::string(value);
}

void append_children(const std::string& parent, const std::string& prefix,
                     const std::string& suffix, std::vector<std::string>& found) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(parent.c_str()), &::closedir);
  if (directory == nullptr) return;
  while (const dirent* item = ::readdir(directory.get())) {
    const std::string_view name = item->d_name;
    if (name.starts_with('.') || !name.starts_with(prefix)) continue;
    std::string path = parent + "/" + std::string(name) + suffix;
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) found.push_back(path);
  }
}

}  // namespace

std::string provider_directory() {
  if (std::string named = from_environment("METERBANK_DIR"); !named.empty()) return named;
  const uid_t user = ::geteuid();
  if (const std::string session = from_environment("XDG_RUNTIME_DIR");
      !session.empty() && is_tmpfs(session)) {
    return session + "/meterbank";
  }
  if (user == 0 && is_tmpfs("/run")) return kSystemDirectory;
  return std::string(kSharedMemory) + "/meterbank-" + std::to_string(user);
}

std::vector<std::string> segment_directories(bool everyone) {
  std::vector<std::string> found;
  found.push_back(provider_directory());
  if (!everyone || !from_environment("METERBANK_DIR").empty()) return found;
  std::vector<std::string> others;
  struct stat facts {};
  if (::lstat(kSystemDirectory, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    others.emplace_back(kSystemDirectory);
  }
  append_children("/run/user", "", "/meterbank", others);
  append_children(kSharedMemory, "meterbank-", "", others);
  for (std::string& directory : others) {
    if (directory != found.front()) found.push_back(std::move(directory));
  }
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
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return fail(ErrorCode::kNoDirectory,
                directory + " belongs to user " + std::to_string(facts.st_uid),
                "remove it or set METERBANK_DIR");
  }
  const bool others_write = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && (facts.st_mode & S_ISVTX) == 0) {
    return fail(ErrorCode::kNoDirectory, directory + " may be written by others",
                "chmod go-w " + directory);
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::kNoDirectory, directory + " is not writable",
                "chmod u+wx it or set METERBANK_DIR", errno);
  }
  return {};
}

std::uint64_t process_start_time(std::uint32_t pid) noexcept {
  char path[40];
  const auto end = std::to_chars(path + 6, path + 30, pid).ptr;
  std::copy_n("/proc/", 6, path);
  std::copy_n("/stat", 6, end);
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  char text[1024];
  const auto count = ::read(file.get(), text, sizeof text);
  if (count <= 0) return 0;
  // The command name may hold anything; the fields we want follow its last parenthesis.
  std::string_view rest(text, static_cast<std::size_t>(count));
  const auto name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  rest.remove_prefix(name_end + 1);
  for (int field = 3; field <= 22; ++field) {
    const auto start = rest.find_first_not_of(' ');
    if (start == std::string_view::npos) return 0;
    rest.remove_prefix(start);
    const auto stop = rest.find(' ');
    if (field == 22) {
      std::uint64_t ticks = 0;
      std::from_chars(rest.data(), rest.data() + (stop < rest.size() ? stop : rest.size()), ticks);
      return ticks;
    }
    if (stop == std::string_view::npos) return 0;
    rest.remove_prefix(stop);
  }
  return 0;
}

std::array<std::uint64_t, 2> boot_id() noexcept {
  std::array<std::uint64_t, 2> id{};
  const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file) return id;
  char text[64];
  const auto count = ::read(file.get(), text, sizeof text);
  if (count <= 0) return id;
  char* const end =
      std::remove_if(text, text + count, [](char c) { return c == '-' || c == '\n'; });
  if (end - text != 32) return id;
  std::from_chars(text, text + 16, id[0], 16);
  std::from_chars(text + 16, text + 32, id[1], 16);
  return id;
}

}  // namespace meterbank
