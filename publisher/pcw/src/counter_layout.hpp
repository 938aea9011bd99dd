// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a set lie in the blocks that its provider hands over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "descriptions.hpp"
#include "wdm.h"

namespace meterbank::pcw {

class CounterLayout {
 public:
  // One column of the schema.
  struct Column {
    std::uint16_t block = 0;
    std::uint16_t offset = 0;
    std::uint16_t bytes = 0;        // 4 or 8, of the field
    std::uint16_t value_bytes = 0;  // 4 or 8, of what is read: no more than field or type has
  };

  // Nothing, and a sentence: the descriptors contradict themselves, or the description if there is
  // one.
  static std::optional<CounterLayout> of(std::span<const PCW_COUNTER_DESCRIPTOR> descriptors,
                                         const CountersetSpec& spec, std::string& why);

  [[nodiscard]] std::size_t columns() const noexcept { return columns_.size(); }
  // Column x is the x-th word of 8 bytes of the only block, and has no more bytes than its type.
  [[nodiscard]] bool is_plain_words() const noexcept;

  // STATUS_SUCCESS: every value lies within its block.
  [[nodiscard]] NTSTATUS check(std::span<const PCW_DATA> blocks) const noexcept;
  // Reads every value once, whole where it is aligned. Precondition: check() was content.
  void read(std::span<const PCW_DATA> blocks, std::span<std::uint64_t> values) const noexcept;

 private:
  std::vector<Column> columns_;
  std::size_t blocks_ = 0;
};

}  // namespace meterbank::pcw
