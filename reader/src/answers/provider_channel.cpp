// SPDX-License-Identifier: Apache-2.0
#include "provider_channel.hpp"

namespace meterbank {

std::optional<AnswerOutcome> ProviderChannel::connect() {
  if (is_open()) return std::nullopt;
  if (path_.empty()) return AnswerOutcome::kGone;
  auto socket = PacketSocket::connect(path_);
  if (!socket) {
    switch (socket.error().code) {
      case ErrorCode::kDenied:
        return AnswerOutcome::kDenied;
      case ErrorCode::kLimit:
        return AnswerOutcome::kBusy;
      default:
        return AnswerOutcome::kGone;
    }
  }
  if (socket->peer().uid != uid_) return AnswerOutcome::kDenied;
  socket_ = *std::move(socket);
  return std::nullopt;
}

PacketSocket::Sent ProviderChannel::send(const ChannelRequest& request) {
  return socket_.send(encode(request));
}

ProviderChannel::Got ProviderChannel::receive(PacketBuffer& packet, ChannelAnswer& answer,
                                              UniqueFd& attached) {
  switch (socket_.receive(packet, attached)) {
    case PacketSocket::Got::kNothing:
      return Got::kNothing;
    case PacketSocket::Got::kEnd:
      return Got::kEnd;
    case PacketSocket::Got::kMalformed:
      return Got::kMalformed;
    case PacketSocket::Got::kPacket:
      break;
  }
  const auto decoded = decode_answer(packet.bytes());
  if (!decoded) return Got::kMalformed;
  answer = *decoded;
  const bool wants_descriptor =
      answer.type == MessageType::kRows && (answer.flags & kRowsInMemory) != 0;
  return wants_descriptor == static_cast<bool>(attached) ? Got::kAnswer : Got::kMalformed;
}

}  // namespace meterbank
