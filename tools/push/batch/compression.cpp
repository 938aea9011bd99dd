// SPDX-License-Identifier: Apache-2.0
#include "push/batch/compression.hpp"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <new>

namespace meterbank::push {
namespace {

std::string gzip(std::string text) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window, and a header of gzip
  constexpr int kMemoryLevel = 8;       // zlib's default
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // in one call, because the bound is kept
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1);
  if (ZSTD_isError(bytes) != 0) throw std::bad_alloc();  // nothing else can fail here
  out.resize(bytes);
  return out;
}

}  // namespace

std::string_view name_of(Coding coding) noexcept {
  switch (coding) {
    case Coding::kIdentity:
      break;
    case Coding::kGzip:
      return "gzip";
    case Coding::kZstd:
      return "zstd";
    case Coding::kSnappy:
      return "snappy";
  }
  return {};
}

std::string compress(std::string text, Coding coding) {
  switch (coding) {
    case Coding::kIdentity:
      return text;
    case Coding::kGzip:
      return gzip(std::move(text));
    case Coding::kZstd:
      return zstd(text);
    case Coding::kSnappy:
      break;
  }
  std::string out;
  snappy::Compress(text.data(), text.size(), &out);
  return out;
}

}  // namespace meterbank::push
