// SPDX-License-Identifier: Apache-2.0
#include "agent/counts/record_counts.hpp"

#include "agent_rows.hpp"

namespace meterbank::agent {

struct RecordCounts::Set {
  explicit Set(Provider& own) {
    if (auto added = ::agent::AgentRecorder::add(own)) set = std::move(*added);
    if (auto created = set.create()) row = std::move(*created);
  }

  ::agent::AgentRecorder set;
  ::agent::AgentRecorderInstance row;
  // What was counted last.
  record::RecorderCounts counts;
  record::AppenderCounts files;
};

RecordCounts::RecordCounts(Provider& own) : set_(std::make_unique<Set>(own)) {}
RecordCounts::~RecordCounts() = default;

void RecordCounts::set(const record::RecorderCounts& counts,
                       const record::AppenderCounts& files) noexcept {
  // A recorder that was started anew counts from zero.
  const auto more = [](std::uint64_t now, std::uint64_t& before) {
    const std::uint64_t added = now < before ? now : now - before;
    before = now;
    return added;
  };
  set_->row.update([&](::agent::AgentRecorderUpdate& row) noexcept {
    row.add_samples(more(counts.ticks, set_->counts.ticks));
    row.add_values(more(counts.values, set_->counts.values));
    row.add_written(more(files.bytes, set_->files.bytes));
    row.add_missed(more(counts.missed, set_->counts.missed));
    row.add_lost(more(files.lost, set_->files.lost));
    row.add_evicted(more(files.evicted, set_->files.evicted));
  });
}

}  // namespace meterbank::agent
