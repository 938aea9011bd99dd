// SPDX-License-Identifier: Apache-2.0
#include "record/saver.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "meterbank/base/directory_stream.hpp"
#include "meterbank/recording/file_frames.hpp"

namespace meterbank::record {
namespace {

// "20261127T031204.250Z"
std::string name_of_time(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     realtime_ns / 1'000'000 % 1000);
}

std::optional<std::size_t> recordings_in(const std::string& folder) {
  const DirectoryStream directory(::opendir(folder.c_str()));
  if (directory == nullptr) return std::nullopt;
  std::size_t count = 0;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (std::string_view(entry->d_name).ends_with(recording::kFileSuffix)) ++count;
  }
  return count;
}

// The folder is there and has room.
Result<void> prepare(const std::string& folder) {
  constexpr mode_t kFolderMode = 0750;
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return fail(errno == ENOSPC ? ErrorCode::kNoSpace : ErrorCode::kDenied, "cannot make " + folder,
                {}, errno);
  }
  const auto count = recordings_in(folder);
  if (!count) return fail(ErrorCode::kDenied, "cannot read " + folder, {}, errno);
  if (*count < kSavedFilesMax) return {};
  return fail(ErrorCode::kNoSpace, fmt::format("{} has {} recordings", folder, *count),
              "remove some of them");
}

Result<SavedPart> save(const std::string& folder, const PartOptions& options) {
  if (auto prepared = prepare(folder); !prepared) {
    return tl::make_unexpected(std::move(prepared.error()));
  }
  return save_part(options);
}

struct Request {
  std::uint64_t from_ns = 0, until_ns = 0;
  bool is_event = false;
};

}  // namespace

class Saver::State {
 public:
  explicit State(std::string directory) : directory_(std::move(directory)) {}
  ~State() { finish(); }

  void request(const Request& request) {
    const std::lock_guard lock(mutex_);
    // It has what this asks for.
    if (!request.is_event && saving_ && saving_->until_ns == request.until_ns) return;
    const auto same = std::find_if(requests_.begin(), requests_.end(), [&](const Request& one) {
      return !one.is_event && !request.is_event;
    });
    if (same != requests_.end()) {
      *same = request;
    } else {
      requests_.push_back(request);
    }
    if (!thread_.joinable()) start();
    work_.notify_one();
  }
  std::vector<SaveOutcome> take_outcomes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcomes_, {});
  }
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      work_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  // With `mutex_` held. Signals are for the threads of the program.
  void start() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { save_what_is_requested(); });
    } catch (const std::system_error& error) {
      requests_.clear();
      outcomes_.push_back({directory_, fail(ErrorCode::kSystem, "cannot start a thread",
                                            "a larger ulimit -u", error.code().value())});
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void save_what_is_requested() {
    // It may take its time; samples may not.
    constexpr int kNice = 10;
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return !requests_.empty() || is_ending_; });
      if (requests_.empty()) return;
      const Request request = requests_.front();
      requests_.pop_front();
      if (!request.is_event) saving_ = request;
      lock.unlock();
      auto outcome = outcome_of(request);
      lock.lock();
      if (!outcome.saved && !request.is_event) saving_.reset();
      try {
        outcomes_.push_back(std::move(outcome));
      } catch (const std::bad_alloc&) {  // it is saved or not, and no word of it
      }
    }
  }
  [[nodiscard]] SaveOutcome outcome_of(const Request& request) const {
    try {
      const std::string folder = directory_ + "/saved";
      const PartOptions options{
          .source = directory_,
          .target = fmt::format("{}/{}{}{}", folder, request.is_event ? "event-" : "",
                                name_of_time(request.until_ns), recording::kFileSuffix),
          .last = std::chrono::nanoseconds(
              static_cast<std::int64_t>(request.until_ns - request.from_ns)),
          .until_ns = request.until_ns};
      return {options.target, save(folder, options)};
    } catch (const std::bad_alloc&) {
      return {{}, tl::make_unexpected(out_of_memory())};
    }
  }

  std::string directory_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Request> requests_;
  std::optional<Request> saving_;  // or saved last; not of an event
  bool is_ending_ = false;
  std::vector<SaveOutcome> outcomes_;
  std::thread thread_;
};

Saver::Saver(std::string directory) : state_(std::make_unique<State>(std::move(directory))) {}
Saver::~Saver() = default;
void Saver::request(std::uint64_t from_ns, std::uint64_t last_tick_ns) {
  state_->request({from_ns, last_tick_ns, false});
}
void Saver::request_event(std::uint64_t from_ns, std::uint64_t last_tick_ns) {
  state_->request({from_ns, last_tick_ns, true});
}
std::vector<SaveOutcome> Saver::take_outcomes() { return state_->take_outcomes(); }
void Saver::finish() { state_->finish(); }

}  // namespace meterbank::record
