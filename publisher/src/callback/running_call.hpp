// SPDX-License-Identifier: Apache-2.0
//
// One call of a callback: what it was asked, what it added, and what came of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "meterbank/publisher/callback.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank::detail {

class RunningCall {
 public:
  // `counters`: values of a row. `has_names`: rows have them.
  RunningCall(ChannelRequest request, std::uint32_t counters, bool has_names);

  // Runs `function` and remembers what it returned or threw. Whatever it throws stays here.
  void run(const Callback& function) noexcept;

  // From any thread.
  void cancel() noexcept {
    cancelled_.store(1, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) != 0;  // relaxed: as above
  }

  CallbackRequest::Added add(std::string_view name, std::uint32_t id,
                             std::span<const std::uint64_t> values) noexcept;

  [[nodiscard]] const ChannelRequest& request() const noexcept { return request_; }
  [[nodiscard]] const std::atomic<std::uint32_t>& cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
    return deadline_;
  }

  // What is to be answered; it points into this object. The rows are in `bytes`, however many.
  [[nodiscard]] ChannelAnswer answer() const noexcept;
  // The rows that a packet has room for, for want of a memfd.
  [[nodiscard]] ChannelAnswer answer_cut_to_a_packet() const noexcept;

 private:
  const ChannelRequest request_;
  const std::uint32_t counters_;
  const bool has_names_;
  const std::chrono::steady_clock::time_point deadline_;
  std::atomic<std::uint32_t> cancelled_{0};
  RowsEncoder rows_;
  std::uint32_t packet_rows_ = 0;  // of rows_, as many as a packet has room for
  std::size_t packet_bytes_ = 0;
  CallbackOutcome outcome_ = CallbackOutcome::kFinished;
  std::uint32_t code_ = 0;
  std::uint64_t finished_ns_ = 0;
  bool incomplete_ = false;
  std::string text_;
};

}  // namespace meterbank::detail
