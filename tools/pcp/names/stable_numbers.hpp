// SPDX-License-Identifier: Apache-2.0
//
// Numbers for keys that are the same after a restart.
//
// Rule: a key's number is its hash, reduced to the range. If another key has that number, the key
// gets its second hash, and so on. So a number can change after a restart only if two keys have one
// hash and come in another order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace meterbank::pcp {

class StableNumbers {
 public:
  // Numbers from 0 to range - 1.
  explicit StableNumbers(std::uint32_t range) noexcept : range_(range) {}

  // The same number each time. Precondition: fewer keys than half of the range.
  [[nodiscard]] std::uint32_t of(const std::string& key);
  // Forgets the keys that were not asked for since the last call, if they are many: names of
  // instances may go on changing for months.
  void forget_unused();

  [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }

 private:
  struct Entry {
    std::uint32_t number = 0;
    bool is_used = true;
  };

  std::uint32_t range_;
  std::unordered_map<std::string, Entry> numbers_;
  std::unordered_set<std::uint32_t> taken_;
};

// The n-th hash of the key, from 0 on: FNV-1a of n, if it is not 0, and the key, reduced to the
// range. Keys that were made to have one hash in common differ in the others.
[[nodiscard]] std::uint32_t hash_below(std::uint32_t range, std::string_view key,
                                       std::uint32_t n) noexcept;

}  // namespace meterbank::pcp
