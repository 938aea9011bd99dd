// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pmu/lease_wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::pmu {
namespace {

// Bytes of a message leave this process, so none of them may be padding.
template <typename T>
inline constexpr bool kIsWire =
    std::is_trivially_copyable_v<T>&& std::has_unique_object_representations_v<T>;

class PacketWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(kIsWire<T>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  template <typename T>
  void put_first(const std::vector<T>& values, std::size_t count) {
    static_assert(kIsWire<T>);
    put_bytes(std::as_bytes(std::span(values).first(count)));
  }
  void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span(text))); }

  [[nodiscard]] std::vector<std::byte> take(std::uint16_t type, std::uint64_t id) {
    const LeaseHeader header{.magic = kLeaseMagic,
                             .version = kLeaseVersion,
                             .type = static_cast<LeaseType>(type),
                             .bytes = static_cast<std::uint32_t>(packet_.size()),
                             .reserved = 0,
                             .id = id};
    std::memcpy(packet_.data(), &header, sizeof header);
    return std::move(packet_);
  }

 private:
  void put_bytes(std::span<const std::byte> bytes) {
    packet_.insert(packet_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> packet_ = std::vector<std::byte>(sizeof(LeaseHeader));
};

// Copies out of a packet what it promises. After the first thing that is not there or not allowed
// it gives nothing more.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::byte> rest) noexcept : rest_(rest) {}

  template <typename T>
  void get(T& value) noexcept {
    static_assert(kIsWire<T>);
    if (!require(rest_.size() >= sizeof value)) return;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
  }
  // The count is compared before anything is multiplied with it or allocated for it.
  template <typename T>
  void get(std::vector<T>& values, std::uint32_t count) {
    static_assert(kIsWire<T>);
    if (!require(count <= rest_.size() / sizeof(T)) || count == 0) return;
    values.resize(count);
    std::memcpy(values.data(), rest_.data(), count * sizeof(T));
    rest_ = rest_.subspan(count * sizeof(T));
  }
  void get(std::string& text, std::uint32_t bytes) {
    if (!require(bytes <= rest_.size()) || bytes == 0) return;
    text.resize(bytes);
    std::memcpy(text.data(), rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
  }
  bool require(bool is_right) noexcept {
    is_right_ = is_right_ && is_right;
    return is_right_;
  }
  void require_name(const WireName& name) noexcept { require(is_terminated(name)); }
  template <typename Enum>
  void require_within(Enum value, Enum first, Enum last) noexcept {
    require(value >= first && value <= last);
  }
  // Everything was right, and there is no more.
  [[nodiscard]] bool is_complete() const noexcept { return is_right_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool is_right_ = true;
};

// ---- Messages without anything behind them ----

void check(PacketReader& reader, const Hello& body) { reader.require(body.reserved == 0); }
void check(PacketReader&, const Free&) {}
void check(PacketReader&, const Cancel&) {}
void check(PacketReader&, const Renew&) {}
void check(PacketReader&, const Drained&) {}
void check(PacketReader&, const Read&) {}
void check(PacketReader&, const Offer&) {}
void check(PacketReader&, const AdminRevoke&) {}
void check(PacketReader& reader, const Owners& body) {
  reader.require(body.reserved == 0);
  reader.require_name(body.pmu);
}
void check(PacketReader& reader, const Welcome& body) {
  reader.require((body.flags & ~(kWelcomeHasPmu | kWelcomeGrace | kWelcomeAdministrator)) == 0);
}
void check(PacketReader& reader, const Counter& body) { reader.require(body.reserved == 0); }
void check(PacketReader& reader, const Queued& body) { reader.require(body.reserved == 0); }
void check(PacketReader& reader, const Done& body) { reader.require(body.reserved == 0); }
void check(PacketReader& reader, const Room& body) { reader.require(body.is_probed <= 1); }
void check(PacketReader& reader, const Rejected& body) {
  reader.require_within(body.reason, Rejection::kMalformed, Rejection::kNotAllowed);
  reader.require(body.reserved == 0);
}
void check(PacketReader& reader, const Notice& body) {
  reader.require_within(body.kind, NoticeKind::kRevoking, NoticeKind::kResumed);
  reader.require_within(body.cause, Cause::kNone, Cause::kPolicyChanged);
}
void check(PacketReader& reader, const NewLedger& body) { reader.require(body.reserved == 0); }

template <typename Body>
void write(PacketWriter& writer, const Body& body) {
  writer.put(body);
}
template <typename Body>
void read(PacketReader& reader, Body& body) {
  reader.get(body);
  check(reader, body);
}

// ---- Messages of a client that count what follows ----

template <typename T>
[[nodiscard]] std::size_t allowed(const std::vector<T>& values, std::size_t most) noexcept {
  return std::min(values.size(), most);
}

void write(PacketWriter& writer, const Allocate& body) {
  writer.put(body.head);
  if ((body.head.flags & kAllocateHasGroups) != 0) {
    writer.put_first(body.groups, allowed(body.groups, kGroupsMax));
  }
  if ((body.head.flags & kAllocateHasItems) != 0) {
    writer.put_first(body.items, allowed(body.items, kItemsMax));
  }
}
void read(PacketReader& reader, Allocate& body) {
  reader.get(body.head);
  reader.require_name(body.head.pmu);
  reader.require_name(body.head.label);
  if ((body.head.flags & kAllocateHasGroups) != 0) {
    reader.require(body.head.group_count <= kGroupsMax);
    reader.get(body.groups, body.head.group_count);
  }
  if ((body.head.flags & kAllocateHasItems) != 0) {
    reader.require(body.head.item_count <= kItemsMax);
    reader.get(body.items, body.head.item_count);
  }
  for (const Item& item : body.items) reader.require_name(item.name);
}

void write(PacketWriter& writer, const Probe& body) {
  writer.put(body.flags);
  writer.put(body.group_count);
  writer.put(body.pmu);
  writer.put(body.item);
  if ((body.flags & kAllocateHasGroups) == 0) return;
  writer.put_first(body.groups, allowed(body.groups, kGroupsMax));
}
void read(PacketReader& reader, Probe& body) {
  reader.get(body.flags);
  reader.get(body.group_count);
  reader.get(body.pmu);
  reader.get(body.item);
  reader.require((body.flags & ~kAllocateHasGroups) == 0);
  reader.require_name(body.pmu);
  reader.require_name(body.item.name);
  if (body.flags == 0) return;
  reader.require(body.group_count <= kGroupsMax);
  reader.get(body.groups, body.group_count);
}

void write(PacketWriter& writer, const AdminReserve& body) {
  const bool has_groups = (body.flags & kAllocateHasGroups) != 0;
  const std::size_t count = has_groups ? allowed(body.groups, kGroupsMax) : 0;
  writer.put(body.flags);
  writer.put(static_cast<std::uint32_t>(count));
  writer.put(body.count);
  writer.put(body.reserved);
  writer.put(body.pmu);
  writer.put_first(body.groups, count);
}
void read(PacketReader& reader, AdminReserve& body) {
  reader.get(body.flags);
  reader.get(body.group_count);
  reader.get(body.count);
  reader.get(body.reserved);
  reader.get(body.pmu);
  reader.require((body.flags & ~kAllocateHasGroups) == 0);
  reader.require(body.flags != 0 || body.group_count == 0);
  reader.require(body.reserved == 0);
  reader.require_name(body.pmu);
  reader.require(body.group_count <= kGroupsMax);
  reader.get(body.groups, body.group_count);
}

// ---- Messages of the arbiter that count what follows ----

void write(PacketWriter& writer, const Granted& body) {
  GrantedHead head = body.head;
  head.counter_count = static_cast<std::uint32_t>(body.counters.size());
  writer.put(head);
  writer.put_first(body.counters, body.counters.size());
}
void read(PacketReader& reader, Granted& body) {
  reader.get(body.head);
  reader.require_within(body.head.grade, Grade::kLedger, Grade::kGuarded);
  reader.require_within(body.head.quality, Quality::kExact, Quality::kUnverified);
  reader.require(body.head.descriptor_count <= body.head.counter_count);
  reader.get(body.counters, body.head.counter_count);
}

void write(PacketWriter& writer, const Refused& body) {
  const std::size_t shown = allowed(body.blockers, kBlockersMax);
  const std::string sentence = repair_utf8(body.sentence, kSentenceBytesMax).text;
  RefusedHead head = body.head;
  head.blocker_count = static_cast<std::uint32_t>(shown);
  head.blockers_left_out += static_cast<std::uint32_t>(body.blockers.size() - shown);
  head.sentence_bytes = static_cast<std::uint32_t>(sentence.size());
  writer.put(head);
  writer.put_first(body.blockers, shown);
  writer.put_text(sentence);
}
void read(PacketReader& reader, Refused& body) {
  reader.get(body.head);
  reader.require_within(body.head.answer, Answer::kGranted, Answer::kInsufficientResources);
  reader.require_within(body.head.reason, Reason::kNone, Reason::kUnverified);
  reader.require(body.head.blocker_count <= kBlockersMax);
  reader.get(body.blockers, body.head.blocker_count);
  for (const Blocker& blocker : body.blockers) {
    reader.require_within(blocker.priority, Priority::kBatch, Priority::kKernel);
    reader.require(blocker.is_waiting <= 1);
    reader.require_name(blocker.name);
    reader.require_name(blocker.label);
  }
  reader.require(body.head.sentence_bytes <= kSentenceBytesMax);
  reader.get(body.sentence, body.head.sentence_bytes);
  reader.require(is_valid_utf8(body.sentence));
}

void write(PacketWriter& writer, const LeaseValues& body) {
  ValuesHead head = body.head;
  head.value_count = static_cast<std::uint32_t>(body.values.size());
  writer.put(head);
  writer.put_first(body.values, body.values.size());
}
void read(PacketReader& reader, LeaseValues& body) {
  reader.get(body.head);
  reader.require_within(body.head.quality, Quality::kExact, Quality::kUnverified);
  reader.get(body.values, body.head.value_count);
}

// A PMU has 64 counters at most, as a mask of them is a word.
constexpr std::uint32_t kOwnersMax = 64;

void write(PacketWriter& writer, const OwnersAnswer& body) {
  const std::size_t count = allowed(body.owners, kOwnersMax);
  writer.put(static_cast<std::uint32_t>(count));
  writer.put(body.reserved);
  writer.put_first(body.owners, count);
}
void read(PacketReader& reader, OwnersAnswer& body) {
  reader.get(body.owner_count);
  reader.get(body.reserved);
  reader.require(body.reserved == 0);
  reader.require(body.owner_count <= kOwnersMax);
  reader.get(body.owners, body.owner_count);
  for (const CounterOwner& owner : body.owners) {
    reader.require_within(owner.kind, OwnerKind::kFree, OwnerKind::kLimbo);
    reader.require(owner.reserved == 0);
  }
}

// ---- Packets ----

// The type of the first message of either variant; the others follow in its order.
template <typename Message>
inline constexpr std::uint16_t kTypeFirst = static_cast<std::uint16_t>(
    std::is_same_v<Message, ClientMessage> ? LeaseType::kHello : LeaseType::kWelcome);
static_assert(std::variant_size_v<ClientMessage> ==
              static_cast<std::size_t>(LeaseType::kAdminReserve));

constexpr std::uint16_t kUnaskedFirst = static_cast<std::uint16_t>(LeaseType::kNotice);
constexpr std::size_t kAnswers =
    static_cast<std::size_t>(LeaseType::kRejected) - kTypeFirst<ArbiterMessage> + 1;
static_assert(std::variant_size_v<ArbiterMessage> ==
              kAnswers + static_cast<std::size_t>(LeaseType::kNewLedger) - kUnaskedFirst + 1);

template <typename Message>
[[nodiscard]] std::uint16_t type_of(std::size_t index) noexcept {
  const bool is_unasked = std::is_same_v<Message, ArbiterMessage> && index >= kAnswers;
  return static_cast<std::uint16_t>(is_unasked ? kUnaskedFirst + (index - kAnswers)
                                               : kTypeFirst<Message> + index);
}

// Position in the variant; its size, if it has no such message.
template <typename Message>
[[nodiscard]] std::size_t index_of(LeaseType type) noexcept {
  for (std::size_t index = 0; index < std::variant_size_v<Message>; ++index) {
    if (type_of<Message>(index) == static_cast<std::uint16_t>(type)) return index;
  }
  return std::variant_size_v<Message>;
}

[[nodiscard]] bool is_id_allowed(LeaseType type, std::uint64_t id) noexcept {
  switch (type) {
    case LeaseType::kNotice:
    case LeaseType::kNewLedger:
      return id == 0;
    case LeaseType::kCancel:    // it has no answer
    case LeaseType::kValues:    // unasked, before the notice that a lease is lost
    case LeaseType::kRejected:  // unasked, before a connection is refused
      return true;
    default:
      return id != 0;
  }
}

template <typename Message, std::size_t... kIndex>
void read_one(PacketReader& reader, std::size_t index, Message& message,
              std::index_sequence<kIndex...>) {
  const auto read_if = [&]<std::size_t kThis>(std::integral_constant<std::size_t, kThis>) {
    if (index == kThis) read(reader, message.template emplace<kThis>());
  };
  (read_if(std::integral_constant<std::size_t, kIndex>{}), ...);
}

template <typename Message>
[[nodiscard]] Decoded<Message> decode(std::span<const std::byte> packet) {
  Decoded<Message> decoded;
  const auto rejected = [&decoded](Rejection rejection) {
    decoded.rejection = rejection;
    decoded.message = {};
    return std::move(decoded);
  };
  LeaseHeader header{};
  PacketReader reader(packet);
  reader.get(header);
  if (!reader.require(header.magic == kLeaseMagic)) return rejected(Rejection::kMalformed);
  decoded.id = header.id;
  if (header.version != kLeaseVersion) return rejected(Rejection::kVersion);
  const std::size_t index = index_of<Message>(header.type);
  if (index == std::variant_size_v<Message>) return rejected(Rejection::kUnknownType);
  reader.require(packet.size() <= kPacketBytesMax);
  reader.require(header.bytes == packet.size());
  reader.require(header.reserved == 0);
  reader.require(is_id_allowed(header.type, header.id));
  if (!reader.require(true)) return rejected(Rejection::kMalformed);
  read_one(reader, index, decoded.message,
           std::make_index_sequence<std::variant_size_v<Message>>{});
  if (!reader.is_complete()) return rejected(Rejection::kMalformed);
  return decoded;
}

template <typename Message>
[[nodiscard]] std::vector<std::byte> encode_any(std::uint64_t id, const Message& message) {
  PacketWriter writer;
  std::visit([&writer](const auto& body) { write(writer, body); }, message);
  return writer.take(type_of<Message>(message.index()), id);
}

}  // namespace

std::vector<std::byte> encode(std::uint64_t id, const ClientMessage& message) {
  return encode_any(id, message);
}
std::vector<std::byte> encode(std::uint64_t id, const ArbiterMessage& message) {
  return encode_any(id, message);
}

Decoded<ClientMessage> decode_client_message(std::span<const std::byte> packet) {
  return decode<ClientMessage>(packet);
}
Decoded<ArbiterMessage> decode_arbiter_message(std::span<const std::byte> packet) {
  return decode<ArbiterMessage>(packet);
}

}  // namespace meterbank::pmu
