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

Result<void> give_new_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return is_there(to);
  // A file system that knows no such rename knows links, or the name is still free.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return {};
  }
  if (errno == EEXIST) return is_there(to);
  struct stat facts {};
  if (::lstat(to.c_str(), &facts) != 0 && std::rename(from.c_str(), to.c_str()) == 0) return {};
  return fail(ErrorCode::kSystem, fmt::format("cannot make {}", to), "another place with -o FILE",
              errno);
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
  if (auto named = give_new_name(temporary_, path_); !named) return named;
  temporary_.clear();
  if (const auto above = directory_above(path_)) ::fsync(above.get());
  return {};
}

}  // namespace meterbank::record
