// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::push::remote_write {

// The texts of a request of remote write 2.0, each of which is in it once.
class SymbolTable {
 public:
  SymbolTable();

  // The number of a text, which is added if it is new; 0 is the empty text. Throws std::bad_alloc.
  [[nodiscard]] std::uint32_t ref_of(std::string_view text);
  // All texts, as fields of the request.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  // Begins another table, and keeps the memory.
  void clear();

 private:
  struct Text {
    std::size_t begin = 0, size = 0;  // in message_
    std::uint32_t hash = 0;
  };

  void grow();

  std::string message_;
  std::vector<Text> texts_;
  // Numbers of texts, one more than they are, where their hashes want them; 0: a free place. At
  // least twice as many places as texts, and a power of two of them.
  std::vector<std::uint32_t> places_;
};

}  // namespace meterbank::push::remote_write
