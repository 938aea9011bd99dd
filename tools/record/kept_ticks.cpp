// SPDX-License-Identifier: Apache-2.0
#include "record/kept_ticks.hpp"

#include <new>
#include <span>
#include <utility>

#include "meterbank/recording/frame.hpp"
#include "record/new_file.hpp"
#include "record/recorder.hpp"
#include "record/ring_files.hpp"

namespace meterbank::record {

void KeptTicks::add(const Catalog& catalog, const Query& query, const Sample& sample) {
  if (chunks_.empty()) schemas_ = {};
  if (chunks_.empty() || chunks_.back().ticks >= kChunkTicks) writer_.begin_chunk();
  const recording::RateInput rate{&query, &sample};
  std::string frames;
  try {
    writer_.tick({.catalog = catalog, .rates = {&rate, 1}, .time = sample.time}, schemas_, frames);
    keep(frames);
  } catch (const std::bad_alloc&) {
    // Schemas may have got numbers, and are not kept.
    chunks_.clear();
    schema_frames_.clear();
    bytes_ = ticks_ = 0;
    throw;
  }
  drop_old();
}

void KeptTicks::keep(const std::string& frames) {
  recording::MemoryBytes bytes(std::as_bytes(std::span(frames)));
  recording::FrameWalk walk(bytes);
  while (const auto frame = walk.next()) {
    const auto text = std::string_view(frames).substr(frame->offset, frame->end() - frame->offset);
    if (frame->kind == recording::FrameKind::kSchema) {
      schema_frames_ += text;
      continue;
    }
    if (frame->kind == recording::FrameKind::kKey || chunks_.empty()) chunks_.emplace_back();
    chunks_.back().frames += text;
    ++chunks_.back().ticks;
    ++ticks_;
    bytes_ += text.size();
  }
}

void KeptTicks::drop_old() {
  while (chunks_.size() > 1 &&
         (bytes_ > limits_.bytes_max || ticks_ - chunks_.front().ticks >= limits_.ticks_max)) {
    bytes_ -= chunks_.front().frames.size();
    ticks_ -= chunks_.front().ticks;
    chunks_.pop_front();
  }
}

Result<void> KeptTicks::save(const std::string& path, const std::string& program,
                             std::chrono::nanoseconds interval) const {
  auto file = NewFile::at(path);
  if (!file) return tl::make_unexpected(std::move(file.error()));
  RatePlan plan;
  plan.interval = interval;
  auto files =
      RingFiles::open({.path = file->temporary(), .shown = path}, head_of(program, {&plan, 1}));
  if (!files) return tl::make_unexpected(std::move(files.error()));
  if (auto written = files->write(schema_frames_); !written) return written;
  for (const Chunk& chunk : chunks_) {
    if (auto written = files->write(chunk.frames); !written) return written;
  }
  files->end_file();
  return file->keep();
}

}  // namespace meterbank::record
