// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/policy_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace meterbank::arbiter {
namespace {

tl::unexpected<Error> unreadable(const std::string& path) {
  const int error = errno;
  const auto code = error == ENOENT                     ? ErrorCode::kNotFound
                    : error == EACCES || error == EPERM ? ErrorCode::kDenied
                                                        : ErrorCode::kSystem;
  return fail(code, "read the policy " + path, "--policy FILE", error);
}

}  // namespace

Result<PolicyFile> PolicyFile::open(const std::string& path) {
  PolicyFile file;
  file.path_ = path;
  if (path.empty()) return file;
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  file.name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  file.directory_.reset(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!file.directory_) return unreadable(path);
  return file;
}

Result<Policy> PolicyFile::read() const {
  if (path_.empty()) return Policy::standard();
  const UniqueFd file(::openat(directory_.get(), name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return unreadable(path_);
  std::string text(kPolicyBytesMax + 1, '\0');
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + bytes, text.size() - bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path_);
    if (count == 0) break;
    bytes += static_cast<std::size_t>(count);
  }
  if (bytes > kPolicyBytesMax) {
    return fail(ErrorCode::kLimit, path_ + ": more than 64 KiB", "fewer rules");
  }
  text.resize(bytes);
  return parse_policy(text, path_);
}

}  // namespace meterbank::arbiter
