// SPDX-License-Identifier: Apache-2.0
#include "agent/recorder/recorder_part.hpp"

#include <fmt/format.h>

#include "agent/config/words.hpp"

namespace meterbank::agent {

Result<std::chrono::milliseconds> parse_record_interval(std::int64_t milliseconds) {
  return parse_milliseconds("interval", milliseconds, 10, 60'000);
}

Result<std::uint64_t> parse_ring_size(std::int64_t mebibytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20U;
  if (mebibytes >= 1 && mebibytes <= kMost) return static_cast<std::uint64_t>(mebibytes) << 20U;
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid size: {}", mebibytes),
              fmt::format("1 to {} MiB", kMost));
}

Result<void> RecorderPart::use(const RecordSettings& settings, const CatalogOptions& catalog) {
  if (recorder_ && settings == settings_) return {};
  stop();
  settings_ = settings;
  if (!settings.is_on()) return {};
  record::RecorderOptions options;
  options.catalog = catalog;
  options.catalog.outside_labels = true;
  options.rates.push_back({settings.paths, {}, settings.interval});
  options.files.path = settings.directory;
  options.files.is_ring = true;
  options.files.bytes_max = settings.bytes_max;
  options.program = "meterbank-agent " METERBANK_VERSION;
  auto recorder = record::Recorder::open(std::move(options));
  if (!recorder) return tl::make_unexpected(std::move(recorder.error()));
  recorder_.emplace(std::move(*recorder));
  is_ending_ = false;
  thread_ = std::thread([this] { take_ticks(); });
  return {};
}

void RecorderPart::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  stop_.notify_one();
  if (thread_.joinable()) thread_.join();
  recorder_.reset();
}

void RecorderPart::take_ticks() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_until(lock, recorder_->next(), [this] { return is_ending_; })) {
    lock.unlock();
    recorder_->tick();
    const auto files = recorder_->file_counts();
    counts_.set(recorder_->counts(), files);
    say_losses();
    lock.lock();
  }
}

// When it begins and when it ends, not for each tick.
void RecorderPart::say_losses() {
  const auto files = recorder_->file_counts();
  const bool is_losing = files.lost > lost_;
  if (is_losing && !was_losing_) {
    report_("samples are not recorded: " + files.last_error.message());
  } else if (!is_losing && was_losing_) {
    report_("samples are recorded again");
  }
  was_losing_ = is_losing;
  lost_ = files.lost;
}

}  // namespace meterbank::agent
