// SPDX-License-Identifier: Apache-2.0
//
// The hot half of ResultPlan: a sample becomes a result. No system call, no allocation.
#include <algorithm>
#include <cstring>

#include "../unanswered.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/windows/perf_time.hpp"
#include "result_plan.hpp"

namespace meterbank {
namespace {

constexpr std::size_t kValueBytes = 16;  // of a value with its header; none has more than 8

// A value as it lies in a result: header, then 4 or 8 bytes and zeros.
struct StoredValue {
  ValueHeader header;
  std::uint64_t value;
};
static_assert(sizeof(StoredValue) == kValueBytes);

std::byte* store_value(std::byte* target, std::uint64_t value, std::uint32_t bytes) noexcept {
  if (bytes == 4) value &= 0xffffffff;
  if (bytes == 0) value = 0;
  const StoredValue stored{{bytes, kValueBytes}, value};
  std::memcpy(target, &stored, sizeof stored);
  return target + sizeof stored;
}

bool has_sign(ValueForm form) noexcept {
  return form == ValueForm::kSigned || form == ValueForm::kReal;
}

// joined() of two whole values. Sums are modulo the width, with a sign or without.
std::uint64_t joined_whole(std::uint32_t aggregate, ValueForm form, std::uint64_t left,
                           std::uint64_t right) noexcept {
  const bool chooses = aggregate == kAggregateMinimum || aggregate == kAggregateMaximum;
  if (!chooses || !has_sign(form)) return joined(aggregate, left, right);
  return static_cast<std::uint64_t>(
      joined(aggregate, static_cast<std::int64_t>(left), static_cast<std::int64_t>(right)));
}

std::uint64_t divided(std::uint64_t sum, std::uint64_t count, ValueForm form) noexcept {
  if (!has_sign(form)) return sum / count;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) /
                                    static_cast<std::int64_t>(count));
}

template <typename T>
std::byte* store(std::byte* target, const T& value) noexcept {
  std::memcpy(target, &value, sizeof value);
  return target + sizeof value;
}

}  // namespace

// Writes front to back; never reads what it wrote.
class ResultPlan::Writer {
 public:
  Writer(const ResultPlan& plan, const Sample& sample, std::byte* target) noexcept
      : plan_(plan), sample_(sample), statuses_(sample.statuses()), target_(target) {}

  void header(std::size_t bytes) noexcept {
    ResultHeader header{};
    header.bytes = static_cast<std::uint32_t>(bytes);
    header.blocks = static_cast<std::uint32_t>(plan_.blocks_.size());
    header.counter_ticks = static_cast<std::int64_t>(sample_.time.monotonic_ns);
    header.time_100ns = windows_time_of(sample_.time.realtime_ns);
    header.ticks_per_second = kTicksPerSecond;
    header.system_time = system_time_of(header.time_100ns);
    target_ = store(target_, header);
  }

  void block(const Block& block, const Outcome& outcome) noexcept {
    const bool failed = outcome.error != PerfError::kSuccess;
    target_ = store(target_, BlockHeader{static_cast<std::uint32_t>(outcome.error),
                                         failed ? BlockShape::kError : block.shape,
                                         static_cast<std::uint32_t>(outcome.bytes), 0});
    if (failed) return;
    text(block.head, block.head_bytes);
    if (block.choice != Choice::kAll) {
      if (outcome.row == nullptr) return total(block);
      return row(*outcome.row, block.columns);
    }
    const std::size_t rows_bytes = outcome.bytes - sizeof(BlockHeader) - block.head_bytes;
    target_ = store(target_, RowsHeader{static_cast<std::uint32_t>(rows_bytes),
                                        static_cast<std::uint32_t>(outcome.rows)});
    const Row* const rows = plan_.rows_.data() + block.rows.first;
    for (std::size_t index = 0; index < block.rows.count; ++index) {
      if (!is_good(rows[index], statuses_)) continue;
      text(rows[index].header, rows[index].header_bytes);
      row(rows[index], block.columns);
    }
    if (!outcome.summed) return;
    text(block.total, block.total_bytes);
    total(block);
  }

 private:
  void text(std::size_t at, std::size_t bytes) noexcept {
    if (bytes == 0) return;  // an empty text_ has no address
    std::memcpy(target_, plan_.text_.data() + at, bytes);
    target_ += bytes;
  }

  void row(const Row& row, std::size_t columns) noexcept {
    const StoredRow values = sample_.stored(row.row);
    const Column* const first = plan_.columns_.data() + row.first_column;
    std::byte* target = target_;
    for (std::size_t index = 0; index < columns; ++index) {
      const Column& column = first[index];
      const std::uint64_t value =
          column.word == kNoCounter ? 0 : whole_of(values[column.word], column.form);
      target = store_value(target, value, column.bytes);
    }
    target_ = target;
  }

  void total(const Block& block) noexcept {
    for (std::size_t column = 0; column < block.columns; ++column) {
      std::uint32_t bytes = 0;
      const std::uint64_t value = plan_.sum(block, column, sample_, bytes);
      target_ = store_value(target_, value, bytes);
    }
  }

  const ResultPlan& plan_;
  const Sample& sample_;
  Statuses statuses_;
  std::byte* target_;
};

bool ResultPlan::any_busy(const Range& range, Statuses statuses) const noexcept {
  const Row* const first = rows_.data() + range.first;
  return std::any_of(first, first + range.count,
                     [&](const Row& row) { return statuses[row.row] == RowStatus::kBusy; });
}

PerfError ResultPlan::error_without_rows(const Block& block, const Sample& sample) noexcept {
  const PerfError error = error_of_unanswered(sample.callbacks.get(), block.set, block.trusted);
  return error != PerfError::kSuccess ? error : PerfError::kInstanceNotFound;
}

bool ResultPlan::any_good(const Range& range, Statuses statuses) const noexcept {
  const Row* const first = rows_.data() + range.first;
  return std::any_of(first, first + range.count,
                     [&](const Row& row) { return is_good(row, statuses); });
}

// Over the good rows that have the column. Without a function it is the value of the first of them,
// which is of the oldest provider.
std::uint64_t ResultPlan::sum(const Block& block, std::size_t column, const Sample& sample,
                              std::uint32_t& bytes) const noexcept {
  const Statuses statuses = sample.statuses();
  std::uint64_t result = 0;
  std::uint64_t count = 0;
  std::uint32_t function = kAggregateUndefined;
  ValueForm form = ValueForm::kUnsigned;
  for (std::size_t index = 0; index < block.summed.count; ++index) {
    const Row& row = rows_[block.summed.first + index];
    const Column& place = columns_[row.first_column + column];
    if (place.word == kNoCounter || place.bytes == 0 || !is_good(row, statuses)) continue;
    std::uint64_t value = whole_of(sample.stored(row.row)[place.word], place.form);
    if (place.bytes == 4) value &= 0xffffffff;
    if (count == 0) {
      function = place.joined_by;
      form = place.form;
      bytes = place.bytes;
      result = value;
    } else if (function != kAggregateUndefined) {
      // Modulo the width, as the counters themselves.
      result = joined_whole(function, form, result, value);
    }
    ++count;
  }
  if (count != 0 && function != kAggregateUndefined && block.ended.count != 0) {
    const EndedValues::Value& ended = ended_[block.ended.first + column];
    if (ended.count != 0) result = joined_whole(function, form, result, whole_of(ended.raw, form));
    count += ended.count;
  }
  return function == kAggregateAverage && count != 0 ? divided(result, count, form) : result;
}

void ResultPlan::outcome_of_one(const Block& block, const Sample& sample,
                                Outcome& outcome) const noexcept {
  const Statuses statuses = sample.statuses();
  const Row* const first = rows_.data() + block.rows.first;
  for (std::size_t index = 0; index < block.rows.count; ++index) {
    if (!is_good(first[index], statuses)) continue;
    if (outcome.row == nullptr) outcome.row = first + index;
    ++outcome.rows;
  }
  if (outcome.rows == 0) {
    outcome.error =
        any_busy(block.rows, statuses) ? PerfError::kRetry : error_without_rows(block, sample);
  } else if (outcome.rows > 1 && block.choice == Choice::kOnly) {
    outcome.error = PerfError::kContradictsRegistration;
  }
}

ResultPlan::Outcome ResultPlan::outcome_of(const Block& block,
                                           const Sample& sample) const noexcept {
  const Statuses statuses = sample.statuses();
  Outcome outcome;
  outcome.bytes = sizeof(BlockHeader);
  const std::size_t values_bytes = block.columns * kValueBytes;
  if (block.shape == BlockShape::kError) {
    outcome.error = block.error;
    return outcome;
  }
  // A sum without one of its shares would be a wrong number.
  const PerfError unanswered =
      error_of_unanswered(sample.callbacks.get(), block.set, block.trusted);
  const bool is_busy = any_busy(block.summed, statuses);
  outcome.summed =
      !is_busy && unanswered == PerfError::kSuccess && any_good(block.summed, statuses);
  if (block.choice == Choice::kSum) {
    if (!outcome.summed) outcome.error = error_without_rows(block, sample);
    if (is_busy) outcome.error = PerfError::kRetry;
  } else if (block.choice != Choice::kAll) {
    outcome.summed = false;
    outcome_of_one(block, sample, outcome);
  } else if (!outcome.summed && !any_good(block.rows, statuses)) {
    // A set without rows is no error while its provider lives and has said so.
    if (!block.alive || unanswered != PerfError::kSuccess) {
      outcome.error = error_without_rows(block, sample);
    }
  }
  if (outcome.error != PerfError::kSuccess) return outcome;
  outcome.bytes += block.head_bytes;
  if (block.choice != Choice::kAll) {
    outcome.bytes += values_bytes;
    return outcome;
  }
  outcome.bytes += sizeof(RowsHeader);
  const Row* const first = rows_.data() + block.rows.first;
  for (std::size_t index = 0; index < block.rows.count; ++index) {
    if (!is_good(first[index], statuses)) continue;
    outcome.bytes += first[index].header_bytes + values_bytes;
    ++outcome.rows;
  }
  if (outcome.summed) {
    outcome.bytes += block.total_bytes + values_bytes;
    ++outcome.rows;
  }
  return outcome;
}

std::size_t ResultPlan::measure(const Sample& sample) const noexcept {
  if (too_large_) return kResultBytesMax + 1;
  std::size_t bytes = sizeof(ResultHeader);
  for (const Block& block : blocks_) bytes += outcome_of(block, sample).bytes;
  return bytes;
}

void ResultPlan::write(const Sample& sample, std::size_t bytes, std::byte* target) const noexcept {
  Writer writer(*this, sample, target);
  writer.header(bytes);
  for (const Block& block : blocks_) writer.block(block, outcome_of(block, sample));
}

}  // namespace meterbank
