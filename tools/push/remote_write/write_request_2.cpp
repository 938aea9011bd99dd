// SPDX-License-Identifier: Apache-2.0
//
// Remote write 2.0. A request has a table of texts; series refer to them by number.
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <unordered_map>
#include <utility>

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
  }

  void add_sample(const FamilyFacts& family, std::string_view series, std::optional<LabelView> more,
                  double value, const SeriesTimes& times) override {
    begin_series(series, more);
    append_sample(series_, static_cast<Tag>(TimeSeries2::kSamples), value, times, Starts::kYes);
    end_series(family);
  }

  void add_histogram(const FamilyFacts& family, const Distribution& distribution,
                     const exposition::NativeHistogram& buckets,
                     const SeriesTimes& times) override {
    begin_series(family.name, std::nullopt);
    append_histogram(series_, static_cast<Tag>(TimeSeries2::kHistograms), distribution, buckets,
                     times, Starts::kYes);
    end_series(family);
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
  void begin() {
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

  void begin_series(std::string_view series, std::optional<LabelView> more) {
    series_.clear();
    label_refs_.clear();
    append_refs(label_refs_, {"__name__", series});
    if (more) {
      for (const LabelView& label : with_label(labels_, *more)) append_refs(label_refs_, label);
    } else {
      label_refs_ += row_;
    }
    protozero::pbf_builder<TimeSeries2>(series_).add_bytes(TimeSeries2::kLabelRefs, label_refs_);
  }

  void end_series(const FamilyFacts& family) {
    {
      protozero::pbf_builder<TimeSeries2> series(series_);
      protozero::pbf_builder<Metadata2> metadata(series, TimeSeries2::kMetadata);
      metadata.add_enum(Metadata2::kType, static_cast<std::int32_t>(type_of(family.type)));
      metadata.add_uint32(Metadata2::kHelpRef, ref_of(family.help));
      if (!family.unit.empty()) metadata.add_uint32(Metadata2::kUnitRef, ref_of(family.unit));
    }
    protozero::pbf_builder<Request2>(all_series_).add_message(Request2::kTimeSeries, series_);
  }

  std::vector<LabelView> labels_;  // of the row
  std::string row_;                // the same as numbers of texts
  std::string label_refs_, series_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> refs_;
  std::string symbols_, all_series_;  // both as fields of the request
};

}  // namespace

std::unique_ptr<WriteRequest> make_write_request_2() { return std::make_unique<WriteRequest2>(); }

}  // namespace meterbank::push::remote_write
