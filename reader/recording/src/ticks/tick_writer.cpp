// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/tick_writer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "../frames/bytes.hpp"
#include "directory_events.hpp"
#include "directory_writer.hpp"
#include "meterbank/recording/frame.hpp"
#include "meterbank/recording/row_coder.hpp"
#include "packed.hpp"
#include "tick_times.hpp"

namespace meterbank::recording {
namespace {

// A chunk is what a reader decodes to get at its last tick, and what it loses by damage.
constexpr std::uint64_t kChunkTicks = 600;
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20U;

// The words of a row in the order of the recorded schema.
class RecordedWords {
 public:
  explicit RecordedWords(const WrittenSet& set)
      : words_(set.columns().size()), stamp_word_(set.schema->content.stamp_word) {
    const bool is_moved = stamp_word_ != kNoCounter && stamp_word_ + 1 != words_;
    if (is_moved) moved_.resize(words_);
  }

  [[nodiscard]] std::span<const std::uint64_t> of(const StoredRow& row) {
    if (moved_.empty()) return row.words().first(words_);
    const auto stored = row.words().first(words_ - 1);
    std::copy(stored.begin(), stored.end(), moved_.begin());
    moved_.back() = row[stamp_word_];
    return moved_;
  }

 private:
  std::size_t words_;
  std::uint32_t stamp_word_;
  std::vector<std::uint64_t> moved_;
};

// A bit for each rate that is due.
std::uint64_t due_of(const TickInput& input) noexcept {
  if (input.assigned != nullptr) return input.assigned->due;
  std::uint64_t due = 0;
  for (std::size_t rate = 0; rate < input.rates.size(); ++rate) {
    if (input.rates[rate].sample != nullptr) due |= std::uint64_t{1} << rate;
  }
  return due;
}

bool all_are_due(const TickInput& input) noexcept {
  return std::all_of(input.rates.begin(), input.rates.end(),
                     [](const RateInput& rate) { return rate.sample != nullptr; });
}

}  // namespace

struct TickWriter::State {
  DirectoryWriter directory;
  RowEncoder encoder;
  TickTimes times;
  bool is_chunk_due = true;
  bool has_directory = false;
  // Of the catalog and the queries, which say whether the directory is another one.
  std::vector<std::uint64_t> versions_written, versions_now;
  std::uint64_t ticks = 0;  // since the directory is known
  std::uint64_t chunk_ticks = 0;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t rows = 0;
  std::uint64_t values = 0;
  std::string section, schema_frames;  // kept for their memory

  void append(const TickInput& input, SchemaNumbers& schemas, std::string& out);
  void take_directory(const TickInput& input, SchemaNumbers& schemas);
  void forget_rows();
  void encode_rows(const TickInput& input);
  [[nodiscard]] bool wants_everything() const noexcept {
    return is_chunk_due || chunk_ticks >= kChunkTicks || chunk_bytes >= kChunkBytes;
  }
  void encode_set(WrittenSet& set, const Sample& sample);
};

TickWriter::TickWriter() : state_(std::make_unique<State>()) {}
TickWriter::TickWriter(TickWriter&&) noexcept = default;
TickWriter& TickWriter::operator=(TickWriter&&) noexcept = default;
TickWriter::~TickWriter() = default;

void TickWriter::begin_chunk() noexcept { state_->is_chunk_due = true; }
bool TickWriter::wants_everything() const noexcept { return state_->wants_everything(); }
std::uint64_t TickWriter::chunks() const noexcept { return state_->chunks; }
std::uint64_t TickWriter::rows() const noexcept { return state_->rows; }
std::uint64_t TickWriter::values() const noexcept { return state_->values; }
std::uint64_t TickWriter::left_out() const noexcept { return state_->directory.left_out(); }

void TickWriter::tick(const TickInput& input, SchemaNumbers& schemas, std::string& out) {
  const std::size_t before = out.size();
  try {
    state_->append(input, schemas, out);
  } catch (const std::bad_alloc&) {
    // Half of a change may have been taken over.
    out.resize(before);
    state_->directory = DirectoryWriter();
    state_->has_directory = false;
    state_->is_chunk_due = true;
    throw;
  }
}

void TickWriter::State::take_directory(const TickInput& input, SchemaNumbers& schemas) {
  versions_now.assign(1, input.catalog.version());
  for (const RateInput& rate : input.rates) versions_now.push_back(rate.query->version());
  if (input.assigned != nullptr) versions_now.push_back(input.assigned->version);
  if (has_directory && versions_now == versions_written) {
    ByteWriter(section).number(0);
    return;
  }
  directory.update(input, schemas, schema_frames, section);
  has_directory = true;
  versions_written = versions_now;
}

void TickWriter::State::append(const TickInput& input, SchemaNumbers& schemas, std::string& out) {
  section.clear();
  schema_frames.clear();
  // Within a chunk times rise, as a reader that looks for one expects. Where not all rates are due,
  // the tick that jumped ends its chunk.
  const bool jumps = chunk_ticks != 0 && times.jumps_at(input.time);
  const bool may_begin = input.may_begin_chunk || !has_directory;
  const bool begins_chunk = may_begin && (wants_everything() || (jumps && all_are_due(input)));
  const bool chunk_ends = !begins_chunk && (jumps || is_chunk_due);
  const bool continues = has_directory;
  take_directory(input, schemas);
  std::string everything;
  if (begins_chunk) directory.append_everything(schemas, schema_frames, everything);
  out += schema_frames;
  const std::size_t begin = begin_frame(out);
  ByteWriter writer(out);
  const std::uint64_t due = due_of(input);
  if (begins_chunk) {
    writer.append({kKeyMarker.data(), kKeyMarker.size()});
    times.append_first(input.time, input.window_ns, writer);
    writer.number(due);
    writer.number(continues ? ticks : 0);
    writer.text(continues ? section : std::string_view());
    append_packed(everything, out);
    forget_rows();
    encoder.begin_chunk();
    ++chunks;
    chunk_ticks = chunk_bytes = 0;
  } else {
    times.append_next(input.time, input.window_ns, writer);
    writer.number(due);
    writer.text(section);
  }
  encoder.begin_tick();
  encode_rows(input);
  encoder.finish_tick(out);
  end_frame(out, begin, begins_chunk ? FrameKind::kKey : FrameKind::kTick);
  if (!begins_chunk) chunk_bytes += out.size() - begin;
  ticks = continues ? ticks + 1 : 1;
  ++chunk_ticks;
  is_chunk_due = chunk_ends;
}

void TickWriter::State::forget_rows() {
  for (const auto& set : directory.sets()) {
    if (set == nullptr) continue;
    for (WrittenRow& row : set->rows) {
      row.history.reset();
      row.status = RowStatus::kFresh;
      row.consistency = RowConsistency::kBlock;
    }
  }
}

void TickWriter::State::encode_rows(const TickInput& input) {
  rows = values = 0;
  const std::uint64_t due = due_of(input);
  for (const auto& set : directory.sets()) {
    const bool is_due = set != nullptr && set->rate != kNoRate && (due >> set->rate & 1U) != 0;
    if (!is_due) continue;
    const std::size_t query = input.assigned != nullptr ? 0 : set->rate;
    encode_set(*set, *input.rates[query].sample);
  }
}

void TickWriter::State::encode_set(WrittenSet& set, const Sample& sample) {
  RecordedWords words(set);
  const std::span<const RowStatus> statuses = sample.statuses();
  const std::span<const RowConsistency> consistencies = sample.consistencies();
  for (WrittenRow& row : set.rows) {
    const std::size_t number = set.first_row + row.number;
    const RowStatus status = statuses[number];
    const RowConsistency consistency = consistencies[number];
    const bool is_as_before = status == row.status && consistency == row.consistency;
    encoder.flag(!is_as_before, kContextOtherStatus);
    if (!is_as_before) {
      encoder.number(static_cast<std::uint64_t>(status), kContextStatus);
      encoder.number(static_cast<std::uint64_t>(consistency), kContextConsistency);
      row.status = status;
      row.consistency = consistency;
    }
    if (!holds_values(status)) continue;
    encoder.row(set.columns(), words.of(sample.stored(number)), row.history);
    values += set.columns().size();
  }
  rows += set.rows.size();
}

}  // namespace meterbank::recording
