// SPDX-License-Identifier: Apache-2.0
#include "agent/recorder/recorder_part.hpp"

#include <utility>

namespace meterbank::agent {

Result<void> RecorderPart::use(const RecordSettings& settings, const CatalogOptions& catalog) {
  const bool same_providers =
      catalog.directory == directory_ && catalog.all_namespaces == all_namespaces_;
  if (recorder_ && settings == settings_ && same_providers) return {};
  stop();
  settings_ = settings;
  directory_ = catalog.directory;
  all_namespaces_ = catalog.all_namespaces;
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
  losses_ = {};
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
    say_losses(files);
    lock.lock();
  }
}

void RecorderPart::say_losses(const record::AppenderCounts& files) {
  switch (losses_.look_at(files, std::chrono::steady_clock::now())) {
    case record::LossWatch::Change::kNone:
      return;
    case record::LossWatch::Change::kBegins:
      return report_("samples are not recorded: " + files.last_error.message());
    case record::LossWatch::Change::kEnds:
      return report_("samples are recorded again");
  }
}

}  // namespace meterbank::agent
