// SPDX-License-Identifier: Apache-2.0
#include "push/delivery/receiver.hpp"

namespace meterbank::push {

std::string_view name_of(Protocol protocol) noexcept {
  switch (protocol) {
    case Protocol::kOtlp:
      return "otlp";
    case Protocol::kRemoteWrite:
      return "remote-write";
    case Protocol::kRemoteWrite1:
      break;
  }
  return "remote-write-1";
}

std::vector<std::string> headers_of(const ReceiverOptions& options, Protocol protocol) {
  std::vector<std::string> headers = options.headers;
  switch (protocol) {
    case Protocol::kOtlp:
      headers.emplace_back("Content-Type: application/x-protobuf");
      if (options.coding != Coding::kIdentity) {
        headers.push_back("Content-Encoding: " + std::string(name_of(options.coding)));
      }
      return headers;
    case Protocol::kRemoteWrite:
      headers.emplace_back(
          "Content-Type: application/x-protobuf;proto=io.prometheus.write.v2.Request");
      headers.emplace_back("X-Prometheus-Remote-Write-Version: 2.0.0");
      break;
    case Protocol::kRemoteWrite1:
      headers.emplace_back("Content-Type: application/x-protobuf");
      headers.emplace_back("X-Prometheus-Remote-Write-Version: 0.1.0");
      break;
  }
  headers.emplace_back("Content-Encoding: snappy");
  return headers;
}

}  // namespace meterbank::push
