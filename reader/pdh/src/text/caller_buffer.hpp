// SPDX-License-Identifier: Apache-2.0
//
// Buffers of callers: all of an answer goes there or, where there is no room, nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "caller_text.hpp"
#include "pdh.h"

namespace meterbank::pdh {

// `size` is the capacity before, and what was used or would be needed after.
struct CallerBuffer {
  void* target = nullptr;
  DWORD* size = nullptr;
  std::size_t unit_bytes = 1;  // of what `size` counts

  // False: there is no place for the size, or a capacity without a place.
  [[nodiscard]] bool is_sound() const noexcept {
    return size != nullptr && (target != nullptr || *size == 0);
  }
  // ERROR_SUCCESS or PDH_MORE_DATA.
  [[nodiscard]] PDH_STATUS fill(std::span<const std::byte> answer) const noexcept;
};

// A list of strings: one behind the other, and an empty one.
template <typename Character>
[[nodiscard]] std::vector<std::byte> list_of(const std::vector<std::string>& texts) {
  std::vector<std::byte> list;
  for (const std::string& text : texts) append_text<Character>(text, list);
  if (texts.empty()) append_text<Character>({}, list);
  append_text<Character>({}, list);
  return list;
}

// Structures with their strings behind them, whose pointers are good in the buffer that the block
// goes to.
template <typename Character>
class PointingBlock {
 public:
  using Text = std::conditional_t<sizeof(Character) == 1, LPSTR, LPWSTR>;

  PointingBlock(const void* target, std::size_t head_bytes)
      : target_(reinterpret_cast<std::uintptr_t>(target)), bytes_(head_bytes) {}

  // Where the text will lie.
  Text add(std::string_view utf8) {
    const std::uintptr_t place = target_ + bytes_.size();
    append_text<Character>(utf8, bytes_);
    return reinterpret_cast<Text>(place);
  }
  template <typename T>
  void put(std::size_t offset, const T& value) noexcept {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::uintptr_t target_;
  std::vector<std::byte> bytes_;
};

}  // namespace meterbank::pdh
