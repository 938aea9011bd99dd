// SPDX-License-Identifier: Apache-2.0
#include "cli/session/runtime_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "meterbank/base/directory_stream.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Enough to name what is wrong; a directory full of rubbish is not listed to its end.
constexpr std::size_t kOddObjectsMax = 32;

Error describe(ErrorCode code, std::string what, std::string remedy, int number = 0) {
  return {code, number, std::move(what), std::move(remedy)};
}

std::string_view kind_text(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFLNK:
      return "a symbolic link";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "an unknown object";
  }
}

// Why a file with the name of a record is not a record. Opened without waiting: it may be a pipe.
std::optional<Error> record_fault(int directory, const char* name, const std::string& path) {
  const std::string remedy = "remove it; nothing in it is read";
  struct stat facts {};
  if (::fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode)) {
    return describe(ErrorCode::kCorrupt,
                    fmt::format("{}: {} in place of a record", path, kind_text(facts.st_mode)),
                    remedy);
  }
  if (facts.st_nlink != 1) {
    return describe(ErrorCode::kCorrupt, path + ": a record with a second name", remedy);
  }
  const UniqueFd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return describe(ErrorCode::kDenied, "read " + path, "as its owner, or as root", errno);
  std::array<char, kPointerRecordBytesMax + 1> text;
  const auto count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return describe(ErrorCode::kSystem, "read " + path, remedy, errno);
  const auto record = PointerRecord::parse({text.data(), static_cast<std::size_t>(count)});
  if (!record) {
    return describe(ErrorCode::kCorrupt,
                    fmt::format("{}: not a record: {}", path, record.error().what), remedy);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> directory_fault(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return describe(ErrorCode::kNoDirectory, "look at " + path, "METERBANK_DIR=another directory",
                    errno);
  }
  if (!S_ISDIR(facts.st_mode)) {
    return describe(ErrorCode::kNoDirectory, path + " is not a directory",
                    "METERBANK_DIR=another directory");
  }
  if (is_open_to_removal(facts.st_mode, facts.st_uid)) {
    return describe(ErrorCode::kNoDirectory, path + " may be written by others",
                    remedy_for_open_directory(path));
  }
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    return describe(ErrorCode::kDenied, path + " may not be read",
                    "as its owner, or chmod o+rx " + path);
  }
  return std::nullopt;
}

std::vector<OddObject> odd_objects(const std::string& directory) {
  std::vector<OddObject> odd;
  const DirectoryStream opened(::opendir(directory.c_str()));
  if (opened == nullptr) return odd;
  while (odd.size() < kOddObjectsMax) {
    const dirent* const item = ::readdir(opened.get());
    if (item == nullptr) break;
    const std::string_view name = item->d_name;
    if (name.starts_with('.') || is_called_like_socket(name)) continue;
    if (name == pmu::kArbiterSocket || name == pmu::kArbiterJournal) continue;
    const auto path = fmt::format("{}/{}", directory, escape_for_terminal(name));
    if (!name.ends_with(kPointerRecordSuffix)) {
      odd.push_back({describe(ErrorCode::kSystem, path + ": not of this library",
                              "nothing, if you know it; it is not read"),
                     false});
    } else if (auto fault = record_fault(::dirfd(opened.get()), item->d_name, path)) {
      odd.push_back({std::move(*fault), true});
    }
  }
  std::sort(odd.begin(), odd.end(),
            [](const OddObject& a, const OddObject& b) { return a.error.what < b.error.what; });
  return odd;
}

}  // namespace meterbank::cli
