// SPDX-License-Identifier: Apache-2.0
#include "callback_server.hpp"

#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/library_thread.hpp"
#include "meterbank/base/peer_process.hpp"

namespace meterbank::detail {
namespace {

// What an epoll event is about: a connection's number, twice as large, plus one for its process.
constexpr std::uint64_t kListener = 0;
constexpr std::uint32_t kOnce = EPOLLONESHOT;
constexpr int kBacklog = 512;

}  // namespace

CallbackServer::CallbackServer(PacketListener listener, const ChannelLimits& limits,
                               SharedWord& refused)
    : limits_(limits), refused_(refused), listener_(std::move(listener)), users_(limits_) {}

Result<std::shared_ptr<CallbackServer>> CallbackServer::start(const std::string& path,
                                                              const ChannelLimits& limits,
                                                              SharedWord& refused) {
  auto listener = PacketListener::listen(path, kBacklog);
  if (!listener) return tl::make_unexpected(listener.error());
  auto server = std::make_shared<CallbackServer>(std::move(*listener), limits, refused);
  if (auto good = server->prepare(); !good) {
    server->stop();
    server->listener_.close();
    return tl::make_unexpected(good.error());
  }
  return server;
}

CallbackServer::~CallbackServer() { listener_.abandon(); }

Result<void> CallbackServer::prepare() {
  if (!set_.open() || !set_.watch(listener_.descriptor(), kListener, EPOLLIN | kOnce, false)) {
    return fail(ErrorCode::kSystem, "descriptors for callbacks",
                "raise ulimit -n or fs.epoll.max_user_watches", errno);
  }
  const std::lock_guard lock(mutex_);
  // One to run the first callback, one to wait meanwhile.
  for (int count = 0; count < 2; ++count) {
    const int failed = start_thread_locked();
    if (failed == ENOMEM) {
      return fail(ErrorCode::kNoSpace, "thread for callbacks", "free memory or raise ulimit -v",
                  failed);
    }
    if (failed != 0) {
      return fail(ErrorCode::kSystem, "thread for callbacks", "raise RLIMIT_NPROC", failed);
    }
  }
  return {};
}

int CallbackServer::start_thread_locked() noexcept {
  const WithoutSignals quiet;
  try {
    threads_.reserve(threads_.size() + 1);
    threads_.emplace_back([server = shared_from_this(), packet = PacketBuffer()]() mutable {
      server->serve(packet);
    });
    ::pthread_setname_np(threads_.back().native_handle(), "mb-callback");
    return 0;
  } catch (const std::system_error& refused) {
    return refused.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the thread owns what std::thread made for it

void CallbackServer::serve(PacketBuffer& packet) noexcept {
  for (;;) {
    epoll_event event{};
    std::size_t count = 0;
    switch (set_.wait({&event, 1}, count)) {
      case WaitSet::Woke::kNothing:
        break;
      case WaitSet::Woke::kReady:
        handle_event(event.data.u64, packet);
        break;
      case WaitSet::Woke::kWoken:
        return;
      case WaitSet::Woke::kLost:
        drop_all(false);
        tell_those_who_wait();
        return;
    }
    tell_those_who_wait();
  }
}

void CallbackServer::handle_event(std::uint64_t tag, PacketBuffer& packet) noexcept {
  try {
    if (tag == kListener) {
      accept_callers();
    } else if (const ConnectionPtr connection = find(tag / 2); connection != nullptr) {
      if (tag % 2 != 0) {
        drop(connection);
      } else {
        serve_connection(connection, packet);
      }
    }
  } catch (const std::bad_alloc&) {
    // There is no memory for an answer to this reader, so close its connection.
    if (tag == kListener) {
      set_.watch(listener_.descriptor(), kListener, EPOLLIN | kOnce, true);
    } else if (const ConnectionPtr connection = find(tag / 2); connection != nullptr) {
      drop(connection);
    }
  }
}

void CallbackServer::drop_all(bool has_descriptors) noexcept {
  for (;;) {
    ConnectionPtr connection;
    {
      const std::lock_guard lock(mutex_);
      if (connections_.empty()) return;
      connection = connections_.begin()->second;
    }
    if (!has_descriptors) connection->lose_process();
    drop(connection);
  }
}

// ---- Callers ----

void CallbackServer::accept_callers() {
  accept_waiting(
      listener_, [this](PacketSocket socket) { admit(std::move(socket)); },
      [this] { count_refusal(); });
  set_.watch(listener_.descriptor(), kListener, EPOLLIN | kOnce, true);
}

void CallbackServer::admit(PacketSocket socket) {
  PeerProcess peer = peer_process(socket.descriptor(), clock_ns(CLOCK_BOOTTIME));
  // Refuse a reader that has ended, or whose end could not be noticed because no descriptor is
  // left. If the kernel cannot name the process, the server notices the end of the connection
  // instead; it comes late if a child of the reader keeps the connection open.
  if (peer.found == PeerProcess::Found::kEnded || peer.found == PeerProcess::Found::kNoRoom) {
    return count_refusal();
  }
  std::vector<ConnectionPtr> evicted;
  ConnectionPtr connection;
  {
    const std::lock_guard lock(mutex_);
    const uid_t uid = socket.peer().uid;
    if (stopping_ || !make_room_locked(uid, evicted)) {
      count_refusal();
    } else {
      const UnsentLimits unsent{limits_.unsent_max, limits_.unsent_max * kPacketBytesMax};
      connection = std::make_shared<ReaderConnection>(
          next_number_,
          PeerConnection(std::move(socket), KnownFd(std::move(peer.descriptor)), unsent));
      connections_.emplace(next_number_++, connection);
      users_.add_connection(uid, std::chrono::steady_clock::now());
    }
  }
  for (const ConnectionPtr& old : evicted) drop(old);
  if (connection == nullptr) return;
  const std::uint64_t tag = connection->number() * 2;
  if (connection->process() >= 0) {
    // Without it the end of the process is seen when the socket says so.
    set_.watch(connection->process(), tag + 1, EPOLLIN | kOnce, false);
  }
  if (!set_.watch(connection->descriptor(), tag, EPOLLIN | kOnce, false)) drop(connection);
}

// If there are too many connections, the oldest idle one is closed. Users are counted apart, so
// that one of them cannot take the places of all.
bool CallbackServer::make_room_locked(uid_t uid, std::vector<ConnectionPtr>& evicted) {
  const bool user_is_full = users_.has_all_connections(uid);
  if (!user_is_full && connections_.size() < limits_.connections_max) return true;
  for (const auto& [number, connection] : connections_) {
    const bool counts = !user_is_full || connection->peer().uid == uid;
    if (!counts || !connection->is_idle()) continue;
    evicted.push_back(connection);
    return true;
  }
  return false;
}

CallbackServer::ConnectionPtr CallbackServer::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second;
}

void CallbackServer::drop(const ConnectionPtr& connection) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (connections_.erase(connection->number()) == 0) return;
    users_.remove_connection(connection->peer().uid);
  }
  set_.forget(connection->descriptor());
  if (connection->process() >= 0) set_.forget(connection->process());
  for (auto& [callable, request] : connection->close()) {
    try {
      ChannelRequest removal = request;
      removal.type = MessageType::kRemoveInterest;
      callable->remove_interest(std::move(removal), nullptr);
    } catch (const std::bad_alloc&) {
      count_refusal();  // the count stays too high: nothing is lost but a provider's effort
    }
    tell_later(callable);
  }
}

// ---- Packets ----

void CallbackServer::serve_connection(const ConnectionPtr& connection, PacketBuffer& packet) {
  if (!connection->flush()) return drop(connection);
  Admitted admitted;
  {
    const std::lock_guard turn(connection->turn());
    if (!take_packet(connection, packet, admitted)) return drop(connection);
  }
  listen_again(connection);
  if (admitted.call != nullptr) run(connection, admitted);
}

bool CallbackServer::take_packet(const ConnectionPtr& connection, PacketBuffer& packet,
                                 Admitted& admitted) {
  UniqueFd attached;
  switch (connection->receive(packet, attached)) {
    case PacketSocket::Got::kEnd:
      return false;
    case PacketSocket::Got::kMalformed:
      count_refusal();
      return false;
    case PacketSocket::Got::kNothing:
      return true;
    case PacketSocket::Got::kPacket:
      break;
  }
  if (attached) {  // rule 3 of channel.hpp
    count_refusal();
    return false;
  }
  const DecodedRequest decoded = decode_request(packet.bytes());
  if (!decoded.refusal) {
    admitted = handle(connection, decoded.request);
    return true;
  }
  refuse(connection, decoded.request.id, *decoded.refusal);
  // A packet without an id to answer to is not of this protocol.
  return decoded.request.id != 0 && !connection->count_fault(limits_.faults_max);
}

void CallbackServer::listen_again(const ConnectionPtr& connection) const noexcept {
  const std::uint32_t events = connection->has_unsent() ? EPOLLIN | EPOLLOUT : EPOLLIN;
  set_.watch(connection->descriptor(), connection->number() * 2, events | kOnce, true);
}

void CallbackServer::keep_or_drop(const ConnectionPtr& connection, bool keep) noexcept {
  if (!keep) return drop(connection);
  // Woken when the reader has room, if it has none now.
  if (connection->has_unsent()) listen_again(connection);
}

void CallbackServer::refuse(const ConnectionPtr& connection, std::uint64_t id,
                            ChannelRefusal reason) {
  count_refusal();
  ChannelAnswer answer;
  answer.type = MessageType::kRefused;
  answer.id = id;
  answer.refusal = reason;
  keep_or_drop(connection, connection->send(answer));
}

void CallbackServer::busy(const ConnectionPtr& connection, std::uint64_t id) {
  count_refusal();
  ChannelAnswer answer;
  answer.type = MessageType::kBusy;
  answer.id = id;
  keep_or_drop(connection, connection->send(answer));
}

CallbackServer::Admitted CallbackServer::handle(const ConnectionPtr& connection,
                                                const ChannelRequest& request) {
  if (request.type == MessageType::kCancel) {
    connection->cancel(request.id);
    return {};
  }
  bool may_ask = false;
  std::shared_ptr<Callable> callable;
  {
    const std::lock_guard lock(mutex_);
    may_ask = users_.take_request(connection->peer().uid, std::chrono::steady_clock::now());
    const auto found = registered_.find(request.registration);
    if (found != registered_.end() && found->second.generation == request.generation) {
      callable = found->second.callable;
    }
  }
  const bool is_about_rows =
      request.type == MessageType::kCollect || request.type == MessageType::kEnumerate;
  if (!may_ask) {
    refuse(connection, request.id, ChannelRefusal::kRate);
  } else if (callable == nullptr) {
    refuse(connection, request.id, ChannelRefusal::kNoRegistration);
  } else if (!is_about_rows) {
    handle_interest(connection, callable, request);
  } else if (!callable->computes_rows()) {
    refuse(connection, request.id, ChannelRefusal::kNoCallback);
  } else {
    return admit_call(connection, callable, request);
  }
  return {};
}

CallbackServer::Admitted CallbackServer::admit_call(const ConnectionPtr& connection,
                                                    const std::shared_ptr<Callable>& callable,
                                                    const ChannelRequest& request) {
  const uid_t uid = connection->peer().uid;
  const std::uint32_t outstanding =
      users_.is_foreign(uid) ? limits_.foreign_outstanding_max : kOutstandingRequestsMax;
  std::shared_ptr<RunningCall> call;
  switch (callable->begin(request, outstanding, call)) {
    case Callable::Admission::kBusy:
      busy(connection, request.id);
      return {};
    case Callable::Admission::kClosing:
      refuse(connection, request.id, ChannelRefusal::kClosing);
      return {};
    case Callable::Admission::kYes:
      break;
  }
  if (!begin_callback(uid)) {
    callable->give_up(call);
    busy(connection, request.id);
    return {};
  }
  if (connection->add_call(request.id, call)) return {callable, call};
  end_callback(uid);
  callable->give_up(call);
  refuse(connection, request.id, ChannelRefusal::kMalformed);  // its id is in use
  return {};
}

void CallbackServer::run(const ConnectionPtr& connection, const Admitted& admitted) {
  bool keep = true;
  admitted.callable->run(admitted.call, [&](const RunningCall& done) noexcept {
    connection->remove_call(done.request().id);
    try {
      keep = connection->send(done);
    } catch (const std::bad_alloc&) {
      keep = false;  // no answer can be made: hanging up is one
    }
  });
  keep_or_drop(connection, keep);
  end_callback(connection->peer().uid);
}

void CallbackServer::handle_interest(const ConnectionPtr& connection,
                                     const std::shared_ptr<Callable>& callable,
                                     const ChannelRequest& request) {
  // Answered once the callback has been told.
  const auto told = [server = weak_from_this(), connection,
                     id = request.id](const RunningCall& call) {
    const auto alive = server.lock();
    if (alive == nullptr) return;
    ChannelAnswer answer = call.answer();
    answer.id = id;
    bool keep = true;
    try {
      keep = connection->send(answer);
    } catch (const std::bad_alloc&) {
      keep = false;  // no answer can be made: hanging up is one
    }
    alive->keep_or_drop(connection, keep);
  };
  if (request.type == MessageType::kAddInterest) {
    const auto refusal = connection->add_interest(callable, request, told);
    if (refusal) return refuse(connection, request.id, *refusal);
  } else {
    auto added = connection->take_interest(callable);
    if (!added) return refuse(connection, request.id, ChannelRefusal::kMalformed);
    // What was added is removed, whatever the removal says of masks.
    added->type = MessageType::kRemoveInterest;
    added->id = request.id;
    callable->remove_interest(std::move(*added), told);
  }
  tell_later(callable);
}

// ---- Threads ----

bool CallbackServer::begin_callback(uid_t uid) noexcept {
  const std::lock_guard lock(mutex_);
  if (stopping_ || running_ >= limits_.callbacks_max) return false;
  if (threads_.size() - running_ < 2 && start_thread_locked() != 0) return false;
  if (!users_.begin_call(uid)) return false;
  ++running_;
  return true;
}

void CallbackServer::end_callback(uid_t uid) noexcept {
  const std::lock_guard lock(mutex_);
  --running_;
  users_.end_call(uid);
}

bool CallbackServer::try_to_tell(const std::shared_ptr<Callable>& callable) noexcept {
  if (!begin_callback(users_.own())) return false;
  callable->tell();
  end_callback(users_.own());
  return true;
}

// By the thread that is here, when it is through with what it does.
void CallbackServer::tell_later(const std::shared_ptr<Callable>& callable) noexcept {
  if (!callable->has_to_tell()) return;
  if (!callable->computes_rows()) return callable->tell();  // no callback, answers only
  const std::lock_guard lock(mutex_);
  const bool stands_there = std::find(to_tell_.begin(), to_tell_.end(), callable) != to_tell_.end();
  try {
    if (!stopping_ && !stands_there) to_tell_.push_back(callable);
  } catch (const std::bad_alloc&) {
    count_refusal();  // told with the next change
  }
}

void CallbackServer::tell_those_who_wait() noexcept {
  for (;;) {
    std::shared_ptr<Callable> next;
    {
      const std::lock_guard lock(mutex_);
      if (to_tell_.empty()) return;
      next = to_tell_.front();
    }
    if (!try_to_tell(next)) return;
    const std::lock_guard lock(mutex_);
    // Another request may have come since, and have found it there.
    if (!next->has_to_tell()) std::erase(to_tell_, next);
  }
}

void CallbackServer::stop() noexcept {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    registered_.clear();
    to_tell_.clear();
  }
  set_.wake();
  drop_all(set_.is_here());
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();  // it is the caller, inside a callback; it keeps this object until it leaves
    } else {
      thread.join();
    }
  }
}

void CallbackServer::leave_to_parent() noexcept {
  listener_.abandon();
  const bool has_descriptors = set_.is_here();
  for (const auto& [number, connection] : connections_) {
    if (!has_descriptors) connection->lose_process();
    connection->close_in_child();
  }
  set_.close();
}

// ---- Registrations ----

void CallbackServer::add(Ref registration, std::uint64_t generation,
                         std::shared_ptr<Callable> callable) {
  const std::lock_guard lock(mutex_);
  registered_[registration] = {generation, std::move(callable)};
}

void CallbackServer::remove(Ref registration) noexcept {
  const std::lock_guard lock(mutex_);
  registered_.erase(registration);
}

void CallbackServer::count_refusal() noexcept {
  refused_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic, orders nothing
}

}  // namespace meterbank::detail
