// SPDX-License-Identifier: Apache-2.0
//
// The part of the agent that records. It has a thread, a catalog and a query of its own: samples
// every ten milliseconds must not wait for a page or a receiver.
//
// Thread safety: one thread at a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "agent/counts/record_counts.hpp"
#include "agent/recorder/record_settings.hpp"
#include "meterbank/reader/catalog.hpp"
#include "record/recorder.hpp"

namespace meterbank::agent {

class RecorderPart {
 public:
  // `report` is called by the thread of the part.
  using Report = std::function<void(const std::string& line)>;
  RecorderPart(RecordCounts& counts, Report report) : counts_(counts), report_(std::move(report)) {}
  ~RecorderPart() { stop(); }
  RecorderPart(const RecorderPart&) = delete;
  RecorderPart& operator=(const RecorderPart&) = delete;

  // Records as these settings say from now on. What has not changed goes on undisturbed. Errors: as
  // Recorder::open(); then nothing is recorded.
  Result<void> use(const RecordSettings& settings, const CatalogOptions& catalog);
  void stop();

 private:
  void take_ticks();
  void say_losses(const record::AppenderCounts& files);

  RecordCounts& counts_;
  const Report report_;
  RecordSettings settings_;
  std::string directory_;  // of the providers
  bool all_namespaces_ = false;
  std::optional<record::Recorder> recorder_;  // none: nothing is recorded
  record::LossWatch losses_;

  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace meterbank::agent
