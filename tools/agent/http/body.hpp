// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "agent/http/negotiation.hpp"
#include "exposition/page/page_writer.hpp"

namespace meterbank::agent {

// The bytes of one response, in pieces.
class Body {
 public:
  virtual ~Body() = default;
  // Read again: there is more, but none of it now.
  static constexpr std::size_t kLater = ~std::size_t{0};
  // Fills `out` with up to `bytes`. 0: the end. May throw std::bad_alloc.
  virtual std::size_t read(char* out, std::size_t bytes) = 0;
  // Bytes of the page so far, before compression.
  [[nodiscard]] virtual std::uint64_t page_bytes() const noexcept = 0;
};

// A page, compressed on the way. Memory: a piece of the page, and what the encoding needs for
// itself, which is less than 1 MiB. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<Body> make_body(std::unique_ptr<exposition::PageWriter> page,
                                              Encoding encoding);

}  // namespace meterbank::agent
