// SPDX-License-Identifier: Apache-2.0
//
// Remote write 1.0. Each series carries all its labels as text.
#include <algorithm>
#include <protozero/pbf_builder.hpp>
#include <unordered_set>
#include <utility>

#include "push/remote_write/value_messages.hpp"
#include "push/remote_write/versions.hpp"

namespace meterbank::push::remote_write {
namespace {

void append_label(std::string& series, std::string_view name, std::string_view value) {
  std::string label;
  protozero::pbf_builder<Label> builder(label);
  builder.add_string(Label::kName, name.data(), name.size());
  builder.add_string(Label::kValue, value.data(), value.size());
  protozero::pbf_builder<TimeSeries1>(series).add_message(TimeSeries1::kLabels, label);
}

class WriteRequest1 final : public WriteRequest {
 public:
  SeriesNumber describe(const FamilyFacts& family, std::string_view series) override {
    if (described_.insert(std::string(family.name)).second) add_metadata(family);
    // No other label comes before it: names of labels begin with a small letter or "_" and another.
    std::string name;
    append_label(name, "__name__", series);
    names_.push_back(std::move(name));
    return static_cast<SeriesNumber>(names_.size() - 1);
  }

  void begin_row(std::span<const LabelView> labels) override {
    labels_.assign(labels.begin(), labels.end());
    row_.clear();
    for (const LabelView& label : labels_) append_label(row_, label.name, label.value);
  }

  void add_sample(SeriesNumber series, std::optional<LabelView> more, double value,
                  const SeriesTimes& times) override {
    begin_series(series, more);
    append_sample(series_, static_cast<Tag>(TimeSeries1::kSamples), value, times, Starts::kNo);
    end_series();
  }

  void add_histogram(SeriesNumber series, const Distribution& distribution,
                     const exposition::NativeHistogram& buckets,
                     const SeriesTimes& times) override {
    begin_series(series, std::nullopt);
    append_histogram(series_, static_cast<Tag>(TimeSeries1::kHistograms), distribution, buckets,
                     times, Starts::kNo);
    end_series();
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return request_.size(); }

  [[nodiscard]] std::string take() override {
    described_.clear();
    names_.clear();
    return std::exchange(request_, {});
  }

 private:
  void begin_series(SeriesNumber series, std::optional<LabelView> more) {
    series_ = names_[static_cast<std::size_t>(series)];
    if (!more) {
      series_ += row_;
      return;
    }
    for (const LabelView& label : with_label(labels_, *more)) {
      append_label(series_, label.name, label.value);
    }
  }

  void end_series() {
    protozero::pbf_builder<Request1>(request_).add_message(Request1::kTimeSeries, series_);
  }

  void add_metadata(const FamilyFacts& family) {
    std::string message;
    protozero::pbf_builder<Metadata1> builder(message);
    builder.add_enum(Metadata1::kType, static_cast<std::int32_t>(type_of(family.type)));
    builder.add_string(Metadata1::kFamilyName, family.name.data(), family.name.size());
    builder.add_string(Metadata1::kHelp, family.help.data(), family.help.size());
    if (!family.unit.empty()) {
      builder.add_string(Metadata1::kUnit, family.unit.data(), family.unit.size());
    }
    protozero::pbf_builder<Request1>(request_).add_message(Request1::kMetadata, message);
  }

  std::vector<LabelView> labels_;  // of the row
  std::string row_;                // the same as bytes
  std::string series_, request_;
  std::unordered_set<std::string> described_;  // families whose metadata is in the request
  std::vector<std::string> names_;             // the label __name__ of each series described
};

}  // namespace

std::vector<LabelView> with_label(std::span<const LabelView> labels, const LabelView& more) {
  std::vector<LabelView> all(labels.begin(), labels.end());
  const auto place = std::lower_bound(
      all.begin(), all.end(), more.name,
      [](const LabelView& label, std::string_view name) { return label.name < name; });
  if (place != all.end() && place->name == more.name) {
    *place = more;
  } else {
    all.insert(place, more);
  }
  return all;
}

std::unique_ptr<WriteRequest> make_write_request_1() { return std::make_unique<WriteRequest1>(); }

std::unique_ptr<WriteRequest> make_write_request(Version version) {
  return version == Version::k1 ? make_write_request_1() : make_write_request_2();
}

}  // namespace meterbank::push::remote_write
