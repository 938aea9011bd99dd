// SPDX-License-Identifier: Apache-2.0
#include "file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace meterbank::recording {

ErrorCode code_of(int error) noexcept {
  if (error == ENOENT || error == ENOTDIR) return ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM) return ErrorCode::kDenied;
  return ErrorCode::kSystem;
}

Result<FileBytes> FileBytes::open(const std::string& path) {
  // A FIFO must not block the reader.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail(code_of(errno), "cannot open " + path, {}, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) {
    return fail(ErrorCode::kSystem, "cannot look at " + path, {}, errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, path + " is not a file",
                "a recording: a file, or a directory of files *.mbr");
  }
  FileBytes bytes(std::move(file));
  bytes.size_ = static_cast<std::uint64_t>(facts.st_size);
  return bytes;
}

void FileBytes::look_again() noexcept {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) == 0) size_ = static_cast<std::uint64_t>(facts.st_size);
}

void FileBytes::release() noexcept {
  buffer_ = {};
  begin_ = 0;
}

std::span<const std::byte> FileBytes::at(std::uint64_t offset, std::size_t bytes) {
  // Who has read up to here goes on; elsewhere a frame or two may be all that is wanted.
  constexpr std::size_t kStep = 128 << 10U, kFirstStep = 16 << 10U;
  if (offset >= size_) return {};
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size_ - offset));
  const bool is_here = offset >= begin_ && offset + wanted <= begin_ + buffer_.size();
  if (!is_here) {
    const bool goes_on = offset >= begin_ && offset <= begin_ + buffer_.size();
    const auto step = std::max(wanted, goes_on ? kStep : kFirstStep);
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(step, size_ - offset)));
    begin_ = offset;
    std::size_t filled = 0;
    while (filled < buffer_.size()) {
      const ssize_t count = ::pread(file_.get(), buffer_.data() + filled, buffer_.size() - filled,
                                    static_cast<off_t>(offset + filled));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      filled += static_cast<std::size_t>(count);
    }
    buffer_.resize(filled);
  }
  const auto here = std::span<const std::byte>(buffer_).subspan(offset - begin_);
  return here.first(std::min(wanted, here.size()));
}

}  // namespace meterbank::recording
