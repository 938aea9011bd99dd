// SPDX-License-Identifier: Apache-2.0
#include "view/bookmarks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::view {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{4} << 20U;

tl::unexpected<Error> failed(const std::string& path, int error) {
  const auto code = error == EACCES || error == EPERM || error == EROFS ? ErrorCode::kDenied
                    : error == ENOSPC || error == EDQUOT                ? ErrorCode::kNoSpace
                                                                        : ErrorCode::kSystem;
  return fail(code, fmt::format("bookmarks in {}", escape_for_terminal(path)),
              "another file, by XDG_CONFIG_HOME", error);
}

Result<std::string> text_of(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::string();
    return failed(path, errno);
  }
  std::string text;
  std::string piece(std::size_t{64} << 10U, '\0');
  for (;;) {
    const auto count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, errno);
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
    if (text.size() > kFileBytesMax) {
      return fail(
          ErrorCode::kLimit,
          fmt::format("{} has more than {} bytes", escape_for_terminal(path), kFileBytesMax),
          "fewer bookmarks");
    }
  }
}

}  // namespace

std::string bookmarks_path() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME");
      config != nullptr && *config == '/') {
    return std::string(config) + "/meterbank/bookmarks";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return std::string(home) + "/.config/meterbank/bookmarks";
}

Result<Bookmarks> read_bookmarks(const std::string& path) {
  auto text = text_of(path);
  if (!text) return tl::unexpected(text.error());
  Bookmarks bookmarks;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const auto end = std::min(text->find('\n', begin), text->size());
    auto line = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    auto place = parse_link(line);
    if (!place) {
      Error error = place.error();
      error.what = fmt::format("{}:{}: {}", escape_for_terminal(path), number, error.what);
      bookmarks.errors.push_back(std::move(error));
    } else if (bookmarks.places.size() < kBookmarksMax) {
      bookmarks.places.push_back(std::move(*place));
    }
  }
  return bookmarks;
}

Result<void> add_bookmark(const std::string& path, const Place& place) {
  if (path.empty()) {
    return fail(ErrorCode::kNotFound, "no place for bookmarks", "HOME or XDG_CONFIG_HOME");
  }
  const auto known = read_bookmarks(path);
  if (!known) return tl::unexpected(known.error());
  if (known->places.size() >= kBookmarksMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} bookmarks are there", kBookmarksMax),
                fmt::format("remove some from {}", escape_for_terminal(path)));
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return failed(path, error.value());
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file) return failed(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed(path, errno);
  // The last line may lack its end, where an editor wrote it.
  std::string line = link_of(place) + "\n";
  if (status.st_size > 0) {
    char last = '\n';
    const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    static_cast<void>(::pread(reader.get(), &last, 1, status.st_size - 1));
    if (last != '\n') line.insert(line.begin(), '\n');
  }
  const auto written = ::write(file.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  const int why = written < 0 ? errno : ENOSPC;
  // Half a line would be no link.
  static_cast<void>(::ftruncate(file.get(), status.st_size));
  return failed(path, why);
}

}  // namespace meterbank::view
