// SPDX-License-Identifier: Apache-2.0
#include "host/probe/file_reader.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace meterbank::host {
namespace {

constexpr std::size_t kFileBytesAtFirst = std::size_t{64} << 10;
constexpr std::size_t kDirectoryBytes = std::size_t{32} << 10;

// The system calls want a terminated path; a name with a zero byte inside would name another file.
class TerminatedPath {
 public:
  explicit TerminatedPath(std::string_view path) noexcept {
    while (!path.empty() && path.front() == '/') path.remove_prefix(1);
    if (path.empty()) return;
    if (path.size() > kPathBytesMax) return;
    if (path.find('\0') != std::string_view::npos) return;
    std::memcpy(bytes_.data(), path.data(), path.size());
    is_usable_ = true;
  }

  [[nodiscard]] bool is_usable() const noexcept { return is_usable_; }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, kPathBytesMax + 1> bytes_{};
  bool is_usable_ = false;
};

ssize_t read_retrying(int descriptor, char* target, std::size_t size) noexcept {
  ssize_t count = 0;
  do {
    count = ::read(descriptor, target, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

bool is_octal(char c) noexcept { return c >= '0' && c <= '7'; }

bool is_dot_name(std::string_view name) noexcept { return name == "." || name == ".."; }

// Calls `visit` for each name; false: the kernel stopped with an error.
template <typename Visit>
bool visit_names(int descriptor, std::vector<char>& bytes, Visit visit) {
  for (;;) {
    const ssize_t count = ::getdents64(descriptor, bytes.data(), bytes.size());
    if (count < 0) return false;
    if (count == 0) return true;
    std::size_t offset = 0;
    while (offset < static_cast<std::size_t>(count)) {
      const char* const record = bytes.data() + offset;
      unsigned short record_bytes = 0;
      std::memcpy(&record_bytes, record + offsetof(dirent64, d_reclen), sizeof(record_bytes));
      const std::string_view name(record + offsetof(dirent64, d_name));
      if (!is_dot_name(name)) visit(name);
      offset += record_bytes;
    }
  }
}

}  // namespace

MachineUnits MachineUnits::of_this_machine() noexcept {
  MachineUnits units;
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (ticks > 0) units.ticks_per_second = static_cast<std::uint64_t>(ticks);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (page > 0) units.page_bytes = static_cast<std::uint64_t>(page);
  return units;
}

void append_unescaped(std::string_view printed, PathText& target) noexcept {
  while (!printed.empty()) {
    const bool is_escape = printed.size() >= 4 && printed[0] == '\\' && printed[1] <= '3' &&
                           is_octal(printed[1]) && is_octal(printed[2]) && is_octal(printed[3]);
    char byte = printed[0];
    if (is_escape) {
      byte =
          static_cast<char>((printed[1] - '0') * 64 + (printed[2] - '0') * 8 + (printed[3] - '0'));
    }
    target.append(std::string_view(&byte, 1));
    printed.remove_prefix(is_escape ? 4 : 1);
  }
}

bool is_path_component(std::string_view name) noexcept {
  if (name.empty() || is_dot_name(name)) return false;
  return name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

DirectoryHandle::DirectoryHandle(DirectoryHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryHandle& DirectoryHandle::operator=(DirectoryHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DirectoryHandle::~DirectoryHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileReader::FileReader(const std::string& root)
    : root_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      file_bytes_(kFileBytesAtFirst),
      directory_bytes_(kDirectoryBytes) {
  // On a disk file system the size of a directory counts bytes, so only procfs is believed.
  const DirectoryHandle proc = open_directory("proc");
  struct statfs filesystem {};
  if (proc.is_open() && ::fstatfs(proc.descriptor(), &filesystem) == 0) {
    sizes_count_descriptors_ = filesystem.f_type == PROC_SUPER_MAGIC;
  }
}

void FileReader::remember_failure(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENOTSUP:
      status_ = ReadStatus::kAbsent;
      return;
    case EACCES:
    case EPERM:
      status_ = ReadStatus::kDenied;
      return;
    case ESRCH:
    case ENODEV:
    case ENXIO:
      status_ = ReadStatus::kGone;
      return;
    default:
      status_ = ReadStatus::kFailed;
  }
}

int FileReader::open_below(int directory, std::string_view path, int flags) {
  const TerminatedPath terminated(path);
  // A negative number here could be AT_FDCWD, which would read below the working directory.
  if (directory < 0 || !terminated.is_usable()) {
    status_ = directory < 0 ? ReadStatus::kAbsent : ReadStatus::kFailed;
    return -1;
  }
  int descriptor = -1;
  do {
    descriptor = ::openat(directory, terminated.c_str(), flags | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    remember_failure(errno);
    return -1;
  }
  status_ = ReadStatus::kRead;
  return descriptor;
}

std::optional<std::string_view> FileReader::read_below(int directory, std::string_view path) {
  // Non-blocking, so that a pipe planted in the tree cannot hold the caller for ever.
  const DirectoryHandle file(open_below(directory, path, O_RDONLY | O_NOCTTY | O_NONBLOCK));
  if (!file.is_open()) return std::nullopt;
  std::size_t size = 0;
  for (;;) {
    if (size == file_bytes_.size()) {
      if (size >= kFileBytesMax) {
        const std::size_t last = std::string_view(file_bytes_.data(), size).rfind('\n');
        return std::string_view(file_bytes_.data(), last == std::string_view::npos ? 0 : last + 1);
      }
      file_bytes_.resize(std::min(size * 2, kFileBytesMax));
    }
    const ssize_t count =
        read_retrying(file.descriptor(), file_bytes_.data() + size, file_bytes_.size() - size);
    if (count < 0) {
      remember_failure(errno);
      return std::nullopt;
    }
    if (count == 0) return std::string_view(file_bytes_.data(), size);
    size += static_cast<std::size_t>(count);
  }
}

std::optional<std::string_view> FileReader::read(std::string_view path) {
  return read_below(root_.descriptor(), path);
}

std::optional<std::string_view> FileReader::read(const DirectoryHandle& directory,
                                                 std::string_view name) {
  return read_below(directory.descriptor(), name);
}

std::optional<std::uint64_t> FileReader::read_u64(std::string_view path) {
  const std::optional<std::string_view> text = read(path);
  if (!text) return std::nullopt;
  return parse_u64(trim(*text));
}

bool FileReader::exists(std::string_view path) { return exists(root_, path); }

bool FileReader::exists(const DirectoryHandle& directory, std::string_view name) {
  return DirectoryHandle(open_below(directory.descriptor(), name, O_PATH)).is_open();
}

DirectoryHandle FileReader::open_directory(std::string_view path) {
  return DirectoryHandle(open_below(root_.descriptor(), path, O_RDONLY | O_DIRECTORY));
}

std::optional<struct statvfs> FileReader::space(std::string_view folder) {
  const std::string_view path = folder == "/" ? std::string_view(".") : folder;
  const DirectoryHandle directory(open_below(root_.descriptor(), path, O_PATH | O_DIRECTORY));
  struct statvfs status {};
  if (!directory.is_open()) return std::nullopt;
  if (::fstatvfs(directory.descriptor(), &status) != 0) {
    remember_failure(errno);
    return std::nullopt;
  }
  return status;
}

std::optional<dev_t> FileReader::root_device() const noexcept {
  struct stat facts {};
  if (!root_.is_open() || ::fstat(root_.descriptor(), &facts) != 0) return std::nullopt;
  return facts.st_dev;
}

bool FileReader::list_numbers(std::string_view path, std::vector<std::uint32_t>& numbers) {
  numbers.clear();
  const DirectoryHandle directory = open_directory(path);
  if (!directory.is_open()) return false;
  const bool is_complete =
      visit_names(directory.descriptor(), directory_bytes_, [&](std::string_view name) {
        const std::optional<std::uint32_t> number = parse_integer<std::uint32_t>(name);
        if (number) numbers.push_back(*number);
      });
  if (!is_complete) remember_failure(errno);
  // A listing that runs while processes come and go may name one twice.
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return is_complete;
}

std::optional<std::uint64_t> FileReader::count_names(const DirectoryHandle& directory,
                                                     std::string_view name) {
  const TerminatedPath path(name);
  if (sizes_count_descriptors_ && directory.is_open() && path.is_usable()) {
    struct stat status {};
    if (::fstatat(directory.descriptor(), path.c_str(), &status, 0) == 0 && status.st_size > 0) {
      status_ = ReadStatus::kRead;
      return static_cast<std::uint64_t>(status.st_size);
    }
  }
  const DirectoryHandle listed(open_below(directory.descriptor(), name, O_RDONLY | O_DIRECTORY));
  if (!listed.is_open()) return std::nullopt;
  std::uint64_t count = 0;
  if (!visit_names(listed.descriptor(), directory_bytes_, [&](std::string_view) { ++count; })) {
    remember_failure(errno);
    return std::nullopt;
  }
  return count;
}

}  // namespace meterbank::host
