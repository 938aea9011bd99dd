// SPDX-License-Identifier: Apache-2.0
//
// A reader's connection to one provider. Nothing here waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {

class ProviderChannel {
 public:
  // `uid`: the user of the provider, from the kernel. A process of another user that listens there
  // is refused.
  ProviderChannel(std::string path, std::uint32_t uid) noexcept
      : path_(std::move(path)), uid_(uid) {}

  // If it is not connected. Nothing: it is now; else kGone, kDenied, or kBusy: too many knock.
  [[nodiscard]] std::optional<AnswerOutcome> connect();
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  void close() noexcept { socket_ = PacketSocket(); }

  [[nodiscard]] PacketSocket::Sent send(const ChannelRequest& request);

  enum class Got : std::uint8_t {
    kAnswer,
    kNothing,    // at present
    kEnd,        // the provider closed
    kMalformed,  // no answer, or with a descriptor that it should not have or lacks
  };
  // The answer lies in `packet`; the descriptor belongs to it.
  [[nodiscard]] Got receive(PacketBuffer& packet, ChannelAnswer& answer, UniqueFd& attached);

 private:
  std::string path_;
  std::uint32_t uid_;
  PacketSocket socket_;
};

}  // namespace meterbank
