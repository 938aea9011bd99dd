// SPDX-License-Identifier: Apache-2.0
//
// All that a reader can see of rows and values, as lines of text.
#pragma once

#include <bit>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "meterbank/reader/query.hpp"

namespace meterbank::test {

inline void print(std::ostream& out, const CookedValue& cooked) {
  out << " cooked " << std::bit_cast<std::uint64_t>(cooked.value) << '/'
      << static_cast<int>(cooked.status);
}

inline void print(std::ostream& out, const RawValue& raw) {
  out << " raw " << raw.value << '/' << raw.base << '/' << raw.object_time << '/'
      << raw.object_frequency << '/' << raw.multi << '/' << raw.time_ns << '/' << raw.base_bytes
      << '/' << raw.stamped;
}

inline void print(std::ostream& out, const Distribution& distribution) {
  out << " distribution " << distribution.shape.scale << '/' << distribution.shape.first << '/'
      << distribution.count << '/' << std::bit_cast<std::uint64_t>(distribution.sum) << '/'
      << distribution.least.value_or(-1) << '/' << distribution.most.value_or(-1) << '/'
      << distribution.below << '/' << distribution.above << '/' << distribution.refused << ':';
  for (const std::uint64_t bucket : distribution.buckets) out << ' ' << bucket;
}

inline void print(std::ostream& out, const Row& row) {
  out << row.provider_label() << ' ' << row.provider->uid << ' ' << row.provider->trusted << ' '
      << name_of(row.provider->state) << ' ' << row.provider->record << ' '
      << row.provider->segment_id[0] << '/' << row.provider->segment_id[1] << " | "
      << row.set().name << ' ' << row.set_label() << ' ' << row.registered->generation << ' '
      << name_of(row.registered->state) << ' ' << row.registered->flags << " | "
      << row.instance_label() << ' ' << row.id() << ' ' << row.instance->slot << ' '
      << row.instance->generation << ' ' << row.instance->closed << " | " << name_of(row.status)
      << ' ' << name_of(row.consistency) << ' ' << name_of(row.cut) << ' ' << row.skew_ns << ' '
      << row.time_ns << ' ' << row.has_namesake << row.shares_name << row.is_total << row.is_apart
      << row.needs_provider();
}

inline void print(std::ostream& out, const Value& value) {
  out << "  " << value.path() << ' ' << value.short_path() << ' ' << value.name() << ' '
      << value.unit();
  print(out, value.cooked);
  print(out, value.raw);
  out << " set " << value.set_ns;
  if (value.text) out << " text " << *value.text;
  if (value.distribution != nullptr) print(out, *value.distribution);
}

// A recording has the version of a directory as it was when other facts of its provider changed.
enum class DirectoryVersion : std::uint8_t { kShown, kLeftOut };

// A line a row, and one a value.
inline std::vector<std::string> printed_rows(const Rows& rows,
                                             DirectoryVersion version = DirectoryVersion::kShown) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::ostringstream line;
    print(line, row);
    if (version == DirectoryVersion::kShown) line << " v" << row.provider->directory_version;
    lines.push_back(line.str());
    for (const Value& value : row) {
      std::ostringstream of_value;
      print(of_value, value);
      lines.push_back(of_value.str());
    }
  }
  return lines;
}

// Empty: they are equal.
inline std::string first_difference(const std::vector<std::string>& left,
                                    const std::vector<std::string>& right) {
  for (std::size_t line = 0; line < left.size() || line < right.size(); ++line) {
    const std::string one = line < left.size() ? left[line] : "nothing";
    const std::string other = line < right.size() ? right[line] : "nothing";
    if (one != other) return "line " + std::to_string(line) + ":\n" + one + "\n" + other;
  }
  return {};
}

}  // namespace meterbank::test
