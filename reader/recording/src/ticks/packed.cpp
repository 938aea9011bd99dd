// SPDX-License-Identifier: Apache-2.0
#include "packed.hpp"

#include <span>

#include "coding/range_decoder.hpp"
#include "coding/range_encoder.hpp"
#include "coding/text_models.hpp"

namespace meterbank::recording {

void append_packed(std::string_view bytes, std::string& out) {
  TextModels models;
  RangeEncoder encoder;
  encoder.begin();
  unsigned before = 0;
  for (const char byte : bytes) {
    before = models.character(encoder, static_cast<unsigned char>(byte), before);
  }
  const auto& packed = encoder.finish();
  ByteWriter writer(out);
  writer.number(bytes.size());
  writer.text({reinterpret_cast<const char*>(packed.data()), packed.size()});
}

std::optional<std::string> read_packed(ByteReader& in, std::size_t bytes_max) {
  const std::uint64_t size = in.number();
  const std::string_view packed = in.text(in.rest().size());
  if (in.failed() || size > bytes_max) return std::nullopt;
  TextModels models;
  RangeDecoder decoder;
  decoder.begin(std::as_bytes(std::span(packed)));
  std::string bytes;
  unsigned before = 0;
  while (bytes.size() < size) {
    before = models.character(decoder, 0, before);
    if (decoder.failed()) return std::nullopt;
    bytes.push_back(static_cast<char>(before));
  }
  if (!decoder.finish()) return std::nullopt;
  return bytes;
}

void skip_packed(ByteReader& in) noexcept {
  static_cast<void>(in.number());
  static_cast<void>(in.text(in.rest().size()));
}

}  // namespace meterbank::recording
