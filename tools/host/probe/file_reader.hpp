// SPDX-License-Identifier: Apache-2.0
//
// The only part of the probe that touches the file system: small kernel files below a root.
//
// Example:
//   FileReader files;                                   // the machine itself
//   if (auto text = files.read("proc/loadavg")) ...     // valid until the next call
//
// One buffer is reused for every file and one for every directory, so reading allocates only
// while a file is the largest one seen yet. A reader belongs to one thread.
#pragma once

#include <sys/statvfs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/probe/readings.hpp"

namespace meterbank::host {

inline constexpr std::size_t kPathBytesMax = 255;
inline constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

using PathText = FixedText<kPathBytesMax>;

// How the last call of a FileReader ended.
enum class ReadStatus {
  kRead,
  kAbsent,  // no such file, on this kernel or any more
  kDenied,  // it exists, and this user may not read it
  kGone,    // the process or device behind an open directory went away
  kFailed,  // anything else, such as a driver that answers "invalid argument"
};

// An open directory. A process directory keeps naming the process it was opened for: once that
// process is gone, reads fail, even if its number has been given to another one.
class DirectoryHandle {
 public:
  DirectoryHandle() = default;
  explicit DirectoryHandle(int descriptor) noexcept : descriptor_(descriptor) {}
  DirectoryHandle(DirectoryHandle&& other) noexcept;
  DirectoryHandle& operator=(DirectoryHandle&& other) noexcept;
  DirectoryHandle(const DirectoryHandle&) = delete;
  DirectoryHandle& operator=(const DirectoryHandle&) = delete;
  ~DirectoryHandle();

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

class FileReader {
 public:
  // A root that cannot be opened is not an error here: every file below it is absent.
  explicit FileReader(const std::string& root = "/");

  // Paths are relative to the root; a leading slash is ignored. The text lives until the next
  // call. A file above kFileBytesMax is cut after its last whole line.
  [[nodiscard]] std::optional<std::string_view> read(std::string_view path);
  [[nodiscard]] std::optional<std::string_view> read(const DirectoryHandle& directory,
                                                     std::string_view name);

  // A file that holds one unsigned number, as most of sysfs does.
  [[nodiscard]] std::optional<std::uint64_t> read_u64(std::string_view path);

  [[nodiscard]] bool exists(std::string_view path);
  [[nodiscard]] bool exists(const DirectoryHandle& directory, std::string_view name);

  [[nodiscard]] DirectoryHandle open_directory(std::string_view path);

  // Sizes of the file system on which the folder lies. No value: there is no such folder, or this
  // user may not reach it.
  [[nodiscard]] std::optional<struct statvfs> space(std::string_view folder);

  // Number of the device on which the root lies. No value: the root could not be opened.
  [[nodiscard]] std::optional<dev_t> root_device() const noexcept;

  // Replaces `numbers` by the names in `path` that are whole numbers below 2^32, ascending.
  [[nodiscard]] bool list_numbers(std::string_view path, std::vector<std::uint32_t>& numbers);

  // How many names a directory holds, "." and ".." not counted. For the descriptors of a process
  // newer kernels tell it as the size of the directory, even to callers that may not list it.
  [[nodiscard]] std::optional<std::uint64_t> count_names(const DirectoryHandle& directory,
                                                         std::string_view name);

  [[nodiscard]] ReadStatus status() const noexcept { return status_; }

 private:
  [[nodiscard]] int open_below(int directory, std::string_view path, int flags);
  [[nodiscard]] std::optional<std::string_view> read_below(int directory, std::string_view path);
  void remember_failure(int error) noexcept;

  DirectoryHandle root_;
  bool sizes_count_descriptors_ = false;
  ReadStatus status_ = ReadStatus::kAbsent;
  std::vector<char> file_bytes_;
  std::vector<char> directory_bytes_;
};

// Appends a path as kernel tables print it, with "\040" and the like as the bytes they stand for.
void append_unescaped(std::string_view printed, PathText& target) noexcept;

// Whether a name found in a file may be used as one part of a path.
[[nodiscard]] bool is_path_component(std::string_view name) noexcept;

}  // namespace meterbank::host
