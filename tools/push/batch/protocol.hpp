// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace meterbank::push {

enum class Protocol : std::uint8_t {
  kOtlp,
  kRemoteWrite,   // 2.0, and 1.0 if the receiver does not know that
  kRemoteWrite1,  // 1.0
};
// "otlp", "remote-write", "remote-write-1".
[[nodiscard]] std::string_view name_of(Protocol protocol) noexcept;

}  // namespace meterbank::push
