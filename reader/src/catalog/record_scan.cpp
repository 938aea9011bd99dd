// SPDX-License-Identifier: Apache-2.0
#include "record_scan.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank {
namespace {

// A directory that others filled may cost time, but not without end.
constexpr std::uint64_t kObjectsMax = 65536;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using OpenDirectory = std::unique_ptr<DIR, CloseDirectory>;

const char* remedy_of(int reason) noexcept {
  switch (reason) {
    case ENOTDIR:
      return "name a directory in METERBANK_DIR";
    case ELOOP:
      return "name the directory itself, not a link to it";
    case EACCES:
      return "run as a user who may read it";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files: ulimit -n";
    default:
      return "start a provider, or set METERBANK_DIR to where providers write";
  }
}

struct DirectoryFacts {
  std::uint32_t owner = 0;
  bool shared = false;  // sticky and writable by others: each user has records of his own there
};

Result<OpenDirectory> open_directory(const std::string& path, DirectoryFacts& facts) {
  UniqueFd opened(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!opened) {
    const int reason = errno;
    return fail(ErrorCode::kNoDirectory, "open directory " + path, remedy_of(reason), reason);
  }
  struct stat stats {};
  if (::fstat(opened.get(), &stats) != 0) {
    return fail(ErrorCode::kNoDirectory, "inspect " + path, {}, errno);
  }
  const bool others_write = (stats.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = (stats.st_mode & S_ISVTX) != 0;
  if (others_write && !sticky) {
    return fail(ErrorCode::kNoDirectory, "directory " + path + " may be changed by others",
                "chmod go-w " + path);
  }
  facts.owner = stats.st_uid;
  facts.shared = others_write;
  OpenDirectory directory(::fdopendir(opened.get()));
  if (directory == nullptr) return fail(ErrorCode::kNoDirectory, "list " + path, {}, errno);
  static_cast<void>(opened.release());  // the stream closes it
  return directory;
}

// Fills in the owner and the record. False: not a record, or not one that may be believed.
bool read_record(int directory, const char* name, const DirectoryFacts& facts, FoundRecord& found) {
  const UniqueFd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return false;
  struct stat stats {};
  if (::fstat(file.get(), &stats) != 0) return false;
  if (!S_ISREG(stats.st_mode)) return false;
  if (stats.st_nlink != 1) return false;
  if (stats.st_uid != facts.owner && stats.st_uid != 0 && !facts.shared) return false;
  std::array<char, kPointerRecordBytesMax + 1> text;
  const auto count = ::read(file.get(), text.data(), text.size());
  if (count <= 0) return false;
  auto record = PointerRecord::parse({text.data(), static_cast<std::size_t>(count)});
  if (!record) return false;
  found.file_inode = stats.st_ino;
  found.owner = stats.st_uid;
  found.record = *std::move(record);
  return true;
}

}  // namespace

bool includes(UserPolicy users, std::uint32_t uid) noexcept {
  switch (users) {
    case UserPolicy::kOwn:
      return uid == ::geteuid();
    case UserPolicy::kOwnAndRoot:
      return uid == ::geteuid() || uid == 0;
    case UserPolicy::kEveryone:
      return true;
  }
  return false;
}

Result<RecordScan> scan_records(const std::string& path, UserPolicy users,
                                const KnowsRecord& knows) {
  DirectoryFacts facts;
  auto directory = open_directory(path, facts);
  if (!directory) return tl::make_unexpected(std::move(directory.error()));
  RecordScan scan;
  for (std::uint64_t objects = 0; objects < kObjectsMax; ++objects) {
    const dirent* item = ::readdir(directory->get());
    if (item == nullptr) break;
    const std::string_view name = item->d_name;
    if (name.starts_with('.')) continue;  // the directory itself, and records being written
    if (!name.ends_with(kPointerRecordSuffix)) {
      if (name.ends_with(kSocketSuffix)) continue;  // of a provider, found by its record
      ++scan.skipped;
      continue;
    }
    FoundRecord found;
    found.path = path + "/" + std::string(name);
    found.file_inode = item->d_ino;
    if (!knows(found.path, found.file_inode)) {
      if (!read_record(::dirfd(directory->get()), item->d_name, facts, found) ||
          !includes(users, found.owner)) {
        ++scan.skipped;
        continue;
      }
    }
    scan.found.push_back(std::move(found));
  }
  return scan;
}

}  // namespace meterbank
