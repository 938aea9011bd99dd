// SPDX-License-Identifier: Apache-2.0
//
// The HTTP server of the page. One thread writes all answers.
//
//   GET /               the document
//   GET /stream?LINK    pictures as server-sent events, one a moment: "picture" is whole, "tail"
//                       goes on where the one before ended
//   GET /picture?LINK   the same picture once, as JSON
//   GET /series?LINK    the plots of that picture as columns of numbers
//   GET /moment?LINK&window.step=earlier   the link of the moment before; 204: there is none
//
// Refusals are lines of text: 400 a link that does not parse, 403 see gate.hpp, 503 a limit.
#pragma once

#include <chrono>
#include <memory>

#include "http/listen_socket.hpp"
#include "meterbank/base/result.hpp"
#include "page/feed/picture_service.hpp"
#include "page/server/gate.hpp"

namespace meterbank::page {

struct ServerLimits {
  unsigned viewers = 1000;
  // Room for the requests that viewers make beside their streams.
  unsigned other_connections = 200;
  // What a client may take for a request, and between two pieces of an answer.
  std::chrono::milliseconds request_time{10'000};
  std::chrono::milliseconds answer_time{20'000};
  std::chrono::milliseconds idle_time{120'000};
  // Bytes of answers that the kernel keeps for a connection.
  int send_buffer = 256 << 10;
};

class PageServer {
 public:
  // Serves on a listening socket until it is destroyed. `service` outlives it, and must be stopped
  // before. Errors: kSystem.
  static Result<PageServer> start(UniqueFd listener, Gate gate, PictureService& service,
                                  ServerLimits limits = {});
  PageServer(PageServer&&) noexcept;
  PageServer& operator=(PageServer&&) noexcept;
  ~PageServer();

  [[nodiscard]] unsigned viewers() const noexcept;

 private:
  struct State;
  explicit PageServer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::page
