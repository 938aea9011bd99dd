// SPDX-License-Identifier: Apache-2.0
//
// A provider whose memory is in order and whose channel does what a test says: it answers late,
// twice, wrongly or not at all.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "meterbank/publisher/schema.hpp"
#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

// A row as it goes into an answer.
struct ScriptedRow {
  std::uint32_t id = 0;
  std::string name;
  std::vector<std::uint64_t> values;
};

inline std::vector<std::byte> rows_answer(std::uint64_t id, const std::vector<ScriptedRow>& rows,
                                          std::uint64_t finished_ns = 0) {
  RowsEncoder encoder;
  for (const ScriptedRow& row : rows) encoder.add(row.id, row.name, row.values);
  ChannelAnswer answer;
  answer.id = id;
  answer.rows = encoder.rows();
  answer.bytes = encoder.bytes();
  answer.rows_bytes = answer.bytes.size();
  answer.finished_ns = finished_ns;
  return encode(answer);
}

inline std::vector<std::byte> plain_answer(MessageType type, std::uint64_t id,
                                           ChannelRefusal refusal = {}) {
  ChannelAnswer answer;
  answer.type = type;
  answer.id = id;
  answer.refusal = refusal;
  return encode(answer);
}

class ScriptedProvider {
 public:
  // Called in a thread of its own for each request but those of interest, which are done.
  using Script = std::function<void(PacketSocket& to, const ChannelRequest& request)>;

  ScriptedProvider(const std::string& directory, const CountersetSpec& spec, Script script,
                   std::string name = "scripted",
                   std::uint64_t flags = kRegistrationCallback | kRegistrationInterest)
      : name_(std::move(name)), script_(std::move(script)) {
    make_segment(spec, flags);
    const auto listener = directory + "/" + socket_name(pid(), extent_->inode());
    listener_.emplace(*PacketListener::listen(listener, 64));
    record_path_ = *write_record(directory, pointer());
    stop_.reset(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread([this] { run(); });
  }
  ScriptedProvider(const ScriptedProvider&) = delete;
  ScriptedProvider& operator=(const ScriptedProvider&) = delete;
  ~ScriptedProvider() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop_.get(), &one, sizeof one));
    thread_.join();
    ::unlink(record_path_.c_str());
  }

  // Of one type, in order of arrival.
  [[nodiscard]] std::vector<ChannelRequest> requests(MessageType type) {
    const std::lock_guard lock(mutex_);
    std::vector<ChannelRequest> found;
    for (const ChannelRequest& request : requests_) {
      if (request.type == type) found.push_back(request);
    }
    return found;
  }
  // Waits until so many requests of a type have come.
  void await(MessageType type, std::size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] {
      std::size_t seen = 0;
      for (const ChannelRequest& request : requests_) seen += request.type == type ? 1 : 0;
      return seen >= count;
    });
  }

 private:
  static constexpr std::uint32_t kRecord = sizeof(SegmentHeader);
  static constexpr std::uint32_t kSchema = kRecord + sizeof(RegistrationRecord);

  static std::uint32_t pid() noexcept { return static_cast<std::uint32_t>(::getpid()); }

  void make_segment(const CountersetSpec& spec, std::uint64_t flags) {
    extent_.emplace(*OwnedExtent::create(name_, kExtentBytesMin));
    std::byte* const memory = extent_->data();
    auto* const header = new (memory) SegmentHeader{};
    header->layout_major = kLayoutMajor;
    header->abi_mark = kAbiMark;
    header->header_bytes = sizeof(SegmentHeader);
    header->segment_id = {extent_->inode(), pid()};
    header->name_bytes = static_cast<std::uint32_t>(name_.size());
    std::memcpy(header->name.data(), name_.data(), name_.size());
    header->extents[0] = {extent_->size(), extent_->inode(),
                          static_cast<std::uint32_t>(extent_->descriptor()), 0};
    const std::vector<std::byte> schema = *encode_schema(spec, name_);
    std::memcpy(memory + kSchema, schema.data(), schema.size());
    auto* const record = new (memory + kRecord) RegistrationRecord{};
    const BlockForm form = form_of(spec);
    record->schema = make_ref(0, kSchema);
    record->schema_bytes = static_cast<std::uint32_t>(schema.size());
    record->words = form.words;
    record->lanes = form.lanes;
    record->consistency = static_cast<std::uint32_t>(form.consistency);
    record->checkpoint = form.checkpoint;
    record->cut_pair = form.cut_pair;
    record->shards = form.shards;
    // relaxed, all but the last: the magic publishes them.
    record->word.store(RegistrationWord{1, flags, RegistrationState::kInserted}.raw(),
                       std::memory_order_relaxed);
    header->extents_count.store(1, std::memory_order_relaxed);
    header->registrations[0].store(make_ref(0, kRecord), std::memory_order_relaxed);
    header->registrations_count.store(1, std::memory_order_relaxed);
    header->magic.store(kSegmentMagic, std::memory_order_release);  // [P1]
  }

  [[nodiscard]] PointerRecord pointer() const {
    return {.name = name_,
            .pid = pid(),
            .start_time = process_start_time(pid()),
            .boot_id = boot_id(),
            .descriptor = static_cast<std::uint32_t>(extent_->descriptor()),
            .inode = extent_->inode(),
            .bytes = extent_->size(),
            .layout_major = kLayoutMajor,
            .layout_minor = kLayoutMinor,
            .socket = {}};
  }

  void run() {
    for (;;) {
      std::vector<pollfd> sockets{{stop_.get(), POLLIN, 0}, {listener_->descriptor(), POLLIN, 0}};
      for (const PacketSocket& connection : connections_) {
        sockets.push_back({connection.descriptor(), POLLIN, 0});
      }
      if (::poll(sockets.data(), sockets.size(), -1) < 0) continue;
      if (sockets[0].revents != 0) return;
      PacketSocket caller;
      static_cast<void>(listener_->accept(caller));
      if (caller) connections_.push_back(std::move(caller));
      connections_.remove_if([this](PacketSocket& connection) { return !serve(connection); });
      const std::lock_guard lock(mutex_);
      arrived_.notify_all();
    }
  }

  // False: the connection has ended.
  bool serve(PacketSocket& connection) {
    for (;;) {
      UniqueFd attached;
      const auto got = connection.receive(packet_, attached);
      if (got == PacketSocket::Got::kNothing) return true;
      if (got != PacketSocket::Got::kPacket) return false;
      const DecodedRequest decoded = decode_request(packet_.bytes());
      const ChannelRequest& request = decoded.request;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        arrived_.notify_all();
      }
      const bool is_interest =
          request.type == MessageType::kAddInterest || request.type == MessageType::kRemoveInterest;
      if (is_interest) connection.send(plain_answer(MessageType::kDone, request.id));
      if (!is_interest) script_(connection, request);
      if (!connection) return false;  // the script hung up
    }
  }

  std::string name_;
  Script script_;
  std::optional<OwnedExtent> extent_;
  std::optional<PacketListener> listener_;
  std::string record_path_;
  UniqueFd stop_;
  std::list<PacketSocket> connections_;
  PacketBuffer packet_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<ChannelRequest> requests_;
  std::thread thread_;
};

}  // namespace meterbank::test
