// SPDX-License-Identifier: Apache-2.0
#include "reader_connection.hpp"

#include <cstring>
#include <utility>

#include "meterbank/shm/segment.hpp"

namespace meterbank::detail {

bool ReaderConnection::send(const ChannelAnswer& answer, std::vector<KnownFd> rows) {
  std::vector<std::byte> packet = encode(answer);
  const std::lock_guard lock(mutex_);
  return closed_ || reader_.send(std::move(packet), std::move(rows));
}

bool ReaderConnection::send(const ChannelAnswer& answer) { return send(answer, {}); }

bool ReaderConnection::send(const RunningCall& call) {
  ChannelAnswer answer = call.answer();
  if (answer.bytes.size() <= kRowsInPacketMax) return send(answer);
  auto rows = OwnedExtent::create("answer", answer.bytes.size());
  if (!rows) return send(call.answer_cut_to_a_packet());
  std::memcpy(rows->data(), answer.bytes.data(), answer.bytes.size());
  answer.flags |= kRowsInMemory;
  answer.bytes = {};
  std::vector<KnownFd> descriptors;
  descriptors.push_back(rows->take_descriptor());
  return send(answer, std::move(descriptors));
}

bool ReaderConnection::flush() noexcept {
  const std::lock_guard lock(mutex_);
  return reader_.flush();
}

bool ReaderConnection::has_unsent() const noexcept {
  const std::lock_guard lock(mutex_);
  return reader_.has_unsent();
}

bool ReaderConnection::add_call(std::uint64_t id, const std::shared_ptr<RunningCall>& call) {
  const std::lock_guard lock(mutex_);
  return !closed_ && calls_.emplace(id, call).second;
}

void ReaderConnection::remove_call(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  calls_.erase(id);
}

void ReaderConnection::cancel(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(id);
  if (found != calls_.end()) found->second->cancel();
}

std::optional<ChannelRefusal> ReaderConnection::add_interest(
    const std::shared_ptr<Callable>& callable, const ChannelRequest& request, Callable::Told told) {
  Interests made;
  made.emplace(callable, request);
  // One step for both, lest close() take back what is not counted yet: removals come second.
  const std::lock_guard lock(mutex_);
  if (closed_ || interests_.contains(callable)) return ChannelRefusal::kMalformed;
  if (!callable->add_interest(request, std::move(told))) return ChannelRefusal::kClosing;
  interests_.merge(made);  // moves a node: nothing can fail any more
  return std::nullopt;
}

std::optional<ChannelRequest> ReaderConnection::take_interest(
    const std::shared_ptr<Callable>& callable) {
  const std::lock_guard lock(mutex_);
  const auto found = interests_.find(callable);
  if (found == interests_.end()) return std::nullopt;
  ChannelRequest request = std::move(found->second);
  interests_.erase(found);
  return request;
}

bool ReaderConnection::is_idle() noexcept {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn) return false;
  const std::lock_guard lock(mutex_);
  return calls_.empty() && interests_.empty() && !reader_.has_unsent() && !reader_.has_packet();
}

ReaderConnection::Interests ReaderConnection::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [id, call] : calls_) call->cancel();
  // The descriptor stays until the last thread that serves this connection has left it.
  reader_.hang_up();
  return std::exchange(interests_, {});
}

}  // namespace meterbank::detail
