// SPDX-License-Identifier: Apache-2.0
#include "host/probe/memory.hpp"

#include <array>
#include <optional>

namespace meterbank::host {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

struct Key {
  std::string_view name;
  MemoryField field;
  std::uint64_t scale;
};

constexpr std::array<Key, 25> kMeminfoKeys = {{
    {"MemTotal", MemoryField::kTotalBytes, kKibibyte},
    {"MemFree", MemoryField::kFreeBytes, kKibibyte},
    {"MemAvailable", MemoryField::kAvailableBytes, kKibibyte},
    {"Buffers", MemoryField::kBuffersBytes, kKibibyte},
    {"Cached", MemoryField::kCachedBytes, kKibibyte},
    {"SwapCached", MemoryField::kSwapCachedBytes, kKibibyte},
    {"Active", MemoryField::kActiveBytes, kKibibyte},
    {"Inactive", MemoryField::kInactiveBytes, kKibibyte},
    {"Dirty", MemoryField::kDirtyBytes, kKibibyte},
    {"Writeback", MemoryField::kWritebackBytes, kKibibyte},
    {"AnonPages", MemoryField::kAnonymousBytes, kKibibyte},
    {"Mapped", MemoryField::kMappedBytes, kKibibyte},
    {"Shmem", MemoryField::kSharedBytes, kKibibyte},
    {"KReclaimable", MemoryField::kKernelReclaimableBytes, kKibibyte},
    {"Slab", MemoryField::kSlabBytes, kKibibyte},
    {"SReclaimable", MemoryField::kSlabReclaimableBytes, kKibibyte},
    {"SUnreclaim", MemoryField::kSlabUnreclaimableBytes, kKibibyte},
    {"KernelStack", MemoryField::kKernelStackBytes, kKibibyte},
    {"PageTables", MemoryField::kPageTablesBytes, kKibibyte},
    {"CommitLimit", MemoryField::kCommitLimitBytes, kKibibyte},
    {"Committed_AS", MemoryField::kCommittedBytes, kKibibyte},
    {"VmallocUsed", MemoryField::kVmallocUsedBytes, kKibibyte},
    {"Percpu", MemoryField::kPercpuBytes, kKibibyte},
    {"SwapTotal", MemoryField::kSwapTotalBytes, kKibibyte},
    {"SwapFree", MemoryField::kSwapFreeBytes, kKibibyte},
}};

constexpr std::array<Key, 7> kVmstatKeys = {{
    {"pgfault", MemoryField::kPageFaults, 1},
    {"pgmajfault", MemoryField::kMajorPageFaults, 1},
    {"pgpgin", MemoryField::kPagedInBytes, kKibibyte},
    {"pgpgout", MemoryField::kPagedOutBytes, kKibibyte},
    {"pswpin", MemoryField::kSwappedInPages, 1},
    {"pswpout", MemoryField::kSwappedOutPages, 1},
    {"oom_kill", MemoryField::kOomKills, 1},
}};

// Kernels split these by who asked; each page is counted under one name. The newer
// "pgsteal_anon" and "pgsteal_file" count the same pages a second time and are left out.
constexpr std::array<std::string_view, 4> kReclaimKeys = {
    "pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged", "pgsteal_proactive"};
constexpr std::array<std::string_view, 3> kRefaultKeys = {
    "workingset_refault", "workingset_refault_anon", "workingset_refault_file"};

template <typename Keys>
const Key* find_key(const Keys& keys, std::string_view name) noexcept {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

template <typename Names>
bool contains(const Names& names, std::string_view name) noexcept {
  for (const std::string_view known : names) {
    if (known == name) return true;
  }
  return false;
}

}  // namespace

bool parse_meminfo(std::string_view text, MemoryValues& target) noexcept {
  MemoryValues found;
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const Key* const key = find_key(kMeminfoKeys, line.substr(0, colon));
    if (key == nullptr || found.has(key->field)) continue;
    FieldScanner fields(line.substr(colon + 1));
    const auto value = fields.next_u64();
    // A unit other than the one of the last thirty years would make the number a lie.
    if (!value || fields.next() != "kB") continue;
    found.set(key->field, multiply_saturated(*value, key->scale));
  }
  target.merge(found);
  return found.present() != 0;
}

bool parse_vmstat(std::string_view text, MemoryValues& target) noexcept {
  MemoryValues found;
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    FieldScanner fields(line);
    const std::string_view name = fields.next();
    const auto value = fields.next_u64();
    if (!value) continue;
    if (const Key* const key = find_key(kVmstatKeys, name)) {
      if (!found.has(key->field)) found.set(key->field, multiply_saturated(*value, key->scale));
    } else if (contains(kReclaimKeys, name)) {
      found.add(MemoryField::kReclaimedPages, *value);
    } else if (contains(kRefaultKeys, name)) {
      found.add(MemoryField::kRefaultedPages, *value);
    }
  }
  target.merge(found);
  return found.present() != 0;
}

bool MemoryReader::sample() {
  MemoryValues fresh;
  bool has_any = false;
  if (const auto text = files_.read("proc/meminfo")) has_any |= parse_meminfo(*text, fresh);
  if (const auto text = files_.read("proc/vmstat")) has_any |= parse_vmstat(*text, fresh);
  if (has_any) values_ = fresh;
  return has_any;
}

}  // namespace meterbank::host
