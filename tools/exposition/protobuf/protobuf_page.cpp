// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/protobuf_page.hpp"

#include <array>
#include <optional>
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <span>
#include <utility>
#include <vector>

#include "exposition/histogram/native_histogram.hpp"
#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"
#include "exposition/protobuf/encoded_labels.hpp"
#include "exposition/protobuf/metric_fields.hpp"
#include "exposition/protobuf/plain_metric.hpp"

namespace meterbank::exposition {
namespace {

using MetricBuilder = protozero::pbf_builder<field::Metric>;

void add_varint(std::string& out, std::uint64_t value) {
  protozero::write_varint(std::back_inserter(out), value);
}

// Size of a message as a field: tag and length included.
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
      : snapshot_(std::move(snapshot)),
        options_(std::move(options)),
        selection_(*snapshot_->layout, options_),
        labels_(snapshot_->layout->blocks.size()),
        plain_bytes_(snapshot_->layout->blocks.size()) {}

  bool write(std::string& out, std::size_t bytes) override;

 private:
  bool begin_family(std::string& out, const PageFamily& family);
  void write_about(std::string& out, const PlainFamily& family);
  [[nodiscard]] static std::string head_of(std::string_view name, FamilyType type,
                                           std::string_view unit, std::string_view help);
  // The next row that has a value. False: there is none.
  bool next_row();
  // Of all rows that this part has of the family.
  [[nodiscard]] std::size_t part_bytes(const PageFamily& family, const FamilyPart& part);
  [[nodiscard]] std::size_t metric_bytes();
  void append_metric(std::string& out);
  [[nodiscard]] bool is_counter() const noexcept {
    return walk_->family().type == FamilyType::kCounter;
  }
  [[nodiscard]] std::uint64_t start_ns() const noexcept {
    return walk_->block().starts_ns[walk_->row()];
  }
  [[nodiscard]] const RowBytes& labels_of_block() {
    RowBytes& labels = labels_[walk_->part().block];
    if (labels.empty()) labels = encode_labels(walk_->block());
    return labels;
  }
  // The whole Metric message of a row that is more than a number.
  void encode_metric();
  void add_histogram(MetricBuilder& metric);
  template <typename Builder, typename Tag>
  void add_start(Builder& builder, Tag tag) const;

  std::shared_ptr<const Snapshot> snapshot_;
  PageOptions options_;
  RowSelection selection_;
  std::size_t family_ = 0;
  std::optional<RowWalk> walk_;
  std::size_t about_ = 0;
  bool is_done_ = false;
  RowValues values_;
  NativeHistogram histogram_;
  std::string metric_;
  PlainMetric number_;
  std::vector<RowBytes> labels_;  // one for each block, made when first needed
  // The same for each block, of a gauge and of a counter: bytes of all rows; 0: not known.
  std::vector<std::array<std::size_t, 2>> plain_bytes_;
};

bool ProtobufPage::write(std::string& out, std::size_t bytes) {
  if (is_done_) return false;
  const std::size_t end = out.size() + bytes;
  const PageLayout& layout = *snapshot_->layout;
  for (; family_ < layout.families.size(); ++family_) {
    if (!walk_ && !begin_family(out, layout.families[family_])) continue;
    while (out.size() < end && next_row()) append_metric(out);
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

// The length of a family stands before it, so its rows are read twice, and no family is ever in
// memory as a whole.
bool ProtobufPage::begin_family(std::string& out, const PageFamily& family) {
  const std::string name = family.full_name();
  if (!options_.has_name(family.name, name)) return false;
  std::size_t metrics_bytes = 0;
  for (const FamilyPart& part : family.parts) metrics_bytes += part_bytes(family, part);
  if (metrics_bytes == 0) return false;
  const std::string head = head_of(name, family.type, family.unit, family.help);
  add_varint(out, head.size() + metrics_bytes);
  out += head;
  walk_.emplace(*snapshot_, selection_, family);
  return true;
}

// Rows whose values are words have all of them, so all such families of a block are of one size.
std::size_t ProtobufPage::part_bytes(const PageFamily& family, const FamilyPart& part) {
  walk_.emplace(*snapshot_, selection_, family, std::span(&part, 1));
  const bool is_plain = is_number(family.type) && part.value.is_plain();
  std::size_t& known = plain_bytes_[part.block][is_counter() ? 1 : 0];
  std::size_t bytes = is_plain ? known : 0;
  if (bytes == 0) {
    while (next_row()) bytes += metric_bytes();
  }
  if (is_plain) known = bytes;
  walk_.reset();
  return bytes;
}

bool ProtobufPage::next_row() {
  while (walk_->next()) {
    if (values_.read(*walk_)) return true;
  }
  return false;
}

std::size_t ProtobufPage::metric_bytes() {
  if (is_number(walk_->family().type)) {
    return PlainMetric::field_bytes(labels_of_block().of(walk_->row()), is_counter(), start_ns());
  }
  encode_metric();
  return field_bytes(metric_.size());
}

void ProtobufPage::append_metric(std::string& out) {
  if (is_number(walk_->family().type)) {
    number_.assign(is_counter(), values_.value.as_double(), start_ns());
    return number_.append_field(out, labels_of_block().of(walk_->row()));
  }
  encode_metric();
  protozero::pbf_builder<field::MetricFamily> builder(out);
  builder.add_message(field::MetricFamily::kMetric, metric_);
}

void ProtobufPage::encode_metric() {
  metric_ = labels_of_block().of(walk_->row());
  const PageFamily& family = walk_->family();
  if (family.type == FamilyType::kInfo) append_label_pair(metric_, family.text_label, values_.text);
  MetricBuilder metric(metric_);
  switch (family.type) {
    case FamilyType::kCounter:
    case FamilyType::kGauge:
      return;  // PlainMetric
    case FamilyType::kInfo: {
      protozero::pbf_builder<field::Gauge> gauge(metric, field::Metric::kGauge);
      gauge.add_double(field::Gauge::kValue, 1);
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
  builder.add_packed_sint64(field::Histogram::kPositiveDelta, histogram_.deltas.begin(),
                            histogram_.deltas.end());
  add_start(builder, field::Histogram::kCreatedTimestamp);
}

template <typename Builder, typename Tag>
void ProtobufPage::add_start(Builder& builder, Tag tag) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;  // ns
  const std::uint64_t start = start_ns();
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
    for (const Label& label : series.labels) append_label_pair(metric_, label.name, label.value);
    number_.assign(false, series.value, 0);
    number_.append_field(message, metric_);
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
