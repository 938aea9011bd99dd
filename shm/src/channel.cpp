// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/channel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kRowWordsMax = 4096;

constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + kWord - 1) / kWord * kWord;
}

// Fills bytes that are there, and zero, from the front.
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) noexcept : rest_(bytes) {}

  template <typename T>
  void put(const T& value) noexcept {
    put(std::as_bytes(std::span(&value, 1)));
  }
  void put(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
    rest_ = rest_.subspan(padded(bytes.size()));
  }

 private:
  std::span<std::byte> rest_;
};

template <typename T>
bool take(std::span<const std::byte>& rest, T& value) noexcept {
  if (rest.size() < sizeof value) return false;
  std::memcpy(&value, rest.data(), sizeof value);
  rest = rest.subspan(sizeof value);
  return true;
}

thread_local unsigned callbacks_around = 0;

// The longest start of at most `bytes` bytes that does not cut a character.
std::string_view cut(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

bool is_request(MessageType type) noexcept {
  return type >= MessageType::kAddInterest && type <= MessageType::kCancel;
}

DecodedRequest refused(ChannelRefusal why, std::uint64_t id) {
  DecodedRequest decoded;
  decoded.refusal = why;
  decoded.request.id = id;
  return decoded;
}

// False: the body is not one.
bool decode_body(std::span<const std::byte> rest, ChannelRequest& request) {
  RequestBody body;
  if (!take(rest, body) || body.collect_many > 1) return false;
  const std::size_t mask_bytes = body.mask_words * kWord;
  if (body.pattern_bytes > kNameBytesMax) return false;
  if (rest.size() != mask_bytes + padded(body.pattern_bytes)) return false;
  request.registration = body.registration;
  request.generation = body.generation;
  request.timeout_ns = body.timeout_ns;
  request.instance_id = body.instance_id;
  request.collect_many = body.collect_many == 1;
  request.counter_mask.assign(1 + std::size_t{body.mask_words}, body.counter_mask);
  std::memcpy(request.counter_mask.data() + 1, rest.data(), mask_bytes);
  const std::span<const std::byte> text = rest.subspan(mask_bytes);
  request.pattern.assign(reinterpret_cast<const char*>(text.data()), body.pattern_bytes);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  return is_valid_utf8(request.pattern) &&
         std::all_of(text.begin() + body.pattern_bytes, text.end(), is_zero);
}

// False: the body is not one.
bool decode_rows(std::span<const std::byte> rest, ChannelAnswer& answer) {
  RowsBody body;
  if (!take(rest, body) || body.reserved != 0 || body.text_bytes > kAnswerTextBytesMax)
    return false;
  const std::size_t text_bytes = padded(body.text_bytes);
  if (rest.size() < text_bytes) return false;
  answer.text = {reinterpret_cast<const char*>(rest.data()), body.text_bytes};
  answer.bytes = rest.subspan(text_bytes);
  answer.outcome = body.outcome;
  answer.code = body.code;
  answer.rows = body.rows;
  answer.flags = body.flags;
  answer.rows_bytes = body.rows_bytes;
  answer.finished_ns = body.finished_ns;
  if (!is_valid_utf8(answer.text) || body.outcome > CallbackOutcome::kNoMemory) return false;
  if (answer.type == MessageType::kDone)
    return body.rows == 0 && body.rows_bytes == 0 && answer.bytes.empty();
  if ((body.flags & kRowsInMemory) != 0)
    return answer.bytes.empty() && body.rows_bytes <= kAnswerBytesMax;
  return body.rows_bytes == answer.bytes.size();
}

}  // namespace

std::vector<std::byte> encode(const ChannelRequest& request) {
  const bool has_body = request.type != MessageType::kCancel;
  const auto more_mask = std::as_bytes(std::span(request.counter_mask).subspan(1));
  const std::size_t body = sizeof(RequestBody) + more_mask.size() + padded(request.pattern.size());
  std::vector<std::byte> packet(sizeof(MessageHeader) + (has_body ? body : 0));
  Writer writer(packet);
  writer.put(MessageHeader{kChannelMagic, kChannelVersion, request.type,
                           static_cast<std::uint32_t>(packet.size()), 0, request.id});
  if (!has_body) return packet;
  writer.put(RequestBody{request.registration, request.generation, request.timeout_ns,
                         request.counter_mask.front(), request.instance_id,
                         static_cast<std::uint16_t>(request.pattern.size()),
                         static_cast<std::uint8_t>(request.counter_mask.size() - 1),
                         static_cast<std::uint8_t>(request.collect_many ? 1 : 0)});
  writer.put(more_mask);
  writer.put(std::as_bytes(std::span(request.pattern)));
  return packet;
}

DecodedRequest decode_request(std::span<const std::byte> packet) {
  std::span<const std::byte> rest = packet;
  MessageHeader header;
  if (!take(rest, header) || header.magic != kChannelMagic) {
    return refused(ChannelRefusal::kMalformed, 0);
  }
  if (header.version != kChannelVersion) return refused(ChannelRefusal::kVersion, header.id);
  if (header.bytes != packet.size() || packet.size() > kPacketBytesMax || header.reserved != 0) {
    return refused(ChannelRefusal::kMalformed, header.id);
  }
  if (!is_request(header.type)) return refused(ChannelRefusal::kUnknownType, header.id);
  DecodedRequest decoded;
  decoded.request.type = header.type;
  decoded.request.id = header.id;
  const bool is_sound =
      header.type == MessageType::kCancel ? rest.empty() : decode_body(rest, decoded.request);
  return is_sound ? decoded : refused(ChannelRefusal::kMalformed, header.id);
}

std::vector<std::byte> encode(const ChannelAnswer& answer) {
  const bool has_rows = answer.type == MessageType::kRows || answer.type == MessageType::kDone;
  const std::string_view text = cut(answer.text, kAnswerTextBytesMax);
  std::size_t body = answer.type == MessageType::kRefused ? sizeof(RefusedBody) : 0;
  if (has_rows) body = sizeof(RowsBody) + padded(text.size()) + answer.bytes.size();
  std::vector<std::byte> packet(sizeof(MessageHeader) + body);
  Writer writer(packet);
  writer.put(MessageHeader{kChannelMagic, kChannelVersion, answer.type,
                           static_cast<std::uint32_t>(packet.size()), 0, answer.id});
  if (answer.type == MessageType::kRefused) writer.put(RefusedBody{answer.refusal, 0});
  if (!has_rows) return packet;
  writer.put(RowsBody{answer.outcome, answer.code, answer.rows, answer.flags, answer.rows_bytes,
                      answer.finished_ns, static_cast<std::uint32_t>(text.size()), 0});
  writer.put(std::as_bytes(std::span(text)));
  writer.put(answer.bytes);
  return packet;
}

std::optional<ChannelAnswer> decode_answer(std::span<const std::byte> packet) {
  std::span<const std::byte> rest = packet;
  MessageHeader header;
  if (!take(rest, header) || header.magic != kChannelMagic || header.version != kChannelVersion ||
      header.bytes != packet.size() || packet.size() > kPacketBytesMax || header.reserved != 0) {
    return std::nullopt;
  }
  ChannelAnswer answer;
  answer.type = header.type;
  answer.id = header.id;
  if (header.type == MessageType::kBusy) {
    return rest.empty() ? std::optional(answer) : std::nullopt;
  }
  if (header.type == MessageType::kRefused) {
    RefusedBody body;
    if (!take(rest, body) || !rest.empty() || body.reserved != 0) return std::nullopt;
    answer.refusal = body.reason;
    return answer;
  }
  if (header.type != MessageType::kRows && header.type != MessageType::kDone) return std::nullopt;
  return decode_rows(rest, answer) ? std::optional(answer) : std::nullopt;
}

InsideCallback::InsideCallback() noexcept { ++callbacks_around; }
InsideCallback::~InsideCallback() { --callbacks_around; }
bool is_inside_callback() noexcept { return callbacks_around != 0; }

void RowsEncoder::add(std::uint32_t id, std::string_view name,
                      std::span<const std::uint64_t> values) {
  const std::size_t before = bytes_.size();
  // The one step that can fail, so that a row is there or not.
  bytes_.resize(before + sizeof(RowHead) + values.size_bytes() + padded(name.size()));
  Writer writer(std::span<std::byte>(bytes_).subspan(before));
  writer.put(RowHead{id, static_cast<std::uint16_t>(name.size()),
                     static_cast<std::uint16_t>(values.size())});
  writer.put(std::as_bytes(values));
  writer.put(std::as_bytes(std::span(name)));
  ++rows_;
}

std::optional<ChannelRow> RowsWalker::next() noexcept {
  if (rows_ == 0) {
    sound_ = sound_ && rest_.empty();
    return std::nullopt;
  }
  --rows_;
  RowHead head;
  const bool has_head = sound_ && take(rest_, head);
  const std::size_t value_bytes = has_head ? head.words * kWord : 0;
  sound_ = has_head && head.words <= kRowWordsMax && head.name_bytes <= kNameBytesMax &&
           rest_.size() >= value_bytes + padded(head.name_bytes);
  if (!sound_) {
    rows_ = 0;
    return std::nullopt;
  }
  ChannelRow row;
  row.id = head.id;
  row.values = {reinterpret_cast<const std::uint64_t*>(rest_.data()), head.words};
  row.name = {reinterpret_cast<const char*>(rest_.data() + value_bytes), head.name_bytes};
  sound_ = is_valid_utf8(row.name) && row.id <= kInstanceIdMax;
  rest_ = rest_.subspan(value_bytes + padded(head.name_bytes));
  if (sound_) return row;
  rows_ = 0;
  return std::nullopt;
}

}  // namespace meterbank
