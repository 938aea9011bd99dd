// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/system/program.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace meterbank::arbiter {
namespace {

constexpr const char* kResume = "--resume";

}  // namespace

Result<Program> Program::here(std::vector<std::string> arguments) {
  Program program;
  // Those of this start are not those of the next.
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kResume) {
      ++i;
    } else {
      program.arguments_.push_back(std::move(arguments[i]));
    }
  }
  std::array<char, 4096> target;
  const ssize_t count = ::readlink("/proc/self/exe", target.data(), target.size());
  std::string path(target.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  constexpr std::string_view kReplaced = " (deleted)";
  if (path.ends_with(kReplaced)) path.resize(path.size() - kReplaced.size());
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return fail(ErrorCode::kSystem, "find this program", "mount /proc", errno);
  }
  program.name_ = path.substr(slash + 1);
  program.directory_.reset(
      ::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  program.image_.reset(::open("/proc/self/exe", O_PATH | O_CLOEXEC));
  if (!program.image_) return fail(ErrorCode::kSystem, "open this program", {}, errno);
  return program;
}

int Program::run_again(int state) const {
  std::vector<std::string> words{name_};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  words.emplace_back(kResume);
  words.push_back(std::to_string(state));
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::syscall(SYS_execveat, directory_.get(), name_.c_str(), argv.data(), environ, 0);
  ::syscall(SYS_execveat, image_.get(), "", argv.data(), environ, AT_EMPTY_PATH);
  return errno;
}

}  // namespace meterbank::arbiter
