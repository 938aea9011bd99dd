// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace meterbank::push {

enum class Coding : std::uint8_t { kIdentity, kGzip, kZstd, kSnappy };

// As Content-Encoding has it; empty: no compression.
[[nodiscard]] std::string_view name_of(Coding coding) noexcept;

// Compresses one text after the other, each as a whole, with the fastest setting: receivers are
// near. Keeps its memory from one to the next.
//
// Thread safety  One thread at a time.
class Compressor {
 public:
  Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;
  ~Compressor();

  // Throws std::bad_alloc.
  [[nodiscard]] std::string compress(std::string text, Coding coding);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::push
