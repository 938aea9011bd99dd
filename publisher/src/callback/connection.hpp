// SPDX-License-Identifier: Apache-2.0
//
// One reader, connected: what it waits for, what it is interested in, what it has not fetched.
// Thread safety: receive() and count_fault() only in the turn; any thread may call the rest.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "callable.hpp"
#include "meterbank/base/known_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::detail {

class Connection {
 public:
  // `process` is readable when the peer's process has ended; it may be empty.
  Connection(std::uint64_t number, PacketSocket socket, KnownFd process)
      : number_(number),
        socket_(std::move(socket)),
        process_(std::move(process)),
        peer_(socket_.peer()) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close_process(); }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  [[nodiscard]] int process() const noexcept { return process_.get(); }
  [[nodiscard]] const PeerCredentials& peer() const noexcept { return peer_; }

  // Rule 2 of callback_server.hpp.
  [[nodiscard]] std::mutex& turn() noexcept { return turn_; }
  PacketSocket::Got receive(PacketBuffer& packet, UniqueFd& attached) noexcept {
    return socket_.receive(packet, attached);
  }
  // True: that was one too many.
  [[nodiscard]] bool count_fault(std::uint32_t max) noexcept { return ++faults_ >= max; }

  // Sends, or keeps until the reader has room. False: it is to be closed, for it has gone or keeps
  // too much waiting.
  [[nodiscard]] bool send(const ChannelAnswer& answer, std::size_t unsent_max);
  // Of a call: rows that a packet has no room for go in a memfd.
  [[nodiscard]] bool send(const RunningCall& call, std::size_t unsent_max);
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
    socket_ = PacketSocket();
    close_process();
  }

  // The end: cancels its calls, sends nothing more. Returns its interests, once.
  using Interests = std::map<std::shared_ptr<Callable>, ChannelRequest>;
  [[nodiscard]] Interests close() noexcept;

 private:
  struct Unsent {
    std::vector<std::byte> packet;
    std::optional<OwnedExtent> rows;
  };
  void close_process() noexcept {
    // relaxed: this is the last thread that has this object.
    if (has_lost_process_.load(std::memory_order_relaxed)) process_.abandon();
    process_.reset();
  }
  [[nodiscard]] bool send_or_keep(Unsent unsent, std::size_t unsent_max);
  [[nodiscard]] PacketSocket::Sent try_to_send(const Unsent& unsent) noexcept;

  const std::uint64_t number_;
  PacketSocket socket_;
  KnownFd process_;
  std::atomic<bool> has_lost_process_{false};
  const PeerCredentials peer_;

  std::mutex turn_;  // taken before all others
  std::uint32_t faults_ = 0;

  mutable std::mutex mutex_;  // taken before a Callable's, never inside
  bool closed_ = false;
  std::deque<Unsent> unsent_;
  std::map<std::uint64_t, std::shared_ptr<RunningCall>> calls_;
  Interests interests_;
};

}  // namespace meterbank::detail
