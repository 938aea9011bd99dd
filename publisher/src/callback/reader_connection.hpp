// SPDX-License-Identifier: Apache-2.0
//
// One reader, connected: what it waits for and what it is interested in.
// Thread safety: receive() and count_fault() only in the turn; any thread may call the rest.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "callable.hpp"
#include "meterbank/ipc/peer_connection.hpp"

namespace meterbank::detail {

class ReaderConnection {
 public:
  ReaderConnection(std::uint64_t number, PeerConnection reader) noexcept
      : number_(number), reader_(std::move(reader)) {}
  ReaderConnection(const ReaderConnection&) = delete;
  ReaderConnection& operator=(const ReaderConnection&) = delete;
  ~ReaderConnection() {
    // relaxed: this is the last thread that has this object.
    if (has_lost_process_.load(std::memory_order_relaxed)) reader_.abandon_process();
  }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] int descriptor() const noexcept { return reader_.descriptor(); }
  [[nodiscard]] int process() const noexcept { return reader_.process(); }
  [[nodiscard]] const PeerCredentials& peer() const noexcept { return reader_.peer(); }

  // Rule 2 of callback_server.hpp.
  [[nodiscard]] std::mutex& turn() noexcept { return turn_; }
  PacketSocket::Got receive(PacketBuffer& packet, UniqueFd& attached) noexcept {
    return reader_.receive(packet, attached);
  }
  // True: that was one too many.
  [[nodiscard]] bool count_fault(std::uint32_t max) noexcept { return ++faults_ >= max; }

  // Sends, or keeps until the reader has room. False: it is to be closed, for it has gone or keeps
  // too much waiting.
  [[nodiscard]] bool send(const ChannelAnswer& answer);
  // Of a call: rows that a packet has no room for go in a memfd.
  [[nodiscard]] bool send(const RunningCall& call);
  [[nodiscard]] bool flush() noexcept;
  [[nodiscard]] bool has_unsent() const noexcept;

  // Calls for rows, by the id of their request. False: the id is in use.
  [[nodiscard]] bool add_call(std::uint64_t id, const std::shared_ptr<RunningCall>& call);
  void remove_call(std::uint64_t id) noexcept;
  void cancel(std::uint64_t id) noexcept;

  // One interest a registration, counted there as well. Or why not: there is one already.
  [[nodiscard]] std::optional<ChannelRefusal> add_interest(
      const std::shared_ptr<Callable>& callable, const ChannelRequest& request,
      Callable::Told told);
  // Nothing: there is none.
  [[nodiscard]] std::optional<ChannelRequest> take_interest(
      const std::shared_ptr<Callable>& callable);

  // Nothing is under way, and everything that came was looked at. It may be closed.
  [[nodiscard]] bool is_idle() noexcept;

  // The program has closed the descriptors of the server, so the numbers may be of other files.
  void lose_process() noexcept {
    // relaxed: read by the last thread that has this object.
    has_lost_process_.store(true, std::memory_order_relaxed);
  }
  // In the child of a fork: closes what was inherited.
  void close_in_child() noexcept {
    // relaxed: the child of a fork has one thread.
    if (has_lost_process_.load(std::memory_order_relaxed)) reader_.abandon_process();
    reader_.abandon();
  }

  // The end: cancels its calls, sends nothing more. Returns its interests, once.
  using Interests = std::map<std::shared_ptr<Callable>, ChannelRequest>;
  [[nodiscard]] Interests close() noexcept;

 private:
  [[nodiscard]] bool send(const ChannelAnswer& answer, std::vector<KnownFd> rows);

  const std::uint64_t number_;
  PeerConnection reader_;  // sends and what is unsent: under mutex_
  std::atomic<bool> has_lost_process_{false};

  std::mutex turn_;  // taken before all others
  std::uint32_t faults_ = 0;

  mutable std::mutex mutex_;  // taken before a Callable's, never inside
  bool closed_ = false;
  std::map<std::uint64_t, std::shared_ptr<RunningCall>> calls_;
  Interests interests_;
};

}  // namespace meterbank::detail
