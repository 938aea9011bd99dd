// SPDX-License-Identifier: Apache-2.0
#include "read_rows.hpp"

#include <cstring>
#include <utility>

#include "meterbank/reader/glob.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

bool obeys_schema(const ChannelRow& row, MessageType type, const Counterset& set) noexcept {
  const bool has_names = has_instance_names(set.instances);
  if (!has_names && !row.name.empty()) return false;
  const auto kind = has_names ? NameKind::kInstance : NameKind::kSingleInstance;
  if (!check_name(row.name, kind).ok()) return false;
  const bool may_lack_values = type == MessageType::kEnumerate;
  return row.values.size() == set.counters.size() || (may_lack_values && row.values.empty());
}

}  // namespace

std::optional<ReadRows> read_rows(std::span<const std::byte> bytes, std::uint32_t count,
                                  MessageType type, const AskedRows& asked, const Counterset& set) {
  const Glob name(asked.pattern);
  const std::size_t most = has_instance_names(set.instances) ? kAnsweredRowsMax : 1;
  ReadRows read;
  RowsWalker walker(bytes, count);
  while (const auto row = walker.next()) {
    if (!obeys_schema(*row, type, set)) return std::nullopt;
    if (asked.instance_id != kAnyInstanceId && asked.instance_id != row->id) continue;
    if (!name.matches(row->name)) continue;
    if (read.rows.size() == most) {
      read.is_cut = most != 1;
      continue;
    }
    read.rows.push_back(*row);
  }
  return walker.is_sound() ? std::optional(std::move(read)) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> copy_of_memory(UniqueFd memory, std::uint64_t bytes) {
  constexpr std::uint64_t kPageMax = 64 * 1024;
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  if (bytes > kAnswerBytesMax || bytes % kWord != 0) return std::nullopt;
  const auto extent = MappedExtent::map(std::move(memory), kAnswerBytesMax + kPageMax);
  if (!extent || extent->bytes().size() < bytes) return std::nullopt;
  // The seals do not keep its owner from writing, so a copy is what gets checked.
  std::vector<std::uint64_t> copy(bytes / kWord);
  const std::byte* const source = extent->bytes().span_at(0, bytes, kWord);
  if (source == nullptr) return std::nullopt;
  if (!copy.empty()) std::memcpy(copy.data(), source, bytes);
  asm volatile("" : : "r"(copy.data()) : "memory");  // it is not read again for the check
  return copy;
}

}  // namespace meterbank
