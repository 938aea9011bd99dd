// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/protobuf_page.hpp"

#include <optional>
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <utility>

#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"
#include "exposition/protobuf/metric_fields.hpp"
#include "exposition/protobuf/native_histogram.hpp"

namespace meterbank::exposition {
namespace {

using MetricBuilder = protozero::pbf_builder<field::Metric>;

void add_label(std::string& metric, std::string_view name, std::string_view value) {
  MetricBuilder builder(metric);
  protozero::pbf_builder<field::LabelPair> pair(builder, field::Metric::kLabel);
  pair.add_string(field::LabelPair::kName, name.data(), name.size());
  pair.add_string(field::LabelPair::kValue, value.data(), value.size());
}

void add_varint(std::string& out, std::uint64_t value) {
  protozero::write_varint(std::back_inserter(out), value);
}

// Behind its tag and length, which are counted as well.
std::size_t field_bytes(std::size_t message_bytes) noexcept {
  constexpr std::size_t kTagBytes = 1;
  return kTagBytes + static_cast<std::size_t>(protozero::length_of_varint(message_bytes)) +
         message_bytes;
}

field::MetricType type_of(FamilyType type) noexcept {
  switch (type) {
    case FamilyType::kCounter:
      return field::MetricType::kCounter;
    case FamilyType::kSummary:
      return field::MetricType::kSummary;
    case FamilyType::kHistogram:
      return field::MetricType::kHistogram;
    default:
      return field::MetricType::kGauge;
  }
}

class ProtobufPage final : public PageWriter {
 public:
  ProtobufPage(std::shared_ptr<const Snapshot> snapshot, PageOptions options)
      : snapshot_(std::move(snapshot)), options_(std::move(options)) {}

  bool write(std::string& out, std::size_t bytes) override;

 private:
  bool begin_family(std::string& out, const PageFamily& family);
  void write_about(std::string& out, const PlainFamily& family);
  [[nodiscard]] static std::string head_of(std::string_view name, FamilyType type,
                                           std::string_view unit, std::string_view help);
  // The next row's Metric message, in metric_. False: there is no more.
  bool next_metric();
  void encode_metric();
  void add_labels();
  void add_histogram(MetricBuilder& metric);
  template <typename Builder, typename Tag>
  void add_start(Builder& builder, Tag tag) const;

  std::shared_ptr<const Snapshot> snapshot_;
  PageOptions options_;
  std::size_t family_ = 0;
  std::optional<RowWalk> walk_;
  std::size_t about_ = 0;
  bool is_done_ = false;
  RowValues values_;
  NativeHistogram histogram_;
  std::string metric_, common_;
  const RowBlock* common_of_ = nullptr;
};

bool ProtobufPage::write(std::string& out, std::size_t bytes) {
  if (is_done_) return false;
  const std::size_t end = out.size() + bytes;
  const PageLayout& layout = *snapshot_->layout;
  for (; family_ < layout.families.size(); ++family_) {
    if (!walk_ && !begin_family(out, layout.families[family_])) continue;
    while (out.size() < end && next_metric()) {
      protozero::pbf_builder<field::MetricFamily> builder(out);
      builder.add_message(field::MetricFamily::kMetric, metric_);
    }
    if (out.size() >= end) return true;
    walk_.reset();
  }
  for (; about_ < snapshot_->about.size(); ++about_) {
    if (out.size() >= end) return true;
    write_about(out, snapshot_->about[about_]);
  }
  is_done_ = true;
  return true;
}

std::string ProtobufPage::head_of(std::string_view name, FamilyType type, std::string_view unit,
                                  std::string_view help) {
  std::string head;
  protozero::pbf_builder<field::MetricFamily> builder(head);
  builder.add_string(field::MetricFamily::kName, name.data(), name.size());
  builder.add_string(field::MetricFamily::kHelp, help.data(), help.size());
  builder.add_enum(field::MetricFamily::kType, static_cast<std::int32_t>(type_of(type)));
  if (!unit.empty()) builder.add_string(field::MetricFamily::kUnit, unit.data(), unit.size());
  return head;
}

// The length of a family stands before it, so its metrics are encoded twice, and no family is ever
// in memory as a whole.
bool ProtobufPage::begin_family(std::string& out, const PageFamily& family) {
  const std::string name = family.full_name();
  if (!options_.has_name(family.name, name)) return false;
  walk_.emplace(*snapshot_, options_, family);
  std::size_t metrics_bytes = 0;
  while (next_metric()) metrics_bytes += field_bytes(metric_.size());
  walk_.reset();
  if (metrics_bytes == 0) return false;
  const std::string head = head_of(name, family.type, family.unit, family.help);
  add_varint(out, head.size() + metrics_bytes);
  out += head;
  walk_.emplace(*snapshot_, options_, family);
  return true;
}

bool ProtobufPage::next_metric() {
  while (walk_->next()) {
    if (!values_.read(*walk_)) continue;
    encode_metric();
    return true;
  }
  return false;
}

void ProtobufPage::add_labels() {
  const RowBlock& block = walk_->block();
  if (common_of_ != &block) {
    common_of_ = &block;
    common_.clear();
    for (const Label& label : block.common) add_label(common_, label.name, label.value);
  }
  metric_ = common_;
  const std::size_t row = walk_->row();
  if (row < block.instances.size()) {
    add_label(metric_, block.instance_label, block.instances[row]);
  }
  if (row < block.ids.size()) add_label(metric_, "id", block.ids[row]);
}

void ProtobufPage::encode_metric() {
  add_labels();
  const PageFamily& family = walk_->family();
  if (family.type == FamilyType::kInfo) add_label(metric_, family.text_label, values_.text);
  MetricBuilder metric(metric_);
  switch (family.type) {
    case FamilyType::kCounter: {
      protozero::pbf_builder<field::Counter> counter(metric, field::Metric::kCounter);
      counter.add_double(field::Counter::kValue, values_.value.as_double());
      add_start(counter, field::Counter::kCreatedTimestamp);
      return;
    }
    case FamilyType::kGauge:
    case FamilyType::kInfo: {
      const bool is_info = family.type == FamilyType::kInfo;
      protozero::pbf_builder<field::Gauge> gauge(metric, field::Metric::kGauge);
      gauge.add_double(field::Gauge::kValue, is_info ? 1 : values_.value.as_double());
      return;
    }
    case FamilyType::kSummary: {
      protozero::pbf_builder<field::Summary> summary(metric, field::Metric::kSummary);
      summary.add_uint64(field::Summary::kSampleCount,
                         static_cast<std::uint64_t>(values_.count.as_double()));
      summary.add_double(field::Summary::kSampleSum, values_.value.as_double());
      add_start(summary, field::Summary::kCreatedTimestamp);
      return;
    }
    case FamilyType::kHistogram:
      return add_histogram(metric);
  }
}

void ProtobufPage::add_histogram(MetricBuilder& metric) {
  histogram_.assign(values_.distribution);
  protozero::pbf_builder<field::Histogram> builder(metric, field::Metric::kHistogram);
  builder.add_uint64(field::Histogram::kSampleCount, values_.distribution.count);
  builder.add_double(field::Histogram::kSampleSum, values_.distribution.sum);
  builder.add_sint32(field::Histogram::kSchema, histogram_.schema);
  builder.add_double(field::Histogram::kZeroThreshold, histogram_.zero_threshold);
  builder.add_uint64(field::Histogram::kZeroCount, histogram_.zero_count);
  for (const NativeHistogram::Span& span : histogram_.spans) {
    protozero::pbf_builder<field::BucketSpan> message(builder, field::Histogram::kPositiveSpan);
    message.add_sint32(field::BucketSpan::kOffset, span.offset);
    message.add_uint32(field::BucketSpan::kLength, span.length);
  }
  for (const std::int64_t delta : histogram_.deltas) {
    builder.add_sint64(field::Histogram::kPositiveDelta, delta);
  }
  add_start(builder, field::Histogram::kCreatedTimestamp);
}

template <typename Builder, typename Tag>
void ProtobufPage::add_start(Builder& builder, Tag tag) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;  // ns
  const std::uint64_t start = walk_->block().starts_ns[walk_->row()];
  if (start == 0) return;
  protozero::pbf_builder<field::Timestamp> stamp(builder, tag);
  stamp.add_int64(field::Timestamp::kSeconds, static_cast<std::int64_t>(start / kSecond));
  stamp.add_int32(field::Timestamp::kNanos, static_cast<std::int32_t>(start % kSecond));
}

void ProtobufPage::write_about(std::string& out, const PlainFamily& family) {
  const std::string name = family.full_name();
  if (!options_.has_name(family.name, name)) return;
  std::string message = head_of(name, family.type, family.unit, family.help);
  bool is_empty = true;
  for (const PlainSeries& series : family.series) {
    if (!options_.has(series)) continue;
    is_empty = false;
    metric_.clear();
    for (const Label& label : series.labels) add_label(metric_, label.name, label.value);
    {
      // They are all gauges.
      MetricBuilder metric(metric_);
      protozero::pbf_builder<field::Gauge> gauge(metric, field::Metric::kGauge);
      gauge.add_double(field::Gauge::kValue, series.value);
    }
    protozero::pbf_builder<field::MetricFamily> builder(message);
    builder.add_message(field::MetricFamily::kMetric, metric_);
  }
  if (is_empty) return;
  add_varint(out, message.size());
  out += message;
}

}  // namespace

std::unique_ptr<PageWriter> make_protobuf_page(std::shared_ptr<const Snapshot> snapshot,
                                               PageOptions options) {
  return std::make_unique<ProtobufPage>(std::move(snapshot), std::move(options));
}

}  // namespace meterbank::exposition
