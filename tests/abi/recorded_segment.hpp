// SPDX-License-Identifier: Apache-2.0
//
// Publishes segments again from a file, so that readers of this version meet what a provider of
// another version has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

// The first extent of a provider, which is all that it has. As text it is its number of words, then
// the position and the value of each that is not zero, one a line, in hexadecimal.
using SegmentWords = std::vector<std::uint64_t>;

// What recorded_provider() in record_segment.cpp has published, and what a reader must see of it.
inline constexpr const char* kRecordedName = "recorded";
inline constexpr std::array<std::pair<const char*, double>, 6> kRecordedValues{
    {{"recorded/eu/accepted", 1000},
     {"recorded/eu/fill", -2.5},
     {"recorded/eu/latency", 2},
     {"recorded/us/accepted", 1},
     {"recorded/us/fill", 0.5},
     {"recorded/us/latency", 1}}};
// What layout 1.1 added: instances that are what name and id are together.
inline constexpr std::array<std::pair<const char*, double>, 2> kRecordedSince1_1{
    {{"recorded_waves/wave#1/height", 10}, {"recorded_waves/wave#2/height", 20}}};
// The value of counter `state` of instance `eu`.
inline constexpr const char* kRecordedText = "serving";

[[nodiscard]] SegmentWords read_words(std::istream& text);
[[nodiscard]] SegmentWords record_provider();

// Publishes it as memory of this process.
class RecordedProvider {
 public:
  // With the version and the length of header that a provider says it has. Without a length: the
  // recorded one.
  RecordedProvider(const SegmentWords& words, std::uint16_t layout_minor,
                   std::optional<std::uint32_t> header_bytes = {});
  [[nodiscard]] PointerRecord record() const;

 private:
  std::uint16_t layout_minor_;
  OwnedExtent extent_;
};

}  // namespace meterbank::test
