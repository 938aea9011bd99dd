// SPDX-License-Identifier: Apache-2.0
//
// Blocks in private memory, laid out as a registration lays them out. Limits run over these, and
// so do the rows about the protocol alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::bench {

class Blocks {
 public:
  Blocks(const BlockForm& form, std::size_t count);

  [[nodiscard]] const BlockForm& form() const noexcept { return form_; }
  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  [[nodiscard]] const BlockParts<SharedWord>& parts(std::size_t index) const noexcept {
    return parts_[index];
  }
  [[nodiscard]] BlockParts<const SharedWord> reader_parts(std::size_t index) const noexcept;
  // Word 0 of copy 0 of each block.
  [[nodiscard]] std::vector<SharedWord*> first_words() const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const noexcept;
  };
  BlockForm form_;
  std::unique_ptr<std::byte, Unmap> memory_;
  std::vector<BlockParts<SharedWord>> parts_;
};

// 0..count-1 in an order that is the same in every run.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t count);

}  // namespace meterbank::bench
