// SPDX-License-Identifier: Apache-2.0
#include "generator/command/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "generator/command/arguments.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::generator {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorCode::kSystem, fmt::format("cannot write {}", path),
              "another place, or room in this one", error != 0 ? error : EIO);
}

// 0, or the error.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Opens, writes and closes; 0, or the error.
int write_to(const std::string& path, int flags, std::string_view text) {
  UniqueFd file(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (!file) return errno;
  const int error = write_all(file.get(), text);
  // Some file systems notice only now that there is no room.
  const int closed = ::close(file.release()) == 0 ? 0 : errno;
  return error != 0 ? error : closed;
}

bool says_already(const std::string& path, const std::string& text) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) != text.size() || error) return false;
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {}) == text;
}

// A text beside the file that it is to replace. Unless keep() is called, the destructor leaves
// everything as it was.
class Replacement {
 public:
  explicit Replacement(std::string path) : target_(std::move(path)) {
    // Through links, so that the file changes and not the link to it.
    char* const resolved = ::realpath(target_.c_str(), nullptr);
    if (resolved != nullptr) target_ = resolved;
    ::free(resolved);
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (place_ == Place::kMoved) ::unlink(target_.c_str());
    if (place_ == Place::kExchanged) exchange();
    if (!temporary_.empty() && place_ != Place::kMoved) ::unlink(temporary_.c_str());
  }

  // 0, or the error; also of the next two.
  int write(std::string_view text, std::size_t number) {
    // Not the name of the target with something added: that may be too long for the file system.
    const auto folder = std::filesystem::path(target_).parent_path();
    temporary_ = folder / fmt::format(".meterbank-gen.{}.{}", ::getpid(), number);
    const int error = write_to(temporary_, O_CREAT | O_EXCL, text);
    if (error == EEXIST) temporary_.clear();
    return error;
  }

  int move() {
    struct stat facts {};
    if (::lstat(target_.c_str(), &facts) != 0) {
      if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
      place_ = Place::kMoved;
      return 0;
    }
    if (exchange() == 0) {
      place_ = Place::kExchanged;
      return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // A file system that cannot exchange two files; there is no way back from here.
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
    temporary_.clear();
    return 0;
  }

  void keep() noexcept {
    if (place_ == Place::kMoved) temporary_.clear();
    place_ = Place::kBeside;
  }

 private:
  // Where the new text is.
  enum class Place : std::uint8_t { kBeside, kMoved, kExchanged };

  int exchange() noexcept {
    return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE);
  }

  std::string target_;
  std::string temporary_;
  Place place_ = Place::kBeside;
};

}  // namespace

Result<void> write_files(std::span<const FileText> files, std::ostream& out) {
  std::deque<std::pair<const FileText*, Replacement>> replacements;
  std::deque<const FileText*> devices;
  for (const auto& file : files) {
    struct stat facts {};
    const bool exists = ::stat(file.path.c_str(), &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) return cannot_write(file.path, EISDIR);
    if (file.path == kStandardOutput || (exists && !S_ISREG(facts.st_mode))) {
      devices.push_back(&file);
      continue;
    }
    if (!file.always && exists && says_already(file.path, file.text)) continue;
    auto& [text, replacement] = replacements.emplace_back(&file, file.path);
    const int error = replacement.write(file.text, replacements.size());
    if (error != 0) return cannot_write(file.path, error);
  }
  for (const auto* const file : devices) {
    int error = 0;
    if (file->path == kStandardOutput) {
      errno = 0;
      if (!(out << file->text).flush()) error = errno != 0 ? errno : EIO;
    } else {
      error = write_to(file->path, O_APPEND, file->text);
    }
    // A reader of a pipe that has seen enough is no failure.
    if (error != 0 && error != EPIPE) return cannot_write(file->path, error);
  }
  for (auto& [file, replacement] : replacements) {
    if (const int error = replacement.move(); error != 0) return cannot_write(file->path, error);
  }
  for (auto& [file, replacement] : replacements) replacement.keep();
  return {};
}

}  // namespace meterbank::generator
