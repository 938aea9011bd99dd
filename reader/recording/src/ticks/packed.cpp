// SPDX-License-Identifier: Apache-2.0
#include "packed.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace meterbank::recording {

void append_packed(std::string_view bytes, std::string& out) {
  std::string packed(::compressBound(bytes.size()), '\0');
  uLongf size = packed.size();
  const int result = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                                 Z_DEFAULT_COMPRESSION);
  if (result != Z_OK) throw std::bad_alloc();  // the only other reason is room, and there is enough
  ByteWriter writer(out);
  writer.number(bytes.size());
  writer.text({packed.data(), size});
}

std::optional<std::string> read_packed(ByteReader& in, std::size_t bytes_max) {
  const std::uint64_t size = in.number();
  const std::string_view packed = in.text(in.rest().size());
  // zlib makes of a byte at most 1,032.
  constexpr std::uint64_t kRatioMax = 1032;
  if (in.failed() || size > bytes_max || size > kRatioMax * packed.size()) return std::nullopt;
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string bytes;
  std::array<char, 16384> part;
  int result = Z_OK;
  while (result == Z_OK && bytes.size() <= size) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    result = ::inflate(&stream, Z_NO_FLUSH);
    bytes.append(part.data(), part.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_STREAM_END || bytes.size() != size) return std::nullopt;
  return bytes;
}

}  // namespace meterbank::recording
