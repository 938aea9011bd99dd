// SPDX-License-Identifier: Apache-2.0
#include "agent/view/address_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::agent {
namespace {

constexpr mode_t kMode = 0640;

tl::unexpected<Error> failed(const std::string& path, int error) {
  const auto code = error == EACCES || error == EPERM || error == EROFS ? ErrorCode::kDenied
                    : error == ENOSPC || error == EDQUOT                ? ErrorCode::kNoSpace
                                                                        : ErrorCode::kSystem;
  return fail(code, fmt::format("cannot write the address_file {}", escape_for_terminal(path)),
              "a file in a directory of this user", error);
}

}  // namespace

Result<AddressFile> AddressFile::write(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".part";
  // What a killed agent left, if anything. A link is removed, not followed.
  ::unlink(temporary.c_str());
  const UniqueFd file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return failed(path, errno);
  const std::string line = address + '\n';
  // The mode is set whatever the umask is.
  const auto written = ::write(file.get(), line.data(), line.size());
  // A short write to a file means that it is full.
  if (written >= 0 && static_cast<std::size_t>(written) != line.size()) errno = ENOSPC;
  if (written != static_cast<ssize_t>(line.size()) || ::fchmod(file.get(), kMode) != 0 ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return failed(path, error);
  }
  return AddressFile(path);
}

AddressFile::~AddressFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace meterbank::agent
