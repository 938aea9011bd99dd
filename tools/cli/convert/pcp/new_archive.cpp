// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/pcp/new_archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "meterbank/base/unique_fd.hpp"
#include "record/new_file.hpp"

namespace meterbank::cli {
namespace {

constexpr const char* kElsewhere = "another place with -o NAME";

Result<void> sync_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  constexpr mode_t kMode = 0640;  // as recordings have
  if (!file || ::fchmod(file.get(), kMode) != 0 || ::fsync(file.get()) != 0) {
    return fail(ErrorCode::kSystem, fmt::format("cannot write {}", path), kElsewhere, errno);
  }
  return {};
}

}  // namespace

Result<NewArchive> NewArchive::at(const std::string& path) {
  for (const char* const ending : {".0", ".meta", ".index"}) {
    struct stat facts {};
    const std::string file = path + ending;
    if (::lstat(file.c_str(), &facts) != 0) continue;
    return fail(ErrorCode::kExists, fmt::format("{} exists", file), "another -o, or remove it");
  }
  const std::string folder = fmt::format("{}.{}.part", path, ::getpid());
  // Of an earlier process of this number.
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  constexpr mode_t kMode = 0750;
  if (::mkdir(folder.c_str(), kMode) != 0) {
    const bool is_full = errno == ENOSPC || errno == EDQUOT;
    return fail(is_full ? ErrorCode::kNoSpace : ErrorCode::kSystem,
                fmt::format("cannot write {}", path), kElsewhere, errno);
  }
  return NewArchive(path, folder);
}

NewArchive::~NewArchive() {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// The index last: programs of PCP take what has one for an archive.
std::vector<std::string> NewArchive::endings() const {
  std::vector<std::string> endings;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(folder_, failed)) {
    endings.push_back(file.path().extension().string());
  }
  std::sort(endings.begin(), endings.end(), [](const auto& left, const auto& right) {
    return std::pair(left == ".index", left) < std::pair(right == ".index", right);
  });
  return endings;
}

Result<void> NewArchive::keep() {
  const auto all = endings();
  for (const std::string& ending : all) {
    if (auto synced = sync_file(base() + ending); !synced) return synced;
  }
  std::vector<std::string> named;
  for (const std::string& ending : all) {
    if (auto moved = record::give_new_name(base() + ending, path_ + ending); !moved) {
      for (const std::string& file : named) ::unlink(file.c_str());
      return moved;
    }
    named.push_back(path_ + ending);
  }
  if (const auto above = record::directory_above(path_)) ::fsync(above.get());
  return {};
}

}  // namespace meterbank::cli
