// SPDX-License-Identifier: Apache-2.0
#include "pcp/names/stable_numbers.hpp"

#include <span>
#include <utility>

#include "meterbank/base/fnv1a.hpp"

namespace meterbank::pcp {

std::uint32_t hash_below(std::uint32_t range, std::string_view key, std::uint32_t n) noexcept {
  Fnv1a hash;
  if (n != 0) hash.add_object(n);
  hash.add(std::as_bytes(std::span(key)));
  return static_cast<std::uint32_t>((hash.value() ^ hash.value() >> 32U) % range);
}

std::uint32_t StableNumbers::of(const std::string& key) {
  const auto [entry, is_new] = numbers_.try_emplace(key);
  entry->second.is_used = true;
  if (!is_new) return entry->second.number;
  std::uint32_t number = hash_below(range_, key, 0);
  for (std::uint32_t n = 1; !taken_.insert(number).second; ++n) {
    number = hash_below(range_, key, n);
  }
  entry->second.number = number;
  return number;
}

void StableNumbers::forget_unused() {
  constexpr std::size_t kKeptMax = 10'000;
  std::size_t used = 0;
  for (const auto& [key, entry] : numbers_) used += entry.is_used ? 1 : 0;
  const bool are_many = numbers_.size() - used > kKeptMax + used;
  for (auto entry = numbers_.begin(); entry != numbers_.end();) {
    const bool was_used = std::exchange(entry->second.is_used, false);
    if (was_used || !are_many) {
      ++entry;
      continue;
    }
    taken_.erase(entry->second.number);
    entry = numbers_.erase(entry);
  }
}

}  // namespace meterbank::pcp
