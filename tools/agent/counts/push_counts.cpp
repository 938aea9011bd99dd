// SPDX-License-Identifier: Apache-2.0
#include "agent/counts/push_counts.hpp"

#include <utility>

#include "agent_rows.hpp"

namespace meterbank::agent {
namespace {

using ::agent::AgentPush;
using ::agent::AgentPushInstance;
using ::agent::AgentPushUpdate;

class PushCounts final : public push::PushEvents {
 public:
  explicit PushCounts(AgentPushInstance row) : row_(std::move(row)) {}

  void encoded(std::uint64_t duration_ns) noexcept override {
    constexpr double kNsPerSecond = 1e9;
    row_.record_encoding(static_cast<double>(duration_ns) / kNsPerSecond);
  }
  void sent(std::uint64_t points, std::uint64_t bytes) noexcept override {
    row_.update([=](AgentPushUpdate& row) noexcept {
      row.add_batches(1U);
      row.add_points(points);
      row.add_sent(bytes);
    });
  }
  void refused(std::uint64_t points) noexcept override { row_.add_points_refused(points); }
  void dropped(std::uint64_t points) noexcept override { row_.add_points_dropped(points); }
  void tried_in_vain() noexcept override { row_.add_retries(1U); }
  void left_out(std::uint64_t snapshots) noexcept override {
    row_.add_snapshots_left_out(snapshots);
  }
  void queued(std::uint64_t batches, std::uint64_t bytes) noexcept override {
    row_.update([=](AgentPushUpdate& row) noexcept {
      row.set_queue_batches(batches);
      row.set_queue_size(bytes);
    });
  }

 private:
  AgentPushInstance row_;
};

}  // namespace

struct PushSet::Set {
  AgentPush receivers;
};

PushSet::PushSet(Provider& own) : set_(std::make_unique<Set>()) {
  if (auto added = AgentPush::add(own)) set_->receivers = std::move(*added);
}
PushSet::~PushSet() = default;

std::unique_ptr<push::PushEvents> PushSet::add(const std::string& receiver) {
  AgentPushInstance row;
  if (auto created = set_->receivers.create(receiver)) row = std::move(*created);
  return std::make_unique<PushCounts>(std::move(row));
}

}  // namespace meterbank::agent
