// SPDX-License-Identifier: Apache-2.0
#include "host/probe/paging_file.hpp"

namespace meterbank::host {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

}  // namespace

std::optional<PagingReading> parse_swap_line(std::string_view line) noexcept {
  FieldScanner fields(line);
  PagingReading reading;
  append_unescaped(fields.next(), reading.name);
  if (!fields.skip(1)) return std::nullopt;
  const auto size = fields.next_u64();
  const auto used = fields.next_u64();
  if (!size || !used || reading.name.is_cut()) return std::nullopt;
  reading.values.set(PagingField::kSizeBytes, multiply_saturated(*size, kKibibyte));
  reading.values.set(PagingField::kUsedBytes, multiply_saturated(*used, kKibibyte));
  return reading;
}

bool PagingFileReader::sample() {
  const auto text = files_.read("proc/swaps");
  if (!text) return false;
  readings_.clear();
  total_.clear();
  present_fields_ = PagingValues::mask_of(PagingField::kSizeBytes) |
                    PagingValues::mask_of(PagingField::kUsedBytes);
  LineScanner lines(*text);
  std::string_view line;
  while (readings_.size() < kPagingFilesMax && lines.next(line)) {
    const auto reading = parse_swap_line(line);
    if (!reading) continue;
    readings_.push_back(*reading);
    for (const PagingField field : {PagingField::kSizeBytes, PagingField::kUsedBytes}) {
      total_.add(field, reading->values.get(field));
    }
  }
  return true;
}

}  // namespace meterbank::host
