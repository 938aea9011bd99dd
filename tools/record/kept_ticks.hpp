// SPDX-License-Identifier: Apache-2.0
//
// The last samples of one query, kept in memory as a recording has them, and saved when they are
// asked for.
//
// Thread safety  One thread at a time.
// Errors         save(): the path, or what the file system says. add() may throw std::bad_alloc;
//                nothing is kept then.
// Progress       add() makes no system call. save() waits for the disk.
// Cost           add() codes the rows: about a byte a value, kept until `bytes_max` are.
// Units          Bytes, nanoseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::record {

struct KeptLimits {
  std::uint64_t bytes_max = std::uint64_t{32} << 20U;
  std::uint64_t ticks_max = 900;
};

class KeptTicks {
 public:
  explicit KeptTicks(KeptLimits limits = {}) : limits_(limits) {}

  // The query was updated with the catalog, and collected the sample since.
  void add(const Catalog& catalog, const Query& query, const Sample& sample);
  // Makes a recording of them at a path where nothing is. `interval` is that of the samples.
  Result<void> save(const std::string& path, const std::string& program,
                    std::chrono::nanoseconds interval) const;

  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }

 private:
  static constexpr std::uint64_t kChunkTicks = 60;
  struct Chunk {
    std::string frames;
    std::uint64_t ticks = 0;
  };

  void keep(const std::string& frames);
  void drop_old();

  KeptLimits limits_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string schema_frames_;  // of all chunks; a file has each schema once
  std::deque<Chunk> chunks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace meterbank::record
