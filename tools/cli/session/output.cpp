// SPDX-License-Identifier: Apache-2.0
#include "cli/session/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/recording/frame.hpp"

namespace meterbank::cli {

namespace {

// A device, a pipe, or another name of a descriptor that is open already, as /dev/stdout.
bool is_special_file(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return true;
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

bool is_recording(const std::string& path) {
  std::array<char, recording::kFrameHead + recording::kHeadMarker.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) &&
         std::equal(recording::kHeadMarker.begin(), recording::kHeadMarker.end(),
                    begin.begin() + recording::kFrameHead);
}

}  // namespace

Result<void> may_replace(const std::string& path) {
  // What waits for a reader, as a pipe does, is not opened for reading.
  if (is_special_file(path) || !is_recording(path)) return {};
  return fail(ErrorCode::kExists, fmt::format("{} is a recording and is not replaced", path),
              "another place with -o FILE");
}

Result<Output> Output::open(Console& console, const std::string& path) {
  Output output(console, path);
  if (path.empty()) return output;
  if (auto allowed = may_replace(path); !allowed) return tl::make_unexpected(allowed.error());
  // Through links, so that the file changes and not the link to it.
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved != nullptr) output.path_ = resolved;
  std::free(resolved);
  // What cannot be replaced is written to. A file is replaced, from the same directory, because a
  // rename does not cross file systems.
  const bool is_special = is_special_file(path);
  const auto place = is_special ? path : fmt::format("{}.{}.part", output.path_, ::getpid());
  if (!is_special) output.temporary_ = place;
  errno = 0;
  output.file_.open(place, std::ios::binary | (is_special ? std::ios::app : std::ios::trunc));
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
      failure_(other.failure_),
      bytes_(other.bytes_),
      samples_(other.samples_),
      ends_(std::move(other.ends_)) {}

Output::~Output() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool Output::write(std::string_view text) {
  if (failure_ != 0) return false;
  if (text.empty()) return true;
  std::ostream& target = is_file() ? static_cast<std::ostream&>(file_) : console_->out;
  const auto charset = is_file() ? Charset::kUtf8 : out_charset(*console_);
  const bool is_clean = is_plain_page(text);
  const std::string escaped = is_clean ? "" : escape_composed(text, Composed::kPage, charset);
  const std::string_view clean = is_clean ? text : escaped;
  errno = 0;
  target << clean;
  target.flush();
  bytes_ += clean.size();
  if (target.good()) return true;
  failure_ = errno != 0 ? errno : EIO;
  return false;
}

void Output::end_sample() {
  // A closing that does not fit where one sample ended fits where an earlier one did.
  constexpr std::size_t kEndsKept = 16;
  if (failure_ != 0) return;
  ++samples_;
  ends_.push_back(bytes_);
  if (ends_.size() > kEndsKept) ends_.pop_front();
}

void Output::keep_samples(std::string_view closing) {
  file_.close();
  for (; !ends_.empty(); ends_.pop_back(), --samples_) {
    if (::truncate(temporary_.c_str(), static_cast<off_t>(ends_.back())) != 0) return;
    std::ofstream end(temporary_, std::ios::binary | std::ios::app);
    end << closing;
    end.close();
    if (!end) continue;
    complain(*console_, samples_ == 1
                            ? fmt::format("the first sample is in {}", temporary_)
                            : fmt::format("the first {} samples are in {}", samples_, temporary_));
    temporary_.clear();
    return;
  }
}

int Output::finish(int exit_code, std::string_view closing) {
  write(closing);
  if (is_file() && failure_ == 0) {
    errno = 0;
    file_.close();
    if (!file_ || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
      failure_ = errno != 0 ? errno : EIO;
    } else {
      temporary_.clear();
    }
  }
  if (failure_ == 0 || failure_ == EPIPE) return exit_code;
  std::string what = is_file() ? "cannot write " + path_ : "cannot write the result";
  if (temporary_.empty() && samples_ > 0) {
    what += " after " + counted(samples_, "sample");
  }
  complain(*console_, Error{ErrorCode::kSystem, failure_, what, "another place with -o FILE"});
  if (!temporary_.empty()) keep_samples(closing);
  return kExitEnvironment;
}

int Output::finish_empty(int exit_code, std::string_view closing) {
  return temporary_.empty() ? finish(exit_code, closing) : exit_code;
}

}  // namespace meterbank::cli
