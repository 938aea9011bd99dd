// SPDX-License-Identifier: Apache-2.0
//
// Blocks in private memory, laid out as a registration lays them out. Limits run over these, and
// so do the rows about the protocol alone.
#pragma once

#include <cstdint>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::bench {

// Shared pages, because a segment has them: they are never merged into huge pages by default.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes);
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages();
  [[nodiscard]] std::byte* data() const noexcept { return memory_; }

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

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
  BlockForm form_;
  SharedPages memory_;
  std::vector<BlockParts<SharedWord>> parts_;
};

// 0..count-1 in an order that is the same in every run.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t count);

}  // namespace meterbank::bench
