// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "coding/range_decoder.hpp"
#include "coding/row_models.hpp"
#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

struct RowDecoder::Stream {
  RowModels models;
  RangeDecoder bits;
};

RowDecoder::RowDecoder() : stream_(std::make_unique<Stream>()) {}
RowDecoder::RowDecoder(RowDecoder&&) noexcept = default;
RowDecoder& RowDecoder::operator=(RowDecoder&&) noexcept = default;
RowDecoder::~RowDecoder() = default;

void RowDecoder::begin_chunk() noexcept { stream_->models.begin_chunk(); }

void RowDecoder::begin_tick(std::span<const std::byte> bytes) noexcept {
  stream_->models.begin_tick();
  stream_->bits.begin(bytes);
}

void RowDecoder::row(std::span<const Column> columns, RowHistory& history) noexcept {
  if (!failed()) stream_->models.row(stream_->bits, columns, nullptr, history);
}

bool RowDecoder::flag(unsigned context) noexcept {
  return !failed() && stream_->models.flag(stream_->bits, false, context) && !failed();
}

std::uint64_t RowDecoder::number(unsigned context) noexcept {
  const std::uint64_t number = failed() ? 0 : stream_->models.number(stream_->bits, 0, context);
  return failed() ? 0 : number;
}

bool RowDecoder::failed() const noexcept { return stream_->bits.failed(); }

bool RowDecoder::finish_tick() noexcept { return stream_->bits.finish(); }

}  // namespace meterbank::recording
