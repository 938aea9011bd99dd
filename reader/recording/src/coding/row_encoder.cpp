// SPDX-License-Identifier: Apache-2.0
#include "coding/range_encoder.hpp"
#include "coding/row_models.hpp"
#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

struct RowEncoder::Stream {
  RowModels models;
  RangeEncoder bits;
};

RowEncoder::RowEncoder() : stream_(std::make_unique<Stream>()) {}
RowEncoder::RowEncoder(RowEncoder&&) noexcept = default;
RowEncoder& RowEncoder::operator=(RowEncoder&&) noexcept = default;
RowEncoder::~RowEncoder() = default;

void RowEncoder::begin_chunk() noexcept { stream_->models.begin_chunk(); }

void RowEncoder::begin_tick() noexcept {
  stream_->models.begin_tick();
  stream_->bits.begin();
}

void RowEncoder::row(std::span<const Column> columns, std::span<const std::uint64_t> words,
                     RowHistory& history) {
  stream_->models.row(stream_->bits, columns, words.data(), history);
}

void RowEncoder::flag(bool value, unsigned context) {
  stream_->models.flag(stream_->bits, value, context);
}

void RowEncoder::number(std::uint64_t value, unsigned context) {
  stream_->models.number(stream_->bits, value, context);
}

void RowEncoder::finish_tick(std::string& out) {
  const std::span<const std::uint8_t> bytes = stream_->bits.finish();
  out.append(bytes.begin(), bytes.end());
}

}  // namespace meterbank::recording
