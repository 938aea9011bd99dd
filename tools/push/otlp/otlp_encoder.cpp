// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/otlp_encoder.hpp"

#include <algorithm>
#include <iterator>
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <utility>

#include "push/otlp/number_point.hpp"
#include "push/otlp/otlp_fields.hpp"
#include "push/otlp/resource.hpp"

namespace meterbank::push::otlp {
namespace {

using exposition::FamilyPart;
using exposition::FamilyType;
using exposition::Label;
using exposition::Number;
using exposition::PageFamily;
using exposition::RowWalk;

Metric data_of(FamilyType type) noexcept {
  switch (type) {
    case FamilyType::kCounter:
      return Metric::kSum;
    case FamilyType::kSummary:
      return Metric::kSummary;
    case FamilyType::kHistogram:
      return Metric::kExponentialHistogram;
    default:
      return Metric::kGauge;
  }
}

// The convention for names wants no "_total": that is of Prometheus, which appends it.
std::string name_of_metric(const std::string& name, FamilyType type) {
  return type == FamilyType::kInfo ? name + "_info" : name;
}

// As a field of ScopeMetrics.
std::string encode_scope() {
  std::string scope, field;
  protozero::pbf_builder<Scope> builder(scope);
  builder.add_string(Scope::kName, "meterbank");
  builder.add_string(Scope::kVersion, METERBANK_VERSION);
  protozero::pbf_builder<ScopeMetrics>(field).add_message(ScopeMetrics::kScope, scope);
  return field;
}

// What stands before a message of so many bytes that is a field.
void append_head(std::string& out, Tag tag, std::size_t bytes) {
  constexpr unsigned kWireBits = 3;
  const auto wire = static_cast<std::uint32_t>(protozero::pbf_wire_type::length_delimited);
  protozero::write_varint(std::back_inserter(out), tag << kWireBits | wire);
  protozero::write_varint(std::back_inserter(out), bytes);
}

constexpr Tag kNumberAttributes = static_cast<Tag>(NumberPoint::kAttributes);
constexpr Tag kHistogramAttributes = static_cast<Tag>(HistogramPoint::kAttributes);
static_assert(static_cast<Tag>(SummaryPoint::kAttributes) == kNumberAttributes);

}  // namespace

OtlpEncoder::OtlpEncoder(std::vector<Label> attributes, std::size_t batch_bytes)
    : attributes_(std::move(attributes)),
      batch_bytes_(batch_bytes),
      own_resource_(encode_own_resource(attributes_)),
      scope_(encode_scope()) {}

void OtlpEncoder::use(const exposition::Snapshot& snapshot) {
  const bool is_new = snapshot.layout != layout_;
  if (is_new) use(snapshot.layout);
  const bool has_changed = contexts_.look(layout_->providers, snapshot.sample.time.monotonic_ns);
  if (!is_new && !has_changed) return;
  for (std::size_t index = 0; index < providers_.size(); ++index) {
    const exposition::PageProvider& provider = layout_->providers[index];
    providers_[index].resource = encode_resource(provider, contexts_.of(provider), attributes_);
  }
}

// The parts of a family that one provider has lie side by side, because blocks do.
void OtlpEncoder::use(const std::shared_ptr<const exposition::PageLayout>& layout) {
  layout_ = layout;
  selection_ = std::make_unique<exposition::RowSelection>(*layout, exposition::PageOptions());
  blocks_.clear();
  blocks_.resize(layout->blocks.size());
  providers_.clear();
  providers_.resize(layout->providers.size());
  for (const PageFamily& family : layout->families) {
    const std::span<const FamilyPart> parts = family.parts;
    for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
      const std::size_t provider = layout->blocks[parts[begin].block].provider;
      while (end < parts.size() && layout->blocks[parts[end].block].provider == provider) ++end;
      providers_[provider].metrics.push_back({&family, parts.subspan(begin, end - begin)});
    }
  }
}

void OtlpEncoder::encode(const exposition::Snapshot& snapshot, const Take& take) {
  use(snapshot);
  take_ = &take;
  points_.clear();
  metrics_.clear();
  request_.clear();
  point_count_ = 0;
  for (const ProviderMetrics& provider : providers_) {
    for (const ProviderMetric& metric : provider.metrics) {
      RowWalk walk(snapshot, *selection_, *metric.family, metric.parts);
      const std::string name = name_of_metric(metric.family->name, metric.family->type);
      while (walk.next()) {
        if (!values_.read(walk)) continue;
        append_point(walk);
        ++point_count_;
        if (!is_full()) continue;
        end_metric(name, *metric.family);
        end_resource(provider.resource);
        end_batch();
      }
      end_metric(name, *metric.family);
    }
    end_resource(provider.resource);
  }
  encode_about(snapshot);
  end_resource(own_resource_);
  end_batch();
}

std::string_view OtlpEncoder::attributes_of(const RowWalk& walk) {
  BlockAttributes& block = blocks_[walk.part().block];
  const bool is_histogram = walk.family().type == FamilyType::kHistogram;
  exposition::RowBytes& attributes = is_histogram ? block.histogram : block.number;
  if (attributes.empty()) {
    attributes =
        encode_attributes(walk.block(), is_histogram ? kHistogramAttributes : kNumberAttributes);
  }
  return attributes.of(walk.row());
}

void OtlpEncoder::append_point(const RowWalk& walk) {
  const std::string_view attributes = attributes_of(walk);
  const std::uint64_t time = walk.time().realtime_ns;
  // A clock that was set back must not make a count begin behind its end.
  const std::uint64_t start = std::min(walk.block().starts_ns[walk.row()], time);
  switch (walk.family().type) {
    case FamilyType::kCounter:
      return append_number_point(points_, attributes, start, time, values_.value);
    case FamilyType::kGauge:
      return append_number_point(points_, attributes, 0, time, values_.value);
    case FamilyType::kInfo:
      return append_info(walk);
    case FamilyType::kSummary:
      return append_summary(attributes, start, time);
    case FamilyType::kHistogram:
      return append_histogram(attributes, start, time);
  }
}

void OtlpEncoder::append_info(const RowWalk& walk) {
  std::string attributes(attributes_of(walk));
  append_attribute(attributes, kNumberAttributes, walk.family().text_label,
                   std::string_view(values_.text));
  append_number_point(points_, attributes, 0, walk.time().realtime_ns,
                      {Number::Kind::kUnsigned, 1, 0});
}

void OtlpEncoder::append_summary(std::string_view attributes, std::uint64_t start_ns,
                                 std::uint64_t time_ns) {
  point_ = attributes;
  protozero::pbf_builder<SummaryPoint> builder(point_);
  builder.add_fixed64(SummaryPoint::kStart, start_ns);
  builder.add_fixed64(SummaryPoint::kTime, time_ns);
  builder.add_fixed64(SummaryPoint::kCount, static_cast<std::uint64_t>(values_.count.as_double()));
  builder.add_double(SummaryPoint::kSum, values_.value.as_double());
  protozero::pbf_builder<Data>(points_).add_message(Data::kPoints, point_);
}

void OtlpEncoder::append_histogram(std::string_view attributes, std::uint64_t start_ns,
                                   std::uint64_t time_ns) {
  const Distribution& distribution = values_.distribution;
  const DistributionShape& shape = distribution.shape;
  point_ = attributes;
  protozero::pbf_builder<HistogramPoint> builder(point_);
  builder.add_fixed64(HistogramPoint::kStart, start_ns);
  builder.add_fixed64(HistogramPoint::kTime, time_ns);
  builder.add_fixed64(HistogramPoint::kCount, distribution.count);
  builder.add_double(HistogramPoint::kSum, distribution.sum);
  builder.add_sint32(HistogramPoint::kScale, shape.scale);
  if (distribution.below != 0) builder.add_fixed64(HistogramPoint::kZeroCount, distribution.below);
  builder.add_double(HistogramPoint::kZeroThreshold, bucket_bound(shape.first, shape.scale));
  if (distribution.least) builder.add_double(HistogramPoint::kMin, *distribution.least);
  if (distribution.most) builder.add_double(HistogramPoint::kMax, *distribution.most);
  const auto is_used = [](std::uint64_t count) { return count != 0; };
  auto begin = std::find_if(distribution.buckets.begin(), distribution.buckets.end(), is_used);
  auto end =
      std::find_if(distribution.buckets.rbegin(), distribution.buckets.rend(), is_used).base();
  if (distribution.above != 0) end = distribution.buckets.end();
  if (begin < end || distribution.above != 0) {
    protozero::pbf_builder<Buckets> buckets(builder, HistogramPoint::kPositive);
    buckets.add_sint32(Buckets::kOffset, shape.first + static_cast<std::int32_t>(
                                                           begin - distribution.buckets.begin()));
    protozero::packed_field_uint64 counts(buckets, static_cast<Tag>(Buckets::kCounts));
    for (; begin < end; ++begin) counts.add_element(*begin);
    if (distribution.above != 0) counts.add_element(distribution.above);
  }
  protozero::pbf_builder<Data>(points_).add_message(Data::kPoints, point_);
}

void OtlpEncoder::encode_about(const exposition::Snapshot& snapshot) {
  const std::uint64_t time = snapshot.sample.time.realtime_ns;
  for (const exposition::PlainFamily& family : snapshot.about) {
    for (const exposition::PlainSeries& series : family.series) {
      std::string attributes;
      for (const Label& label : series.labels) {
        append_attribute(attributes, kNumberAttributes, label.name, std::string_view(label.value));
      }
      append_number_point(points_, attributes, 0, time, {Number::Kind::kReal, 0, series.value});
      ++point_count_;
    }
    end_metric(name_of_metric(family.name, family.type), family.help,
               family.unit == "seconds" ? "s" : "1", Metric::kGauge);
  }
}

void OtlpEncoder::end_metric(std::string_view name, const PageFamily& family) {
  end_metric(name, family.help, family.ucum, data_of(family.type));
}

void OtlpEncoder::end_metric(std::string_view name, std::string_view help, std::string_view unit,
                             Metric data) {
  if (points_.empty()) return;
  if (data == Metric::kSum || data == Metric::kExponentialHistogram) {
    protozero::pbf_builder<Data> builder(points_);
    builder.add_enum(Data::kTemporality, kCumulative);
    if (data == Metric::kSum) builder.add_bool(Data::kIsMonotonic, true);
  }
  std::string head;
  protozero::pbf_builder<Metric> builder(head);
  builder.add_string(Metric::kName, name.data(), name.size());
  builder.add_string(Metric::kDescription, help.data(), help.size());
  builder.add_string(Metric::kUnit, unit.data(), unit.size());
  append_head(head, static_cast<Tag>(data), points_.size());
  protozero::pbf_builder<ScopeMetrics>(metrics_).add_bytes_vectored(ScopeMetrics::kMetrics, head,
                                                                    points_);
  points_.clear();
}

void OtlpEncoder::end_resource(std::string_view resource) {
  if (metrics_.empty()) return;
  std::string head;
  protozero::pbf_builder<ResourceMetrics> builder(head);
  builder.add_bytes(ResourceMetrics::kResource, resource.data(), resource.size());
  append_head(head, static_cast<Tag>(ResourceMetrics::kScopeMetrics),
              scope_.size() + metrics_.size());
  protozero::pbf_builder<Request>(request_).add_bytes_vectored(Request::kResourceMetrics, head,
                                                               scope_, metrics_);
  metrics_.clear();
}

void OtlpEncoder::end_batch() {
  if (request_.empty()) return;
  (*take_)({std::exchange(request_, {}), std::exchange(point_count_, 0)});
}

}  // namespace meterbank::push::otlp
