// SPDX-License-Identifier: Apache-2.0
//
// Recordings whose ticks are known, and what a reader shows of them once their files were changed.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../reader/replay/changing_providers.hpp"
#include "../../reader/replay/printed_rows.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::recording {

inline constexpr std::uint64_t kSecond = 1'000'000'000;
inline constexpr Timestamp kBegin{kSecond, 1'700'000'000 * kSecond};

// Totals with a history are of what a query has seen in its life, so they are not of a moment.
inline Result<Query> query_of_moments(const Catalog& catalog) {
  return Query::compile(catalog, {}, {"history", "history/*"});
}

struct MadeTick {
  Timestamp time;
  std::size_t file = 0;
  std::uint64_t begin = 0;  // offset of the first of its frames
  std::uint64_t end = 0;
  std::vector<std::string> lines;  // as a live reader printed them
};

struct MadeFile {
  std::string bytes;
  Head head;
  ChunkIndex index;
  SchemaNumbers schemas;
};

struct MadePlan {
  unsigned seed = 1;
  std::size_t files = 1;
  std::size_t ticks = 12;  // of each file
  std::size_t chunk_ticks = 4;
  unsigned changes = 2;  // of the providers, between ticks
  std::uint64_t step_ns = kSecond;
  std::vector<std::int64_t> jumps = {};  // of the wall clock, before each tick
};

inline std::string numbered_name(std::size_t file) {
  std::string digits = std::to_string(file + 1);
  return std::string(8 - digits.size(), '0') + digits + ".mbr";
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Appends to files in memory what a recorder would.
class FilesInMemory {
 public:
  void begin_file() {
    MadeFile& file = files_.emplace_back();
    file.head.recorder.part1 = 7;
    file.head.sequence = files_.size();
    file.head.uid = 0;
    file.head.rates.push_back({kSecond, ""});
    append_head(file.head, file.bytes);
  }
  void end_file() {
    files_.back().index.append_to(files_.back().bytes, files_.back().bytes.size());
  }
  void append(std::string_view frames) {
    MadeFile& file = files_.back();
    MemoryBytes source(std::as_bytes(std::span(frames)));
    FrameWalk walk(source);
    while (auto frame = walk.next()) {
      frame->offset += file.bytes.size();
      file.index.take(*frame);
    }
    file.bytes += frames;
  }
  [[nodiscard]] std::vector<MadeFile>& all() noexcept { return files_; }
  [[nodiscard]] const std::vector<MadeFile>& all() const noexcept { return files_; }
  [[nodiscard]] MadeFile& last() noexcept { return files_.back(); }
  [[nodiscard]] const std::string& all_of_last() const noexcept { return files_.back().bytes; }

  // As a directory of a recorder.
  void write_to(const std::string& directory) const {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      write_file(directory + '/' + numbered_name(file), files_[file].bytes);
    }
  }

 private:
  std::vector<MadeFile> files_;
};

// Made from providers with a set of every sort, whose sets and instances come and go.
struct MadeRecording {
  FilesInMemory files;
  std::vector<MadeTick> ticks;

  explicit MadeRecording(const MadePlan& plan) {
    const test::TemporaryDirectory directory;
    test::ChangingProviders providers(directory.path(), plan.seed);
    auto catalog = *Catalog::open({.directory = directory.path()});
    auto query = *Query::compile(catalog, {});
    TickWriter writer;
    Timestamp now = kBegin;
    for (int change = 0; change < 20; ++change) providers.change();
    for (std::size_t number = 0; number < plan.files * plan.ticks; ++number) {
      for (unsigned change = 0; change < plan.changes; ++change) providers.change();
      providers.count();
      EXPECT_TRUE(catalog.refresh());
      query.update(catalog);
      if (number < plan.jumps.size())
        now.realtime_ns += static_cast<std::uint64_t>(plan.jumps[number]);
      if (number % plan.ticks == 0) files.begin_file();
      if (number % plan.ticks % plan.chunk_ticks == 0) writer.begin_chunk();
      take(catalog, query, now, writer);
      if ((number + 1) % plan.ticks == 0) files.end_file();
      now.monotonic_ns += plan.step_ns;
      now.realtime_ns += plan.step_ns;
    }
  }

 private:
  void take(const Catalog& catalog, Query& query, Timestamp now, TickWriter& writer) {
    Sample sample;
    query.collect(sample, now);
    const RateInput rate{&query, &sample};
    std::string bytes;
    MadeFile& file = files.last();
    writer.tick({catalog, {&rate, 1}, now, 0}, file.schemas, bytes);
    const std::uint64_t begin = file.bytes.size();
    files.append(bytes);
    auto compared = *query_of_moments(catalog);
    compared.collect(sample, now);
    ticks.push_back({now, files.all().size() - 1, begin, file.bytes.size(),
                     test::printed_rows(sample.rows(), test::DirectoryVersion::kLeftOut)});
  }
};

// Reads a recording with one query.
class ShownRecording {
 public:
  explicit ShownRecording(const std::string& path) : recording_(Recording::open(path)) {}

  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(recording_); }
  [[nodiscard]] const Error& error() const { return recording_.error(); }
  [[nodiscard]] Recording& recording() { return *recording_; }
  // The rows of the moment that is shown.
  [[nodiscard]] std::vector<std::string> lines() {
    auto query = *query_of_moments(recording_->catalog());
    Sample sample;
    query.collect(sample, recording_->time());
    return test::printed_rows(sample.rows(), test::DirectoryVersion::kLeftOut);
  }
  [[nodiscard]] bool shows(const MadeTick& tick) {
    const bool is_then = recording_->time().realtime_ns == tick.time.realtime_ns &&
                         recording_->time().monotonic_ns == tick.time.monotonic_ns;
    const std::string difference = test::first_difference(tick.lines, lines());
    if (!difference.empty()) std::cout << difference << '\n';
    return is_then && difference.empty();
  }

 private:
  Result<Recording> recording_;
};

// Reads to the end. The numbers of the ticks that were shown; the test fails if any moment is not
// what was recorded.
inline std::vector<std::size_t> shown_ticks(ShownRecording& shown,
                                            const std::vector<MadeTick>& ticks) {
  std::map<std::uint64_t, std::size_t> by_time;
  for (std::size_t number = 0; number < ticks.size(); ++number) {
    by_time[ticks[number].time.monotonic_ns] = number;
  }
  std::vector<std::size_t> numbers;
  while (shown.recording().next()) {
    const auto known = by_time.find(shown.recording().time().monotonic_ns);
    if (known == by_time.end() || !shown.shows(ticks[known->second])) {
      ADD_FAILURE() << "a moment at " << shown.recording().time().monotonic_ns
                    << " is not what was recorded";
      return numbers;
    }
    numbers.push_back(known->second);
  }
  return numbers;
}

}  // namespace meterbank::recording
