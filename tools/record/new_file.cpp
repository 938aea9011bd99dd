// SPDX-License-Identifier: Apache-2.0
#include "record/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace meterbank::record {
namespace {

tl::unexpected<Error> is_there(const std::string& path) {
  return fail(ErrorCode::kExists, fmt::format("{} exists", path), "another -o, or remove the file");
}

}  // namespace

UniqueFd directory_above(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return UniqueFd(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

NewFile::NewFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.part", path_, ::getpid())) {}

Result<NewFile> NewFile::at(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) return is_there(path);
  NewFile file(path);
  // Of an earlier process of this number.
  ::unlink(file.temporary_.c_str());
  return file;
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> NewFile::keep() {
  const UniqueFd file(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) {
    return fail(ErrorCode::kSystem, fmt::format("cannot write {}", path_),
                "another place with -o FILE", errno);
  }
  if (auto named = give_name(); !named) return named;
  if (const auto above = directory_above(path_)) ::fsync(above.get());
  return {};
}

Result<void> NewFile::give_name() {
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    temporary_.clear();
    return {};
  }
  if (errno == EEXIST) return is_there(path_);
  // A file system that knows no such rename knows links, or the name is still free.
  if (::link(temporary_.c_str(), path_.c_str()) == 0) return {};
  if (errno == EEXIST) return is_there(path_);
  struct stat facts {};
  if (::lstat(path_.c_str(), &facts) != 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0) {
    temporary_.clear();
    return {};
  }
  return fail(ErrorCode::kSystem, fmt::format("cannot make {}", path_),
              "another place with -o FILE", errno);
}

}  // namespace meterbank::record
