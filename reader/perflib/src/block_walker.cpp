// SPDX-License-Identifier: Apache-2.0
#include "meterbank/perflib/block_walker.hpp"

#include <cstring>

#include "meterbank/windows/wide_text.hpp"

namespace meterbank {
namespace {

using Bytes = std::span<const std::byte>;

// Copies the struct at the front; false: there are not enough bytes. Copied, because the bytes may
// lie at any address.
template <typename T>
bool read_front(Bytes bytes, T& target) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&target, bytes.data(), sizeof(T));
  return true;
}

// A size that a header gives for itself and what follows it.
bool is_sound(std::uint32_t size, std::size_t least, Bytes bytes) noexcept {
  return size >= least && size % 8 == 0 && size <= bytes.size();
}

bool is_nul(const std::byte* character, std::size_t width) noexcept {
  for (std::size_t index = 0; index < width; ++index) {
    if (character[index] != std::byte{0}) return false;
  }
  return true;
}

// The text before the first NUL; false: there is none.
bool read_text(Bytes bytes, CharacterWidth character_width, BlockText& text) noexcept {
  const auto width = static_cast<std::size_t>(character_width);
  for (std::size_t at = 0; bytes.size() - at >= width; at += width) {
    if (!is_nul(bytes.data() + at, width)) continue;
    text = {bytes.first(at), character_width};
    return true;
  }
  return false;
}

bool is_shape(BlockShape shape) noexcept {
  switch (shape) {
    case BlockShape::kError:
    case BlockShape::kSingleCounter:
    case BlockShape::kMultipleCounters:
    case BlockShape::kMultipleInstances:
    case BlockShape::kCounterset:
      return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(BlockFault fault) noexcept {
  switch (fault) {
    case BlockFault::kNone:
      return "none";
    case BlockFault::kHeaderCut:
      return "header_cut";
    case BlockFault::kBadTotal:
      return "bad_total";
    case BlockFault::kBadSize:
      return "bad_size";
    case BlockFault::kUnknownShape:
      return "unknown_shape";
    case BlockFault::kColumnsOverrun:
      return "columns_overrun";
    case BlockFault::kNameUnended:
      return "name_unended";
    case BlockFault::kBadValue:
      return "bad_value";
    case BlockFault::kBytesLeft:
      return "bytes_left";
  }
  return "unknown";
}

std::string BlockText::utf8() const { return utf8_of(bytes, width); }

std::optional<ResultRow> RowWalker::next() noexcept {
  if (fault_ != BlockFault::kNone) return std::nullopt;
  if (given_ == count_) {
    if (!rest_.empty()) fault_ = BlockFault::kBytesLeft;
    return std::nullopt;
  }
  RowHeader header{};
  ResultRow row;
  if (!read_front(rest_, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (!is_sound(header.bytes, sizeof header, rest_)) {
    fault_ = BlockFault::kBadSize;
  } else if (!read_text(rest_.subspan(sizeof header, header.bytes - sizeof header), width_,
                        row.name)) {
    fault_ = BlockFault::kNameUnended;
  }
  if (fault_ != BlockFault::kNone) return std::nullopt;
  // The values have to be walked to know where the next row begins.
  row.id = header.id;
  row.values = ValueWalker(rest_.subspan(header.bytes), columns_);
  ValueWalker ahead = row.values;
  ahead.skip_all();
  fault_ = ahead.fault();
  if (fault_ != BlockFault::kNone) return std::nullopt;
  rest_ = ahead.rest();
  ++given_;
  return row;
}

ResultBlock::ResultBlock(BlockHeader header, Bytes content, CharacterWidth width) noexcept
    : header_(header), content_(content), width_(width) {
  if (has_columns()) {
    read_columns();
  } else if (header_.shape != BlockShape::kError) {
    columns_ = 1;
  }
}

bool ResultBlock::has_columns() const noexcept {
  return header_.shape == BlockShape::kMultipleCounters || header_.shape == BlockShape::kCounterset;
}

bool ResultBlock::has_rows() const noexcept {
  return header_.shape == BlockShape::kMultipleInstances ||
         header_.shape == BlockShape::kCounterset;
}

void ResultBlock::read_columns() noexcept {
  ColumnsHeader header{};
  if (!read_front(content_, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (!is_sound(header.bytes, sizeof header, content_)) {
    fault_ = BlockFault::kBadSize;
  } else if (header.count > (header.bytes - sizeof header) / sizeof(std::uint32_t)) {
    fault_ = BlockFault::kColumnsOverrun;
  }
  if (fault_ != BlockFault::kNone) return;
  columns_ = header.count;
  ids_ = content_.subspan(sizeof header, std::size_t{header.count} * sizeof(std::uint32_t));
  content_ = content_.subspan(header.bytes);
}

std::uint32_t ResultBlock::counter(std::uint32_t column) const noexcept {
  std::uint32_t id = kEveryCounter;
  if (column < ids_.size() / sizeof id) {
    std::memcpy(&id, ids_.data() + std::size_t{column} * sizeof id, sizeof id);
  }
  return id;
}

ValueWalker ResultBlock::values() const noexcept {
  if (has_rows() || fault_ != BlockFault::kNone) return {};
  return {content_, columns_};
}

RowWalker ResultBlock::rows() const noexcept {
  if (!has_rows()) return {};
  RowsHeader header{};
  BlockFault fault = fault_;
  if (fault == BlockFault::kNone && !read_front(content_, header)) fault = BlockFault::kHeaderCut;
  if (fault == BlockFault::kNone && !is_sound(header.bytes, sizeof header, content_)) {
    fault = BlockFault::kBadSize;
  }
  if (fault == BlockFault::kNone && header.bytes != content_.size()) fault = BlockFault::kBytesLeft;
  if (fault != BlockFault::kNone) return {{}, 0, 0, width_, fault};
  return {content_.subspan(sizeof header), header.count, columns_, width_, BlockFault::kNone};
}

ResultWalker::ResultWalker(Bytes bytes, CharacterWidth width) noexcept : width_(width) {
  ResultHeader header{};
  if (!read_front(bytes, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (header.bytes < sizeof header || header.bytes > bytes.size()) {
    fault_ = BlockFault::kBadTotal;
  } else {
    header_ = header;
    rest_ = bytes.subspan(sizeof header, header.bytes - sizeof header);
  }
}

std::optional<ResultBlock> ResultWalker::next() noexcept {
  if (fault_ != BlockFault::kNone) return std::nullopt;
  if (given_ == header_.blocks) {
    if (!rest_.empty()) fault_ = BlockFault::kBytesLeft;
    return std::nullopt;
  }
  BlockHeader header{};
  if (!read_front(rest_, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (!is_sound(header.bytes, sizeof header, rest_)) {
    fault_ = BlockFault::kBadSize;
  } else if (!is_shape(header.shape)) {
    fault_ = BlockFault::kUnknownShape;
  }
  if (fault_ != BlockFault::kNone) return std::nullopt;
  const Bytes content = rest_.subspan(sizeof header, header.bytes - sizeof header);
  rest_ = rest_.subspan(header.bytes);
  ++given_;
  return ResultBlock(header, content, width_);
}

namespace {

BlockFault check_values(ValueWalker values, bool nothing_follows) noexcept {
  values.skip_all();
  if (values.fault() != BlockFault::kNone) return values.fault();
  return nothing_follows && !values.rest().empty() ? BlockFault::kBytesLeft : BlockFault::kNone;
}

BlockFault check_block(const ResultBlock& block) noexcept {
  if (block.fault() != BlockFault::kNone) return block.fault();
  if (!block.has_rows()) return check_values(block.values(), true);
  RowWalker rows = block.rows();
  while (rows.next()) {
  }
  return rows.fault();
}

}  // namespace

BlockFault check_result(Bytes bytes, CharacterWidth width) noexcept {
  ResultWalker result(bytes, width);
  while (const auto block = result.next()) {
    const BlockFault fault = check_block(*block);
    if (fault != BlockFault::kNone) return fault;
  }
  return result.fault();
}

std::optional<FoundInstance> InstanceWalker::next() noexcept {
  if (fault_ != BlockFault::kNone || rest_.empty()) return std::nullopt;
  RowHeader header{};
  FoundInstance found;
  if (!read_front(rest_, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (!is_sound(header.bytes, sizeof header, rest_)) {
    fault_ = BlockFault::kBadSize;
  } else if (!read_text(rest_.subspan(sizeof header, header.bytes - sizeof header), width_,
                        found.name)) {
    fault_ = BlockFault::kNameUnended;
  }
  if (fault_ != BlockFault::kNone) return std::nullopt;
  found.id = header.id;
  rest_ = rest_.subspan(header.bytes);
  return found;
}

std::optional<FoundIdentifier> IdentifierWalker::next() noexcept {
  if (fault_ != BlockFault::kNone || offset_ == bytes_.size()) return std::nullopt;
  const Bytes rest = bytes_.subspan(offset_);
  FoundIdentifier found;
  if (!read_front(rest, found.header)) {
    fault_ = BlockFault::kHeaderCut;
    return std::nullopt;
  }
  constexpr std::size_t kHeader = sizeof found.header;
  const std::uint32_t size = found.header.bytes;
  found.pattern.width = width_;
  if (!is_sound(size, kHeader, rest)) {
    fault_ = BlockFault::kBadSize;
  } else if (size != kHeader &&
             !read_text(rest.subspan(kHeader, size - kHeader), width_, found.pattern)) {
    fault_ = BlockFault::kNameUnended;
  }
  if (fault_ != BlockFault::kNone) return std::nullopt;
  found.offset = offset_;
  offset_ += size;
  return found;
}

StringWalker::StringWalker(Bytes bytes, CharacterWidth width) noexcept : width_(width) {
  StringsHeader header{};
  if (!read_front(bytes, header)) {
    fault_ = BlockFault::kHeaderCut;
  } else if (header.bytes < sizeof header || header.bytes > bytes.size()) {
    fault_ = BlockFault::kBadTotal;
  } else if (header.count > (header.bytes - sizeof header) / sizeof(StringRef)) {
    fault_ = BlockFault::kColumnsOverrun;
  } else {
    block_ = bytes.first(header.bytes);
    count_ = header.count;
  }
}

std::optional<FoundString> StringWalker::next() noexcept {
  if (fault_ != BlockFault::kNone || given_ == count_) return std::nullopt;
  StringRef ref{};
  const std::size_t texts = sizeof(StringsHeader) + std::size_t{count_} * sizeof ref;
  std::memcpy(&ref, block_.data() + sizeof(StringsHeader) + std::size_t{given_} * sizeof ref,
              sizeof ref);
  FoundString found{ref.counter, std::nullopt};
  if (ref.offset != kNoString) {
    BlockText text;
    if (ref.offset < texts || ref.offset > block_.size()) {
      fault_ = BlockFault::kBadSize;
    } else if (!read_text(block_.subspan(ref.offset), width_, text)) {
      fault_ = BlockFault::kNameUnended;
    }
    if (fault_ != BlockFault::kNone) return std::nullopt;
    found.text = text;
  }
  ++given_;
  return found;
}

}  // namespace meterbank
