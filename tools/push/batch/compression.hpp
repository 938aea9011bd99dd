// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank::push {

enum class Coding : std::uint8_t { kIdentity, kGzip, kZstd, kSnappy };

// As Content-Encoding has it; empty: no compression.
[[nodiscard]] std::string_view name_of(Coding coding) noexcept;
// The whole text, with the fastest setting: receivers are near. Throws std::bad_alloc.
[[nodiscard]] std::string compress(std::string text, Coding coding);

}  // namespace meterbank::push
