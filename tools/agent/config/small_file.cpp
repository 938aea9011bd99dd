// SPDX-License-Identifier: Apache-2.0
#include "agent/config/small_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

namespace meterbank::agent {

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const auto code = errno == ENOENT   ? ErrorCode::kNotFound
                      : errno == EACCES ? ErrorCode::kDenied
                                        : ErrorCode::kSystem;
    return fail(code, "read the file " + path, "the path and its permissions", errno);
  }
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) {
    return fail(ErrorCode::kLimit, fmt::format("{}: more than {} KiB", path, bytes_max >> 10));
  }
  return text;
}

}  // namespace meterbank::agent
