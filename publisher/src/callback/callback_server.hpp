// SPDX-License-Identifier: Apache-2.0
//
// Where readers ask a provider: its socket, its callers and the threads that serve them.
//
//   listener ----+
//   connections -+--> wait set --> the thread that waits takes the packet and runs the callback
//   stop --------+
//
// Rules
//   1. A thread that is to run a callback first sees to it that another one waits: slow callbacks
//      hold up their own threads and nothing else. So there is one thread more than callbacks may
//      run.
//   2. Packets of a connection take effect in the order in which they came: each holds the
//      connection's turn from its receipt until interest is counted, a call is known by its id, or
//      a call is cancelled. Otherwise a removal could overtake its addition, and a cancel its call.
//   3. Callbacks run after the turn, with no lock of the server or of a connection held.
//   4. When the program has closed the descriptors, all connections have ended and so do the
//      threads. The numbers are not touched any more: they may be of files of the program.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "channel_limits.hpp"
#include "channel_users.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/ipc/wait_set.hpp"
#include "reader_connection.hpp"

namespace meterbank::detail {

class CallbackServer : public std::enable_shared_from_this<CallbackServer> {
 public:
  // `refused` is counted up for each caller and request that is turned away; it outlives the
  // server. The name of the socket stays: KeptRecord::remove(). Errors: kExists, kDenied,
  // kNoDirectory, kLimit, kSystem.
  static Result<std::shared_ptr<CallbackServer>> start(const std::string& path,
                                                       const ChannelLimits& limits,
                                                       SharedWord& refused);
  CallbackServer(PacketListener listener, const ChannelLimits& limits, SharedWord& refused);
  CallbackServer(const CallbackServer&) = delete;
  CallbackServer& operator=(const CallbackServer&) = delete;
  ~CallbackServer();

  void add(Ref registration, std::uint64_t generation, std::shared_ptr<Callable> callable);
  void remove(Ref registration) noexcept;

  // Ends the threads and hangs up; waits for callbacks that run, except that of the caller.
  void stop() noexcept;

  // As in ForkWatcher, for the segment that it belongs to.
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }
  void leave_to_parent() noexcept;

 private:
  using ConnectionPtr = std::shared_ptr<ReaderConnection>;
  struct Registered {
    std::uint64_t generation = 0;
    std::shared_ptr<Callable> callable;
  };
  // A callback for rows that may run now; empty if there is none.
  struct Admitted {
    std::shared_ptr<Callable> callable;
    std::shared_ptr<RunningCall> call;
  };

  [[nodiscard]] Result<void> prepare();
  // 0, or the errno of the reason.
  [[nodiscard]] int start_thread_locked() noexcept;
  void serve(PacketBuffer& packet) noexcept;
  void handle_event(std::uint64_t tag, PacketBuffer& packet) noexcept;
  void drop_all(bool has_descriptors) noexcept;

  void accept_callers();
  void admit(PacketSocket socket);
  [[nodiscard]] bool make_room_locked(uid_t uid, std::vector<ConnectionPtr>& evicted);
  void drop(const ConnectionPtr& connection) noexcept;
  [[nodiscard]] ConnectionPtr find(std::uint64_t number);

  void serve_connection(const ConnectionPtr& connection, PacketBuffer& packet);
  // In the connection's turn. take_packet() is false where the connection is to be dropped.
  [[nodiscard]] bool take_packet(const ConnectionPtr& connection, PacketBuffer& packet,
                                 Admitted& admitted);
  [[nodiscard]] Admitted handle(const ConnectionPtr& connection, const ChannelRequest& request);
  [[nodiscard]] Admitted admit_call(const ConnectionPtr& connection,
                                    const std::shared_ptr<Callable>& callable,
                                    const ChannelRequest& request);
  void handle_interest(const ConnectionPtr& connection, const std::shared_ptr<Callable>& callable,
                       const ChannelRequest& request);
  // After it.
  void run(const ConnectionPtr& connection, const Admitted& admitted);
  void refuse(const ConnectionPtr& connection, std::uint64_t id, ChannelRefusal reason);
  void busy(const ConnectionPtr& connection, std::uint64_t id);
  void listen_again(const ConnectionPtr& connection) const noexcept;
  void keep_or_drop(const ConnectionPtr& connection, bool keep) noexcept;
  void count_refusal() noexcept;

  // Whether this thread may run a callback now, while another one waits for packets.
  [[nodiscard]] bool begin_callback(uid_t uid) noexcept;
  void end_callback(uid_t uid) noexcept;
  [[nodiscard]] bool try_to_tell(const std::shared_ptr<Callable>& callable) noexcept;
  void tell_later(const std::shared_ptr<Callable>& callable) noexcept;
  void tell_those_who_wait() noexcept;

  const ChannelLimits limits_;
  SharedWord& refused_;
  PacketListener listener_;
  WaitSet set_;

  std::mutex
      mutex_;  // everything below; taken before a ReaderConnection's or a Callable's, never inside
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  std::size_t running_ = 0;  // threads that run callbacks
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, ConnectionPtr> connections_;  // oldest first
  std::unordered_map<Ref, Registered> registered_;
  ChannelUsers users_;
  std::deque<std::shared_ptr<Callable>> to_tell_;  // until a thread has time; each once
};

}  // namespace meterbank::detail
