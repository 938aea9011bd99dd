// SPDX-License-Identifier: Apache-2.0
//
// The other end of a provider's channel, packet by packet.
#pragma once

#include <poll.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/publisher.hpp"
#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

struct CopiedRow {
  std::uint32_t id = 0;
  std::string name;
  std::vector<std::uint64_t> values;
};

// An answer with its bytes.
struct CopiedAnswer {
  MessageType type{};
  std::uint64_t id = 0;
  ChannelRefusal refusal{};
  CallbackOutcome outcome{};
  std::uint32_t code = 0;
  std::uint32_t flags = 0;
  std::string text;
  std::vector<CopiedRow> rows;
};

class AskingReader {
 public:
  // `record` is Provider::record().
  explicit AskingReader(const std::string& record) : AskingReader(connected(socket_of(record))) {}
  static AskingReader connected(const std::string& path) {
    AskingReader reader;
    auto socket = PacketSocket::connect(path);
    if (socket) reader.socket_ = std::move(*socket);
    return reader;
  }

  static std::string socket_of(const std::string& record) {
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(record).parent_path())) {
      if (file.path().extension() == kSocketSuffix) return file.path().string();
    }
    return {};
  }

  [[nodiscard]] bool is_connected() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] PacketSocket& socket() noexcept { return socket_; }
  void hang_up() { socket_ = PacketSocket(); }

  std::uint64_t ask(ChannelRequest request) {
    request.id = ++last_id_;
    socket_.send(encode(request));
    return request.id;
  }

  // Nothing: the provider hung up, or said nothing for ten seconds.
  std::optional<CopiedAnswer> answer() {
    PacketBuffer packet;
    UniqueFd attached;
    for (;;) {
      const auto got = socket_.receive(packet, attached);
      if (got == PacketSocket::Got::kPacket) return copied(packet, std::move(attached));
      if (got != PacketSocket::Got::kNothing) return std::nullopt;
      pollfd wait{socket_.descriptor(), POLLIN, 0};
      if (::poll(&wait, 1, 10'000) <= 0) return std::nullopt;
    }
  }

  std::optional<CopiedAnswer> ask_and_wait(const ChannelRequest& request) {
    ask(request);
    return answer();
  }

 private:
  AskingReader() = default;
  static std::optional<CopiedAnswer> copied(const PacketBuffer& packet, UniqueFd attached) {
    const auto answer = decode_answer(packet.bytes());
    if (!answer) return std::nullopt;
    CopiedAnswer copy{answer->type, answer->id,    answer->refusal,           answer->outcome,
                      answer->code, answer->flags, std::string(answer->text), {}};
    std::span<const std::byte> bytes = answer->bytes;
    std::optional<MappedExtent> memory;
    if ((answer->flags & kRowsInMemory) != 0) {
      auto mapped = MappedExtent::map(std::move(attached), kAnswerBytesMax);
      if (!mapped) return std::nullopt;
      memory = std::move(*mapped);
      const auto size = static_cast<std::size_t>(answer->rows_bytes);
      bytes = {memory->bytes().span_at(0, size, 8), size};
    }
    RowsWalker walker(bytes, answer->rows);
    while (const auto row = walker.next()) {
      copy.rows.push_back(
          {row->id, std::string(row->name), {row->values.begin(), row->values.end()}});
    }
    if (!walker.is_sound()) return std::nullopt;
    return copy;
  }

  PacketSocket socket_;
  std::uint64_t last_id_ = 0;
};

}  // namespace meterbank::test
