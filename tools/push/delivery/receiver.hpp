// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "exposition/page/labels.hpp"
#include "push/batch/compression.hpp"
#include "push/batch/protocol.hpp"

namespace meterbank::push {

// Who gets snapshots, and how.
struct ReceiverOptions {
  std::string name = {};  // what messages and counters call it
  Protocol protocol = Protocol::kOtlp;
  std::string url = {};
  std::chrono::milliseconds interval{10'000};
  std::chrono::milliseconds timeout{10'000};        // for one request
  std::size_t queue_bytes = std::size_t{16} << 20;  // limit of what waits, compressed
  Coding coding = Coding::kGzip;                    // OTLP; remote write is always snappy
  std::vector<std::string> headers = {};            // lines: "Authorization: Bearer ..."
  std::string ca_file = {};                         // see HttpPost::open()
  // OTLP: attributes of every resource. Remote write: labels of every series.
  std::vector<exposition::Label> labels = {};

  bool operator==(const ReceiverOptions&) const = default;
};

[[nodiscard]] constexpr Coding coding_of(const ReceiverOptions& options,
                                         Protocol protocol) noexcept {
  return protocol == Protocol::kOtlp ? options.coding : Coding::kSnappy;
}

// The headers of a request, with those of the protocol.
[[nodiscard]] std::vector<std::string> headers_of(const ReceiverOptions& options,
                                                  Protocol protocol);

}  // namespace meterbank::push
