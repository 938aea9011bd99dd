// SPDX-License-Identifier: Apache-2.0
#include "packed.hpp"

#include <algorithm>
#include <span>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

void append_packed(std::string_view bytes, std::string& out) {
  RowEncoder encoder;
  encoder.begin_chunk();
  encoder.begin_tick();
  encoder.bytes(bytes);
  std::string packed;
  encoder.finish_tick(packed);
  ByteWriter writer(out);
  writer.number(bytes.size());
  writer.text(packed);
}

std::optional<std::string> read_packed(ByteReader& in, std::size_t bytes_max) {
  const std::uint64_t size = in.number();
  const std::string_view packed = in.text(in.rest().size());
  if (in.failed() || size > bytes_max) return std::nullopt;
  RowDecoder decoder;
  decoder.begin_chunk();
  decoder.begin_tick(std::as_bytes(std::span(packed)));
  constexpr std::size_t kStep = 16 << 10U;
  std::string bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min<std::size_t>(before + kStep, size));
    decoder.bytes(std::span(bytes).subspan(before), before == 0 ? '\0' : bytes[before - 1]);
    if (decoder.failed()) return std::nullopt;
  }
  if (!decoder.finish_tick()) return std::nullopt;
  return bytes;
}

void skip_packed(ByteReader& in) noexcept {
  static_cast<void>(in.number());
  static_cast<void>(in.text(in.rest().size()));
}

}  // namespace meterbank::recording
