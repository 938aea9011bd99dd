// SPDX-License-Identifier: Apache-2.0
//
// What a client accepts (RFC 9110, 12.5).
#pragma once

#include <cstdint>
#include <string_view>

#include "exposition/page/page_writer.hpp"

namespace meterbank::agent {

// The best of what an Accept header names; of equals the first. Text 0.0.4 where it names nothing
// that there is, as all exporters do.
[[nodiscard]] exposition::PageFormat choose_format(std::string_view accept);

enum class Encoding : std::uint8_t { kIdentity, kGzip, kZstd };
[[nodiscard]] std::string_view name_of(Encoding encoding) noexcept;
// The best of what an Accept-Encoding header names; of equals zstd before gzip, which takes three
// times as long, before none.
[[nodiscard]] Encoding choose_encoding(std::string_view accept_encoding);

}  // namespace meterbank::agent
