// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "meterbank/publisher/provider.hpp"
#include "record/recorder.hpp"

namespace meterbank::agent {

// What the agent counts of its recording.
class RecordCounts {
 public:
  explicit RecordCounts(Provider& own);
  ~RecordCounts();
  RecordCounts(const RecordCounts&) = delete;
  RecordCounts& operator=(const RecordCounts&) = delete;

  // The thread that records, with what its recorder counts now.
  void set(const record::RecorderCounts& counts, const record::AppenderCounts& files) noexcept;

 private:
  struct Set;
  std::unique_ptr<Set> set_;
};

}  // namespace meterbank::agent
