// SPDX-License-Identifier: Apache-2.0
//
// A real segment as bytes, to be damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace meterbank::test {

// The first extent of a provider with four sets (line, tile, independent, sharded), instances with
// short and long names, a closed one, and a checkpoint; cut after the last used byte.
[[nodiscard]] std::vector<std::byte> real_image();

// Exactly `bytes` on the heap, aligned as a mapping is, so that a sanitizer sees every overread.
class ExactCopy {
 public:
  explicit ExactCopy(std::span<const std::byte> bytes);
  [[nodiscard]] std::byte* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept {
      operator delete[](bytes, std::align_val_t{64});
    }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_;
};

// How many different damaged images a test has tried. An image counts once, whichever way it came
// about, and not at all if it is the undamaged one.
class DistinctImages {
 public:
  explicit DistinctImages(std::span<const std::byte> undamaged);
  void note(std::span<const std::byte> image);
  [[nodiscard]] std::size_t count();

 private:
  std::uint64_t undamaged_;
  std::vector<std::uint64_t> hashes_;
};

// What became of one image.
struct Walk {
  bool attached = false;
  std::size_t sets = 0;
  std::size_t instances = 0;
  std::size_t snapshots = 0;    // bounded reads of a block, whatever they returned
  std::size_t blocks_read = 0;  // those that returned something
};

// What a reader does with a segment: attach, decode the directory, read every block it lists.
Walk walk(const std::byte* data, std::size_t size);

}  // namespace meterbank::test
