// SPDX-License-Identifier: Apache-2.0
//
// Remote write 2.0. A request has a table of texts; series refer to them by number. Numbers are
// most of every request, so the bytes of their series are put together by hand:
//
//   | 5: length | 1: numbers of name and labels | 2: value, time, start | 5: metadata |
#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>
#include <utility>
#include <vector>

#include "exposition/protobuf/field_tag.hpp"
#include "push/remote_write/symbol_table.hpp"
#include "push/remote_write/value_messages.hpp"
#include "push/remote_write/versions.hpp"

namespace meterbank::push::remote_write {
namespace {

using Wire = protozero::pbf_wire_type;
using exposition::tag_byte;

char* put_varint(char* out, std::uint64_t value) noexcept {
  return out + protozero::add_varint_to_buffer(out, value);
}
std::size_t varint_bytes(std::uint64_t value) noexcept {
  return static_cast<std::size_t>(protozero::length_of_varint(value));
}

// Bytes that are copied often, and are mostly few.
class Piece {
 public:
  // How much is written at most in place of a smaller piece.
  static constexpr std::size_t kAtOnce = 32;

  void assign(std::string_view bytes) {
    char* const out = room_for(bytes.size());
    end_at(std::copy(bytes.begin(), bytes.end(), out));
  }
  // Where up to `bytes` can be written. Throws std::bad_alloc.
  [[nodiscard]] char* room_for(std::size_t bytes) {
    if (room_.size() < bytes) room_.resize(bytes);
    return room_.data();
  }
  // Takes what was written from room_for() to `end`.
  void end_at(const char* end) noexcept { size_ = static_cast<std::size_t>(end - room_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view view() const noexcept {
    return std::string_view(room_).substr(0, size_);
  }
  // Returns what is behind the piece. There must be room for kAtOnce bytes.
  char* put(char* out) const noexcept {
    if (size_ <= kAtOnce) {
      std::memcpy(out, room_.data(), kAtOnce);  // two instructions instead of a call
    } else {
      std::memcpy(out, room_.data(), size_);
    }
    return out + size_;
  }

 private:
  std::string room_ = std::string(kAtOnce, '\0');  // or more
  std::size_t size_ = 0;
};

// Bytes that are written to their places. Unlike a string it does not fill them with zeros first.
class Buffer {
 public:
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view view() const noexcept {
    return std::string_view(room_).substr(0, size_);
  }
  // Where up to `bytes` can be written. Throws std::bad_alloc.
  [[nodiscard]] char* room_for(std::size_t bytes) {
    if (room_.size() - size_ < bytes) room_.resize(std::max(2 * room_.size(), size_ + bytes));
    return room_.data() + size_;
  }
  // Takes what was written from room_for() to `end`.
  void end_at(const char* end) noexcept { size_ = static_cast<std::size_t>(end - room_.data()); }
  void append(std::string_view bytes) {
    char* const out = room_for(bytes.size());
    end_at(std::copy(bytes.begin(), bytes.end(), out));
  }

 private:
  std::string room_;
  std::size_t size_ = 0;
};

class WriteRequest2 final : public WriteRequest {
 public:
  SeriesNumber describe(const FamilyFacts& family, std::string_view series) override {
    Described described;
    field_.clear();
    append_refs(field_, {"__name__", series});
    described.name_refs.assign(field_);
    field_.clear();
    append_metadata(field_, family);
    described.metadata.assign(field_);
    described_.push_back(std::move(described));
    return static_cast<SeriesNumber>(described_.size() - 1);
  }

  // Rows of one set have the same labels but for one.
  void begin_row(std::span<const LabelView> labels) override {
    columns_.resize(labels.size());
    char* out = row_.room_for(labels.size() * 2 * protozero::max_varint_length);
    for (std::size_t index = 0; index < labels.size(); ++index) {
      Column& column = columns_[index];
      column.use(labels[index], symbols_);
      out = put_varint(put_varint(out, column.name_ref), column.value_ref);
    }
    row_.end_at(out);
  }

  void add_sample(SeriesNumber series, std::optional<LabelView> more, double value,
                  const SeriesTimes& times) override {
    const Described& described = described_[static_cast<std::size_t>(series)];
    if (more) {
      begin_series(described, more);
      append_sample(series_, static_cast<Tag>(TimeSeries2::kSamples), value, times, Starts::kYes);
      return end_series(described);
    }
    append_series(described, value, times_of(times));
  }

  void add_histogram(SeriesNumber series, const Distribution& distribution,
                     const exposition::NativeHistogram& buckets,
                     const SeriesTimes& times) override {
    const Described& described = described_[static_cast<std::size_t>(series)];
    begin_series(described, std::nullopt);
    append_histogram(series_, static_cast<Tag>(TimeSeries2::kHistograms), distribution, buckets,
                     times, Starts::kYes);
    end_series(described);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return symbols_.message().size() + all_series_.size();
  }

  // The memory is kept for the next request, which is about as large.
  [[nodiscard]] std::string take() override {
    std::string request;
    request.reserve(bytes());
    request.append(symbols_.message()).append(all_series_.view());
    described_.clear();
    columns_.clear();
    symbols_.clear();
    all_series_.clear();
    return request;
  }

 private:
  // What a series says besides the labels of its row and its value.
  struct Described {
    Piece name_refs;  // the label __name__
    Piece metadata;   // as a field of the series
  };
  // One of the labels of a row.
  struct Column {
    std::string name, value;
    std::uint32_t name_ref = 0, value_ref = 0;

    void use(const LabelView& label, SymbolTable& symbols) {
      if (name_ref == 0 || name != label.name) {
        name = label.name;
        name_ref = symbols.ref_of(name);
      }
      if (value_ref == 0 || value != label.value) {
        value = label.value;
        value_ref = symbols.ref_of(value);
      }
    }
  };
  // The end of a Sample: its times, as fields.
  struct Times {
    SeriesTimes times;
    Piece fields;
  };

  void append_refs(std::string& refs, const LabelView& label) {
    protozero::add_varint_to_buffer(&refs, symbols_.ref_of(label.name));
    protozero::add_varint_to_buffer(&refs, symbols_.ref_of(label.value));
  }

  void append_metadata(std::string& series, const FamilyFacts& family) {
    protozero::pbf_builder<TimeSeries2> builder(series);
    protozero::pbf_builder<Metadata2> metadata(builder, TimeSeries2::kMetadata);
    metadata.add_enum(Metadata2::kType, static_cast<std::int32_t>(type_of(family.type)));
    metadata.add_uint32(Metadata2::kHelpRef, symbols_.ref_of(family.help));
    if (!family.unit.empty()) {
      metadata.add_uint32(Metadata2::kUnitRef, symbols_.ref_of(family.unit));
    }
  }

  // Rows mostly began at the same time, so there are two of them: with a start and without.
  [[nodiscard]] const Piece& times_of(const SeriesTimes& times) {
    Times& known = times.start_ms == 0 ? without_start_ : with_start_;
    const bool is_same =
        known.times.time_ms == times.time_ms && known.times.start_ms == times.start_ms;
    if (known.fields.size() != 0 && is_same) return known.fields;
    known.times = times;
    field_.clear();
    protozero::pbf_builder<Sample> sample(field_);
    sample.add_int64(Sample::kTimestamp, times.time_ms);
    if (times.start_ms != 0) sample.add_int64(Sample::kStart, times.start_ms);
    known.fields.assign(field_);
    return known.fields;
  }

  void append_series(const Described& described, double value, const Piece& times) {
    static_assert(std::endian::native == std::endian::little, "fixed64 is little-endian");
    const std::size_t refs = described.name_refs.size() + row_.size();
    const std::size_t sample = 1 + sizeof value + times.size();
    const std::size_t series =
        1 + varint_bytes(refs) + refs + 2 + sample + described.metadata.size();
    char* out = all_series_.room_for(1 + protozero::max_varint_length + series + Piece::kAtOnce);
    *out++ = static_cast<char>(tag_byte(Request2::kTimeSeries, Wire::length_delimited));
    out = put_varint(out, series);
    *out++ = static_cast<char>(tag_byte(TimeSeries2::kLabelRefs, Wire::length_delimited));
    out = put_varint(out, refs);
    out = row_.put(described.name_refs.put(out));
    *out++ = static_cast<char>(tag_byte(TimeSeries2::kSamples, Wire::length_delimited));
    *out++ = static_cast<char>(sample);  // at most 31
    *out++ = static_cast<char>(tag_byte(Sample::kValue, Wire::fixed64));
    std::memcpy(out, &value, sizeof value);
    all_series_.end_at(described.metadata.put(times.put(out + sizeof value)));
  }

  void begin_series(const Described& described, const std::optional<LabelView>& more) {
    series_.clear();
    protozero::pbf_builder<TimeSeries2> builder(series_);
    if (!more) {
      builder.add_bytes_vectored(TimeSeries2::kLabelRefs, described.name_refs.view(), row_.view());
      return;
    }
    std::vector<LabelView> labels;
    labels.reserve(columns_.size());
    for (const Column& column : columns_) labels.push_back({column.name, column.value});
    label_refs_ = described.name_refs.view();
    for (const LabelView& label : with_label(labels, *more)) append_refs(label_refs_, label);
    builder.add_bytes(TimeSeries2::kLabelRefs, label_refs_);
  }

  void end_series(const Described& described) {
    field_.clear();
    protozero::pbf_builder<Request2>(field_).add_bytes_vectored(Request2::kTimeSeries, series_,
                                                                described.metadata.view());
    all_series_.append(field_);
  }

  SymbolTable symbols_;
  std::vector<Described> described_;  // their numbers are of this request
  std::vector<Column> columns_;       // of the row
  Piece row_;                         // the same as numbers of texts
  std::string label_refs_, series_, field_;
  Times with_start_, without_start_;
  Buffer all_series_;  // as fields of the request
};

}  // namespace

std::unique_ptr<WriteRequest> make_write_request_2() { return std::make_unique<WriteRequest2>(); }

}  // namespace meterbank::push::remote_write
