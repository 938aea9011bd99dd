// SPDX-License-Identifier: Apache-2.0
#include "agent/http/body.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace meterbank::agent {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Small, so that the client has something soon.
constexpr std::size_t kFirstPieceBytes = std::size_t{8} << 10;

// Pieces of a page.
class PageSource {
 public:
  explicit PageSource(std::unique_ptr<exposition::PageWriter> page) : page_(std::move(page)) {}

  // The rest of the present piece; of the next piece if nothing is left of this one.
  // Empty: the end.
  [[nodiscard]] std::string_view look() {
    while (taken_ == piece_.size() && !is_done_) {
      piece_.clear();
      taken_ = 0;
      is_done_ = !page_->write(piece_, made_ == 0 ? kFirstPieceBytes : kPieceBytes);
      is_first_ = made_ == 0;
      made_ += piece_.size();
    }
    return std::string_view(piece_).substr(taken_);
  }
  void take(std::size_t bytes) noexcept { taken_ += bytes; }
  // Of the present piece. A compressor that waits for more would keep it.
  [[nodiscard]] bool is_first() const noexcept { return is_first_; }
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }

 private:
  std::unique_ptr<exposition::PageWriter> page_;
  std::string piece_;
  std::size_t taken_ = 0;
  std::uint64_t made_ = 0;
  bool is_first_ = false;
  bool is_done_ = false;
};

class PlainBody final : public Body {
 public:
  explicit PlainBody(std::unique_ptr<exposition::PageWriter> page) : source_(std::move(page)) {}

  // As much as there is room for: what remains of a piece is not worth a message of its own.
  std::size_t read(char* out, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes && !(done != 0 && source_.is_first())) {
      const std::string_view piece = source_.look().substr(0, bytes - done);
      if (piece.empty()) break;
      std::memcpy(out + done, piece.data(), piece.size());
      source_.take(piece.size());
      done += piece.size();
    }
    return done;
  }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept override { return source_.made(); }

 private:
  PageSource source_;
};

class GzipBody final : public Body {
 public:
  explicit GzipBody(std::unique_ptr<exposition::PageWriter> page) : source_(std::move(page)) {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, with the header of gzip
    constexpr int kMemoryLevel = 8;
    if (deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipBody(const GzipBody&) = delete;
  GzipBody& operator=(const GzipBody&) = delete;
  ~GzipBody() override { deflateEnd(&stream_); }

  std::size_t read(char* out, std::size_t bytes) override {
    if (is_done_) return 0;
    const std::size_t room = std::min(bytes, kPieceBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && !is_done_) {
      const std::string_view piece = source_.look();
      // zlib does not write to its input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      const int more = source_.is_first() ? Z_SYNC_FLUSH : Z_NO_FLUSH;
      const int result = deflate(&stream_, piece.empty() ? Z_FINISH : more);
      source_.take(piece.size() - stream_.avail_in);
      is_done_ = result == Z_STREAM_END;
    }
    return room - stream_.avail_out;
  }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept override { return source_.made(); }

 private:
  PageSource source_;
  z_stream stream_{};
  bool is_done_ = false;
};

class ZstdBody final : public Body {
 public:
  explicit ZstdBody(std::unique_ptr<exposition::PageWriter> page)
      : source_(std::move(page)), context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 1);
  }

  std::size_t read(char* out, std::size_t bytes) override {
    if (is_done_) return 0;
    ZSTD_outBuffer output{out, std::min(bytes, kPieceBytes), 0};
    // A block of zstd is a few KiB here. A message for each would cost more than its bytes.
    while (output.pos < output.size / 2 && !is_done_ && !(output.pos != 0 && source_.is_first())) {
      const std::string_view piece = source_.look();
      ZSTD_inBuffer input{piece.data(), piece.size(), 0};
      const ZSTD_EndDirective more = source_.is_first() ? ZSTD_e_flush : ZSTD_e_continue;
      const ZSTD_EndDirective directive = piece.empty() ? ZSTD_e_end : more;
      const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      // Nothing but memory can be missing.
      if (ZSTD_isError(left) != 0) throw std::bad_alloc();
      source_.take(input.pos);
      is_done_ = piece.empty() && left == 0;
    }
    return output.pos;
  }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept override { return source_.made(); }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  };

  PageSource source_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  bool is_done_ = false;
};

}  // namespace

std::unique_ptr<Body> make_body(std::unique_ptr<exposition::PageWriter> page, Encoding encoding) {
  switch (encoding) {
    case Encoding::kIdentity:
      break;
    case Encoding::kGzip:
      return std::make_unique<GzipBody>(std::move(page));
    case Encoding::kZstd:
      return std::make_unique<ZstdBody>(std::move(page));
  }
  return std::make_unique<PlainBody>(std::move(page));
}

}  // namespace meterbank::agent
