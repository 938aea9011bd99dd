// SPDX-License-Identifier: Apache-2.0
#include "push/batch/compression.hpp"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <new>
#include <optional>

namespace meterbank::push {
namespace {

class GzipStream {
 public:
  GzipStream() {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, and a header of gzip
    constexpr int kMemoryLevel = 8;       // zlib's default
    if (deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() { deflateEnd(&stream_); }

  [[nodiscard]] std::size_t bytes_max(std::size_t bytes) { return deflateBound(&stream_, bytes); }
  // Returns the bytes of the result. Precondition: `out` has room for bytes_max().
  std::size_t compress(std::string& text, std::string& out) noexcept {
    deflateReset(&stream_);
    stream_.next_in = reinterpret_cast<Bytef*>(text.data());
    stream_.avail_in = static_cast<uInt>(text.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    deflate(&stream_, Z_FINISH);  // in one call, because the bound is kept
    return stream_.total_out;
  }

 private:
  z_stream stream_{};
};

struct EndZstd {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

}  // namespace

struct Compressor::State {
  // Made when first needed.
  std::optional<GzipStream> gzip;
  std::unique_ptr<ZSTD_CCtx, EndZstd> zstd;
  std::string room;  // for the largest result so far

  void make_room(std::size_t bytes) {
    if (room.size() < bytes) room.resize(bytes);
  }
  std::size_t compress_gzip(std::string& text) {
    if (!gzip) gzip.emplace();
    make_room(gzip->bytes_max(text.size()));
    return gzip->compress(text, room);
  }
  std::size_t compress_zstd(const std::string& text) {
    if (zstd == nullptr) zstd.reset(ZSTD_createCCtx());
    make_room(ZSTD_compressBound(text.size()));
    const std::size_t bytes =
        zstd == nullptr
            ? 0
            : ZSTD_compressCCtx(zstd.get(), room.data(), room.size(), text.data(), text.size(), 1);
    // Nothing but memory can be missing.
    if (zstd == nullptr || ZSTD_isError(bytes) != 0) throw std::bad_alloc();
    return bytes;
  }
  std::size_t compress_snappy(const std::string& text) {
    make_room(snappy::MaxCompressedLength(text.size()));
    std::size_t bytes = 0;
    snappy::RawCompress(text.data(), text.size(), room.data(), &bytes);
    return bytes;
  }
};

Compressor::Compressor() : state_(std::make_unique<State>()) {}
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;
Compressor::~Compressor() = default;

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

std::string Compressor::compress(std::string text, Coding coding) {
  std::size_t bytes = 0;
  switch (coding) {
    case Coding::kIdentity:
      return text;
    case Coding::kGzip:
      bytes = state_->compress_gzip(text);
      break;
    case Coding::kZstd:
      bytes = state_->compress_zstd(text);
      break;
    case Coding::kSnappy:
      bytes = state_->compress_snappy(text);
      break;
  }
  return state_->room.substr(0, bytes);
}

}  // namespace meterbank::push
