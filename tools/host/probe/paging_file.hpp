// SPDX-License-Identifier: Apache-2.0
//
// Files and partitions with swap space: /proc/swaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

inline constexpr std::size_t kPagingFilesMax = 256;

enum class PagingField : std::uint8_t { kSizeBytes, kUsedBytes, kCount };

using PagingValues = FieldValues<PagingField>;

struct PagingReading {
  PathText name;
  PagingValues values;
};

// No value: the title, or a line without one of the two numbers.
[[nodiscard]] std::optional<PagingReading> parse_swap_line(std::string_view line) noexcept;

class PagingFileReader {
 public:
  explicit PagingFileReader(FileReader& files) noexcept : files_(files) {}

  // False: the table was unreadable; the files are then those of the last good sample.
  [[nodiscard]] bool sample();

  // None on a machine without swap space.
  [[nodiscard]] std::span<const PagingReading> files() const noexcept { return readings_; }
  [[nodiscard]] const PagingValues& total() const noexcept { return total_; }
  // The fields that a file would have: all, once the table was read.
  [[nodiscard]] std::uint64_t present_fields() const noexcept { return present_fields_; }

 private:
  FileReader& files_;
  std::vector<PagingReading> readings_;
  PagingValues total_;
  std::uint64_t present_fields_ = 0;
};

}  // namespace meterbank::host
