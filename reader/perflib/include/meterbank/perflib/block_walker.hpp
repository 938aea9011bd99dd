// SPDX-License-Identifier: Apache-2.0
//
// Walks blocks of the PerfLib interface without believing them: bytes may come from a file, a pipe
// or a peer. Each size is compared with what remains before anything behind it is looked at; a step
// consumes at least eight bytes, so every walk ends. Nothing is allocated, nothing has to be
// aligned, and every function is total.
//
//   ResultWalker result(bytes);
//   while (auto block = result.next()) {
//     RowWalker rows = block->rows();
//     while (auto row = rows.next()) {
//       while (auto value = row->values.next()) use(value->column, value->number);
//     }
//   }
//   if (result.fault() != BlockFault::kNone) ...
//
// A walker that has met a fault gives nothing any more. What it gave before was sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "meterbank/perflib/result_layout.hpp"

namespace meterbank {

enum class BlockFault : std::uint8_t {
  kNone,
  kHeaderCut,       // fewer bytes than the header that must come next has
  kBadTotal,        // the total is smaller than its header or larger than the bytes there are
  kBadSize,         // a size is smaller than its header, no multiple of 8, or overruns
  kUnknownShape,    // none of the five shapes
  kColumnsOverrun,  // more column ids than their block holds
  kNameUnended,     // a name without its NUL
  kBadValue,        // a value larger than the room it says it has
  kBytesLeft,       // something follows where nothing should
};
[[nodiscard]] std::string_view name_of(BlockFault fault) noexcept;

// A NUL-terminated run of characters inside a block, without its NUL.
struct BlockText {
  std::span<const std::byte> bytes;
  CharacterWidth width = CharacterWidth::kTwo;

  // What is no character becomes U+FFFD.
  [[nodiscard]] std::string utf8() const;
};

struct ResultValue {
  std::uint32_t column = 0;          // index of the column
  std::span<const std::byte> bytes;  // as many as there are
  // The value as a number, if it has 4 or 8 bytes.
  [[nodiscard]] std::optional<std::uint64_t> number() const noexcept {
    if (bytes.size() != 4 && bytes.size() != 8) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
};

class ValueWalker {
 public:
  ValueWalker() = default;
  // As many values as `count`, from the front of `bytes`.
  ValueWalker(std::span<const std::byte> bytes, std::uint32_t count) noexcept
      : rest_(bytes), count_(count) {}

  // In this header because it runs once a value.
  [[nodiscard]] std::optional<ResultValue> next() noexcept {
    const std::size_t value_bytes = peek();
    if (value_bytes == kNothing) return std::nullopt;
    const ResultValue value{given_, rest_.subspan(sizeof(ValueHeader), value_bytes)};
    advance();
    return value;
  }
  // Walks to the end, or to a fault.
  void skip_all() noexcept {
    while (peek() != kNothing) advance();
  }
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }
  // What follows the values that were given.
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  static constexpr std::size_t kValueBytesMin = 16;
  static constexpr std::size_t kNothing = ~std::size_t{0};

  // Checks the value at the front; its bytes, or kNothing at the end or at a fault.
  std::size_t peek() noexcept {
    if (given_ == count_ || fault_ != BlockFault::kNone) return kNothing;
    ValueHeader header{};
    if (rest_.size() < sizeof header) {
      fault_ = BlockFault::kHeaderCut;
      return kNothing;
    }
    std::memcpy(&header, rest_.data(), sizeof header);
    if (header.bytes < kValueBytesMin || header.bytes % 8 != 0 || header.bytes > rest_.size()) {
      fault_ = BlockFault::kBadSize;
    } else if (header.value_bytes > header.bytes - sizeof header) {
      fault_ = BlockFault::kBadValue;
    }
    front_bytes_ = header.bytes;
    return fault_ == BlockFault::kNone ? header.value_bytes : kNothing;
  }
  void advance() noexcept {
    rest_ = rest_.subspan(front_bytes_);
    ++given_;
  }

  std::span<const std::byte> rest_;
  std::uint32_t count_ = 0;
  std::uint32_t given_ = 0;
  std::uint32_t front_bytes_ = 0;  // of the value that peek() found sound
  BlockFault fault_ = BlockFault::kNone;
};

struct ResultRow {
  std::uint32_t id = 0;
  BlockText name;
  ValueWalker values;  // of this row, checked already
};

class RowWalker {
 public:
  RowWalker() = default;
  RowWalker(std::span<const std::byte> rows, std::uint32_t count, std::uint32_t columns,
            CharacterWidth width, BlockFault fault) noexcept
      : rest_(rows), count_(count), columns_(columns), width_(width), fault_(fault) {}

  [[nodiscard]] std::optional<ResultRow> next() noexcept;
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }

 private:
  std::span<const std::byte> rest_;
  std::uint32_t count_ = 0;
  std::uint32_t given_ = 0;
  std::uint32_t columns_ = 0;
  CharacterWidth width_ = CharacterWidth::kTwo;
  BlockFault fault_ = BlockFault::kNone;
};

// One block. Its size is sound; what it holds is checked where it is walked.
class ResultBlock {
 public:
  ResultBlock(BlockHeader header, std::span<const std::byte> content,
              CharacterWidth width) noexcept;

  [[nodiscard]] std::uint32_t status() const noexcept { return header_.status; }
  [[nodiscard]] BlockShape shape() const noexcept { return header_.shape; }
  [[nodiscard]] bool has_columns() const noexcept;
  [[nodiscard]] bool has_rows() const noexcept;
  // 1 where there are no column ids and one value is meant.
  [[nodiscard]] std::uint32_t columns() const noexcept { return columns_; }
  // Precondition: has_columns(). kEveryCounter beyond the last column.
  [[nodiscard]] std::uint32_t counter(std::uint32_t column) const noexcept;
  // The values of a block without rows.
  [[nodiscard]] ValueWalker values() const noexcept;
  [[nodiscard]] RowWalker rows() const noexcept;
  // Of the columns. Where it is not kNone there are neither values nor rows.
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }

 private:
  void read_columns() noexcept;

  BlockHeader header_;
  std::span<const std::byte> content_;  // behind the columns
  std::span<const std::byte> ids_;
  CharacterWidth width_;
  std::uint32_t columns_ = 0;
  BlockFault fault_ = BlockFault::kNone;
};

// The result of PerfQueryCounterData.
class ResultWalker {
 public:
  explicit ResultWalker(std::span<const std::byte> bytes,
                        CharacterWidth width = CharacterWidth::kTwo) noexcept;

  // All zeros if there was a fault in it.
  [[nodiscard]] const ResultHeader& header() const noexcept { return header_; }
  [[nodiscard]] std::optional<ResultBlock> next() noexcept;
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }

 private:
  ResultHeader header_{};
  std::span<const std::byte> rest_;
  std::uint32_t given_ = 0;
  CharacterWidth width_;
  BlockFault fault_ = BlockFault::kNone;
};

// Walks all of a result and gives the first fault of any part.
[[nodiscard]] BlockFault check_result(std::span<const std::byte> bytes,
                                      CharacterWidth width = CharacterWidth::kTwo) noexcept;

struct FoundInstance {
  std::uint32_t id = 0;
  BlockText name;
};
// The result of PerfEnumerateCounterSetInstances.
class InstanceWalker {
 public:
  explicit InstanceWalker(std::span<const std::byte> bytes,
                          CharacterWidth width = CharacterWidth::kTwo) noexcept
      : rest_(bytes), width_(width) {}

  [[nodiscard]] std::optional<FoundInstance> next() noexcept;
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }

 private:
  std::span<const std::byte> rest_;
  CharacterWidth width_;
  BlockFault fault_ = BlockFault::kNone;
};

struct FoundIdentifier {
  IdentifierHeader header{};
  std::size_t offset = 0;  // of the header in the bytes
  BlockText pattern;       // empty where the header stands alone
};
// What PerfAddCounters takes and PerfQueryCounterInfo gives. offset() is where a fault lies.
class IdentifierWalker {
 public:
  explicit IdentifierWalker(std::span<const std::byte> bytes,
                            CharacterWidth width = CharacterWidth::kTwo) noexcept
      : bytes_(bytes), width_(width) {}

  [[nodiscard]] std::optional<FoundIdentifier> next() noexcept;
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  CharacterWidth width_;
  BlockFault fault_ = BlockFault::kNone;
};

struct FoundString {
  std::uint32_t counter = 0;
  std::optional<BlockText> text;  // none where the counter has no string
};
// The strings that PerfQueryCounterSetRegistrationInfo gives for codes 5, 6 and 10.
class StringWalker {
 public:
  explicit StringWalker(std::span<const std::byte> bytes,
                        CharacterWidth width = CharacterWidth::kTwo) noexcept;

  [[nodiscard]] std::optional<FoundString> next() noexcept;
  [[nodiscard]] BlockFault fault() const noexcept { return fault_; }

 private:
  std::span<const std::byte> block_;
  std::uint32_t count_ = 0;
  std::uint32_t given_ = 0;
  CharacterWidth width_;
  BlockFault fault_ = BlockFault::kNone;
};

}  // namespace meterbank
