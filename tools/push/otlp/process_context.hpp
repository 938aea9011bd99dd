// SPDX-License-Identifier: Apache-2.0
//
// What a process says of itself for OpenTelemetry: "process context", OTEP 4719. A library of
// OpenTelemetry in the process publishes it in a mapping of this name:
//
//   OTEL_CTX (memory of the process)               anywhere in its memory
//   +-------------------------------+              +--------------------------------+
//   |  0 "OTEL_CTX"                 |         +--->| protobuf: attributes           |
//   |  8 version, payload size      |         |    +--------------------------------+
//   | 16 time of publication, 0     |         |
//   |    while it is being changed  |         |
//   | 24 address of the payload     |---------+
//   +-------------------------------+
//
// It is read as the OTEP says: the header, the payload, the header again; if the time differs, once
// more. The process may write anything there, so nothing is believed: sizes are bounded, and a text
// is cleaned.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exposition/page/page_layout.hpp"

namespace meterbank::push::otlp {

struct Attribute {
  std::string key;
  std::variant<std::string, bool, std::int64_t, double> value;

  bool operator==(const Attribute&) const = default;
};

inline constexpr std::size_t kContextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kContextAttributesMax = 128;

// The attributes of a payload: of a Resource, or of a ProcessContext that has one. Empty if it is
// neither. Lists and nested values are left out, and so is a second value of a key.
[[nodiscard]] std::vector<Attribute> parse_process_context(std::string_view payload);

// Of a running process; empty if it publishes nothing, is changing it, or may not be read: that
// takes the user of the process, or CAP_SYS_PTRACE.
[[nodiscard]] std::vector<Attribute> read_process_context(std::uint32_t pid);

// The contexts of providers. A library may publish later than the provider begins, and may change
// what it has published, so they are read again each kAgain.
//
// Thread safety  One thread at a time.
class ProcessContexts {
 public:
  static constexpr std::uint64_t kAgainNs = 60'000'000'000;

  // True if some context is another one than before. `now_ns`: CLOCK_MONOTONIC.
  bool look(const std::vector<exposition::PageProvider>& providers, std::uint64_t now_ns);
  [[nodiscard]] const std::vector<Attribute>& of(const exposition::PageProvider& provider) const;

 private:
  struct Known {
    std::vector<Attribute> attributes;
    std::uint64_t looked_ns = 0;
    bool is_used = false;
  };
  std::map<std::array<std::uint64_t, 2>, Known> known_;  // by segment
};

}  // namespace meterbank::push::otlp
