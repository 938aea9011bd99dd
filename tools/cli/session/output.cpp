// SPDX-License-Identifier: Apache-2.0
#include "cli/session/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "cli/session/exit_code.hpp"

namespace meterbank::cli {

Result<Output> Output::open(Console& console, const std::string& path) {
  Output output(console, path);
  if (path.empty()) return output;
  // In the same directory, because a rename does not cross file systems.
  output.temporary_ = fmt::format("{}.{}.part", path, ::getpid());
  errno = 0;
  output.file_.open(output.temporary_, std::ios::binary | std::ios::trunc);
  if (!output.file_) {
    const int error = errno;
    output.temporary_.clear();
    return fail(ErrorCode::kSystem, fmt::format("cannot write {}", path),
                "another place with -o FILE", error);
  }
  return output;
}

Output::Output(Output&& other) noexcept
    : console_(other.console_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      failure_(other.failure_) {}

Output::~Output() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool Output::write(std::string_view text) {
  if (failure_ != 0) return false;
  if (text.empty()) return true;
  std::ostream& target = is_file() ? static_cast<std::ostream&>(file_) : console_->out;
  errno = 0;
  target << text;
  target.flush();
  if (target.good()) return true;
  failure_ = errno != 0 ? errno : EIO;
  return false;
}

int Output::finish(int exit_code) {
  if (is_file() && failure_ == 0) {
    errno = 0;
    file_.close();
    if (!file_ || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      failure_ = errno != 0 ? errno : EIO;
    } else {
      temporary_.clear();
    }
  }
  if (failure_ == 0 || failure_ == EPIPE) return exit_code;
  complain(*console_, Error{ErrorCode::kSystem, failure_,
                            is_file() ? "cannot write " + path_ : "cannot write the result",
                            "another place with -o FILE"});
  return kExitEnvironment;
}

}  // namespace meterbank::cli
