// SPDX-License-Identifier: Apache-2.0
#include "read_rows.hpp"

#include <unistd.h>

#include <cerrno>
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
  const auto size = pass_attach_gate(memory.get(), kAnswerBytesMax + kPageMax);
  if (!size || *size < bytes) return std::nullopt;
  // The seals do not keep the owner from writing, so the reader checks a copy.
  std::vector<std::uint64_t> copy(bytes / kWord);
  const std::span left = std::as_writable_bytes(std::span(copy));
  for (std::size_t at = 0; at < left.size();) {
    const ssize_t got = ::pread(memory.get(), &left[at], left.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  return copy;
}

}  // namespace meterbank
