// SPDX-License-Identifier: Apache-2.0
//
// OpenTelemetry's protocol: requests of ExportMetricsServiceRequest, in protobuf.
//
//   provider   -> resource
//   family     -> metric: Sum (cumulative, monotonic) for a counter, else Gauge, Summary,
//                 ExponentialHistogram
//   row        -> data point; the labels that tell rows apart are its attributes
//
// Distributions leave bucket by bucket: both sides have the same indexes. Values below the range of
// a distribution are in the zero bucket, those above it in one more bucket behind the last.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exposition/page/page_options.hpp"
#include "exposition/page/row_selection.hpp"
#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"
#include "push/batch/batch.hpp"
#include "push/otlp/attributes.hpp"
#include "push/otlp/process_context.hpp"

namespace meterbank::push::otlp {

class OtlpEncoder final : public SnapshotEncoder {
 public:
  // `attributes`: of every resource.
  explicit OtlpEncoder(std::vector<exposition::Label> attributes,
                       std::size_t batch_bytes = kBatchBytes);

  void encode(const exposition::Snapshot& snapshot, const Take& take) override;

 private:
  // What one provider has of one family.
  struct ProviderMetric {
    const exposition::PageFamily* family = nullptr;  // in layout_
    std::span<const exposition::FamilyPart> parts;
  };
  struct ProviderMetrics {
    std::string resource;
    std::vector<ProviderMetric> metrics;
  };
  struct BlockAttributes {
    exposition::RowBytes number, histogram;  // made when first needed
  };

  void use(const exposition::Snapshot& snapshot);
  void use(const std::shared_ptr<const exposition::PageLayout>& layout);
  void encode_metric(const exposition::Snapshot& snapshot, const ProviderMetric& metric);
  void append_point(const exposition::RowWalk& walk);
  void append_histogram(std::string_view attributes, std::uint64_t start_ns, std::uint64_t time_ns);
  void append_summary(std::string_view attributes, std::uint64_t start_ns, std::uint64_t time_ns);
  void append_info(const exposition::RowWalk& walk);
  void encode_about(const exposition::Snapshot& snapshot);
  [[nodiscard]] std::string_view attributes_of(const exposition::RowWalk& walk);
  // What has been written so far becomes a metric, a resource, a batch.
  void end_metric(std::string_view name, const exposition::PageFamily& family);
  void end_metric(std::string_view name, std::string_view help, std::string_view unit, Metric data);
  void end_resource(std::string_view resource);
  void end_batch();
  // Ends all three if the batch is large enough.
  [[nodiscard]] bool is_full() const noexcept {
    return points_.size() + metrics_.size() + request_.size() >= batch_bytes_;
  }

  const std::vector<exposition::Label> attributes_;
  const std::size_t batch_bytes_;
  std::string own_resource_, scope_;
  ProcessContexts contexts_;
  // Of the layout that was used last.
  std::shared_ptr<const exposition::PageLayout> layout_;
  std::unique_ptr<exposition::RowSelection> selection_;
  std::vector<ProviderMetrics> providers_;
  std::vector<BlockAttributes> blocks_;
  // Of the batch that is being written: each holds what the next one gets when it ends.
  std::string points_, metrics_, request_;
  std::size_t point_count_ = 0;
  const Take* take_ = nullptr;
  exposition::RowValues values_;
  std::string point_;
};

}  // namespace meterbank::push::otlp
