// SPDX-License-Identifier: Apache-2.0
//
// A PerfLib query made ready: which rows of a sample go where in the result. All that does not
// change from read to read, names above all, is laid out beforehand; a read copies it and puts the
// values between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../error_codes.hpp"
#include "meterbank/perflib/result_layout.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank {

class ResultPlan {
 public:
  // An item that the query does not have, because its provider refused it: its block is an error.
  struct Refused {
    std::size_t index = 0;  // of its block
    PerfError error = PerfError::kSuccess;
  };

  ResultPlan() = default;
  // Valid until the query changes. The width is that of the names. `refused` is in the order of
  // the blocks.
  ResultPlan(const ItemQuery& query, CharacterWidth width, std::span<const Refused> refused = {});

  // The bytes that write() will write for this sample. Beyond kResultBytesMax where laying it out
  // would take more memory than that; then there is nothing to write.
  [[nodiscard]] std::size_t measure(const Sample& sample) const noexcept;
  // Precondition: `bytes` is measure(sample), and `target` has room for them. No system call, no
  // allocation.
  void write(const Sample& sample, std::size_t bytes, std::byte* target) const noexcept;

 private:
  using Statuses = std::span<const RowStatus>;  // Sample::statuses()

  struct Column {
    std::uint32_t word = kNoCounter;  // CounterView::word; kNoCounter: not in this registration
    std::uint32_t bytes = 0;          // 4, 8, or 0 without a value
    std::uint32_t joined_by = 0;
    ValueForm form = ValueForm::kUnsigned;
  };
  struct Row {
    std::size_t row = 0;           // in the sample
    std::size_t first_column = 0;  // in columns_
    std::size_t header = 0;        // in text_: RowHeader, name, padding
    std::size_t header_bytes = 0;
    bool keeps_history = false;
  };
  struct Range {
    std::size_t first = 0, count = 0;  // in rows_
  };
  enum class Choice : std::uint8_t { kOnly, kFirst, kAll, kSum };
  struct Block {
    Guid set;
    BlockShape shape = BlockShape::kError;
    PerfError error = PerfError::kInstanceNotFound;  // of a block of shape kError
    Choice choice = Choice::kAll;
    std::size_t head = 0, head_bytes = 0;  // in text_: column ids, where the shape has them
    std::size_t columns = 0;
    Range rows;
    Range summed;  // rows of the aggregate
    Range ended;   // in ended_: a value a column, of providers that are gone
    std::size_t total = 0, total_bytes = 0;  // in text_: header of the aggregated row
    bool alive = false;
    bool trusted = false;  // the set is described by a trusted provider
  };
  class Builder;
  class Writer;

  // What a block is for one sample.
  struct Outcome {
    PerfError error = PerfError::kSuccess;
    const Row* row = nullptr;  // of a block of one row that is not summed
    std::size_t rows = 0;
    std::size_t bytes = 0;
    bool summed = false;
  };
  // Rows that ended are not shown, as on Windows; in a set with history they go on counting.
  [[nodiscard]] static bool is_good(const Row& row, Statuses statuses) noexcept {
    const RowStatus status = statuses[row.row];
    if (status == RowStatus::kFresh || status == RowStatus::kCheckpoint) return true;
    return row.keeps_history && (status == RowStatus::kClosed || status == RowStatus::kDead);
  }
  [[nodiscard]] Outcome outcome_of(const Block& block, const Sample& sample) const noexcept;
  void outcome_of_one(const Block& block, const Sample& sample, Outcome& outcome) const noexcept;
  // In place of "there are no rows": that some registration was asked and did not answer.
  [[nodiscard]] static PerfError error_without_rows(const Block& block,
                                                    const Sample& sample) noexcept;
  [[nodiscard]] bool any_busy(const Range& range, Statuses statuses) const noexcept;
  [[nodiscard]] bool any_good(const Range& range, Statuses statuses) const noexcept;
  [[nodiscard]] std::uint64_t sum(const Block& block, std::size_t column, const Sample& sample,
                                  std::uint32_t& bytes) const noexcept;

  std::vector<Block> blocks_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::vector<EndedValues::Value> ended_;
  std::vector<std::byte> text_;
  bool too_large_ = false;
};

}  // namespace meterbank
