// SPDX-License-Identifier: Apache-2.0
//
// The HTTP server of the exporter. One thread writes all answers, piece by piece, so that a large
// page delays no other answer for longer than a piece takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "agent/counts/page_counts.hpp"
#include "agent/pages/snapshot_service.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::agent {

// Whether pages are compressed for clients that accept it. Between two processes of one machine it
// costs more than it spares.
enum class Compression : std::uint8_t { kRemote, kAlways, kNever };

struct ServerOptions {
  Compression compression = Compression::kRemote;
  // What a client may take: for a request line, and for the headers behind it; for the answer;
  // until it sends another request.
  std::chrono::milliseconds request_time{10'000};
  std::chrono::milliseconds answer_time{60'000};
  std::chrono::milliseconds idle_time{120'000};
};

class HttpServer {
 public:
  // Serves on a listening socket until it is destroyed. `snapshots` and `counts` must outlive it,
  // and the service must be stopped before. Errors: kSystem.
  static Result<HttpServer> start(UniqueFd listener, ServerOptions options,
                                  SnapshotService& snapshots, PageCounts& counts);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  // Applies to requests that come from now on.
  void set_compression(Compression compression) noexcept;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::agent
