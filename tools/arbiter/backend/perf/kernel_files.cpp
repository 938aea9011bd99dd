// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/kernel_files.hpp"
#include "meterbank/base/directory_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace meterbank::arbiter {

Result<UniqueFd> hold_directory(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(ErrorCode::kNoDirectory, path, {}, errno);
  return directory;
}

UniqueFd directory_at(int directory, const char* path) noexcept {
  return UniqueFd(::openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd file_at(int directory, const char* path) noexcept {
  return UniqueFd(::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::optional<std::string> text_of_file(int file) {
  std::array<char, kKernelFileBytesMax> bytes;
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t more =
        ::pread(file, bytes.data() + length, bytes.size() - length, static_cast<off_t>(length));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return std::nullopt;
    if (more == 0) break;
    length += static_cast<std::size_t>(more);
  }
  while (length > 0 && bytes[length - 1] == '\n') --length;
  return std::string(bytes.data(), length);
}

std::optional<std::string> text_at(int directory, const std::string& path) {
  const UniqueFd file = file_at(directory, path.c_str());
  if (!file) return std::nullopt;
  return text_of_file(file.get());
}

std::optional<CpuSet> cpus_at(int directory, const std::string& path) {
  const std::optional<std::string> text = text_at(directory, path);
  if (!text.has_value()) return std::nullopt;
  Result<CpuSet> cpus = CpuSet::parse(*text);
  if (!cpus.has_value()) return std::nullopt;
  return *std::move(cpus);
}

std::vector<std::string> names_at(int directory, const char* path) {
  const DirectoryStream stream = directory_stream(directory_at(directory, path));
  if (stream == nullptr) return {};
  std::vector<std::string> names;
  while (names.size() < kKernelEntriesMax) {
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace meterbank::arbiter
