// SPDX-License-Identifier: Apache-2.0
//
// Remote write 2.0. A request has a table of texts; series refer to them by number.
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "push/remote_write/value_messages.hpp"
#include "push/remote_write/versions.hpp"

namespace meterbank::push::remote_write {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

class WriteRequest2 final : public WriteRequest {
 public:
  WriteRequest2() { begin(); }

  void begin_row(std::span<const LabelView> labels) override {
    labels_.assign(labels.begin(), labels.end());
    row_.clear();
    for (const LabelView& label : labels_) append_refs(row_, label);
    place_ = 0;
  }

  void add_sample(const FamilyFacts& family, std::string_view series, std::optional<LabelView> more,
                  double value, const SeriesTimes& times) override {
    const Described& described = describe(family, series);
    begin_series(described, more);
    append_sample(series_, static_cast<Tag>(TimeSeries2::kSamples), value, times, Starts::kYes);
    end_series(described);
  }

  void add_histogram(const FamilyFacts& family, const Distribution& distribution,
                     const exposition::NativeHistogram& buckets,
                     const SeriesTimes& times) override {
    const Described& described = describe(family, family.name);
    begin_series(described, std::nullopt);
    append_histogram(series_, static_cast<Tag>(TimeSeries2::kHistograms), distribution, buckets,
                     times, Starts::kYes);
    end_series(described);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return symbols_.size() + all_series_.size();
  }

  [[nodiscard]] std::string take() override {
    std::string request = std::exchange(symbols_, {});
    request += all_series_;
    begin();
    return request;
  }

 private:
  // What a series says besides the labels of its row and its value.
  struct Described {
    exposition::FamilyType type = exposition::FamilyType::kGauge;
    std::string series, help, unit;
    std::string name_refs;  // the label __name__
    std::string metadata;   // as a field of the series
  };

  void begin() {
    described_.clear();
    place_ = 0;
    refs_.clear();
    symbols_.clear();
    all_series_.clear();
    ref_of({});  // the first text is the empty one
  }

  std::uint32_t ref_of(std::string_view text) {
    if (const auto known = refs_.find(text); known != refs_.end()) return known->second;
    const auto ref = static_cast<std::uint32_t>(refs_.size());
    refs_.emplace(text, ref);
    protozero::pbf_builder<Request2>(symbols_).add_string(Request2::kSymbols, text.data(),
                                                          text.size());
    return ref;
  }

  void append_refs(std::string& refs, const LabelView& label) {
    protozero::add_varint_to_buffer(&refs, ref_of(label.name));
    protozero::add_varint_to_buffer(&refs, ref_of(label.value));
  }

  // Rows of one set have the same series in the same order, so what was said of the series at this
  // place of the last row is mostly that of this one.
  const Described& describe(const FamilyFacts& family, std::string_view series) {
    if (place_ == described_.size()) described_.emplace_back();
    Described& described = described_[place_++];
    const bool is_known = !described.metadata.empty() && described.type == family.type &&
                          described.series == series && described.help == family.help &&
                          described.unit == family.unit;
    if (is_known) return described;
    described.metadata.clear();  // until all of it is known
    described.type = family.type;
    described.series = series;
    described.help = family.help;
    described.unit = family.unit;
    described.name_refs.clear();
    append_refs(described.name_refs, {"__name__", series});
    std::string metadata;
    append_metadata(metadata, family);
    described.metadata = std::move(metadata);
    return described;
  }

  void append_metadata(std::string& series, const FamilyFacts& family) {
    protozero::pbf_builder<TimeSeries2> builder(series);
    protozero::pbf_builder<Metadata2> metadata(builder, TimeSeries2::kMetadata);
    metadata.add_enum(Metadata2::kType, static_cast<std::int32_t>(type_of(family.type)));
    metadata.add_uint32(Metadata2::kHelpRef, ref_of(family.help));
    if (!family.unit.empty()) metadata.add_uint32(Metadata2::kUnitRef, ref_of(family.unit));
  }

  void begin_series(const Described& described, std::optional<LabelView> more) {
    series_.clear();
    protozero::pbf_builder<TimeSeries2> builder(series_);
    if (!more) {
      builder.add_bytes_vectored(TimeSeries2::kLabelRefs, described.name_refs, row_);
      return;
    }
    label_refs_ = described.name_refs;
    for (const LabelView& label : with_label(labels_, *more)) append_refs(label_refs_, label);
    builder.add_bytes(TimeSeries2::kLabelRefs, label_refs_);
  }

  void end_series(const Described& described) {
    protozero::pbf_builder<Request2>(all_series_)
        .add_bytes_vectored(Request2::kTimeSeries, series_, described.metadata);
  }

  std::vector<LabelView> labels_;  // of the row
  std::string row_;                // the same as numbers of texts
  std::string label_refs_, series_;
  std::vector<Described> described_;  // of the places in a row; their numbers are of this request
  std::size_t place_ = 0;             // of the next series in the row
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> refs_;
  std::string symbols_, all_series_;  // both as fields of the request
};

}  // namespace

std::unique_ptr<WriteRequest> make_write_request_2() { return std::make_unique<WriteRequest2>(); }

}  // namespace meterbank::push::remote_write
