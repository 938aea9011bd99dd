// SPDX-License-Identifier: Apache-2.0
//
// The channel: how a reader asks a provider that computes on demand, and how it is answered.
//
// One SOCK_SEQPACKET socket a provider. A message is one packet: this header, then a body by type.
//
//   reader                                   provider
//     | -- kAddInterest (registration, mask) --> |   counted for this connection until it ends
//     | <------------------------- kDone ------- |
//     | -- kCollect (registration, mask, ...) -> |   the callback runs on the thread that got it
//     | -- kCancel (id of the collect) --------> |   it is told, and answers what it has
//     | <-- kRows, the rows in the packet ------ |   or beside it, in a sealed memfd
//
// Rules
//   1. A request has an id that the reader chose, and is answered exactly once: by kDone, kRows,
//      kBusy or kRefused with that id. kCancel is not answered; the request that it names is.
//   2. A packet is as long as its header says, and no longer than kPacketBytesMax.
//   3. A packet carries no descriptor, but for kRows with kRowsInMemory, which carries one.
//   4. A peer that sends what these rules do not allow is told kRefused where there is an id to
//   answer to,
//      and disconnected after the third time, or at once where packets can no longer be told apart.
//   5. Numbers have the byte order of the machine: both ends run on it.
//   6. Requests of a connection take effect in the order in which they were sent. Answers come as
//      they are ready.
//
// Nothing here throws or believes a byte that it did not check. Source: the ETW notifications that
// carry PerfLib's requests on Windows, where a registration has four reply slots as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

inline constexpr std::uint32_t kChannelMagic = 0x6863626d;  // "mbch"
inline constexpr std::uint16_t kChannelVersion = 1;
inline constexpr std::size_t kPacketBytesMax = 64 * 1024;
inline constexpr std::size_t kOutstandingRequestsMax = 4;  // of one registration; then kBusy

enum class MessageType : std::uint16_t {
  // Requests
  kAddInterest = 1,
  kRemoveInterest = 2,
  kEnumerate = 3,  // names and ids
  kCollect = 4,    // names, ids and values
  kCancel = 5,
  // Answers
  kDone = 0x81,
  kRows = 0x82,
  kBusy = 0x83,     // too many requests are outstanding; later it may work
  kRefused = 0x84,  // see ChannelRefusal
};

enum class ChannelRefusal : std::uint32_t {
  kMalformed = 1,  // the packet breaks a rule
  kUnknownType = 2,
  kVersion = 3,
  kNoRegistration = 4,  // there is none at this place, or it is another by now
  kNoCallback = 5,      // its rows are in shared memory
  kClosing = 6,
  kRate = 7,  // this user asks too often
};

// What came of the callback. Rows that it added are delivered whatever this says.
enum class CallbackOutcome : std::uint32_t {
  kFinished = 0,
  kFailed = 1,  // its own code is in RowsBody::code
  kThrew = 2,
  kCancelled = 3,  // it ended after the reader gave up, and may have left rows out
  kNoMemory = 4,
};

struct MessageHeader {
  std::uint32_t magic;     //  0  kChannelMagic
  std::uint16_t version;   //  4
  MessageType type;        //  6
  std::uint32_t bytes;     //  8  of the packet
  std::uint32_t reserved;  // 12  zero
  std::uint64_t id;        // 16  of the request
};
static_assert(offsetof(MessageHeader, magic) == 0);
static_assert(offsetof(MessageHeader, version) == 4);
static_assert(offsetof(MessageHeader, type) == 6);
static_assert(offsetof(MessageHeader, bytes) == 8);
static_assert(offsetof(MessageHeader, reserved) == 12);
static_assert(offsetof(MessageHeader, id) == 16);
static_assert(sizeof(MessageHeader) == 24);
static_assert(std::has_unique_object_representations_v<MessageHeader>);

// Of the first four requests. Behind it `mask_words` more words of the counter mask, then the
// pattern, then zeros to a multiple of 8.
struct RequestBody {
  Ref registration;             //  0  RegistrationRecord
  std::uint64_t generation;     //  8  RegistrationWord::generation
  std::uint64_t timeout_ns;     // 16  of the reader, from now; 0: the provider's own
  std::uint64_t counter_mask;   // 24  bit x: the counter with id x; all ones: all
  std::uint32_t instance_id;    // 32  kAnyInstanceId: any
  std::uint16_t pattern_bytes;  // 36  UTF-8; none: all
  std::uint8_t mask_words;      // 38  for ids from 64 on
  std::uint8_t collect_many;    // 39  0: the first row is enough; 1
};
static_assert(offsetof(RequestBody, registration) == 0);
static_assert(offsetof(RequestBody, generation) == 8);
static_assert(offsetof(RequestBody, timeout_ns) == 16);
static_assert(offsetof(RequestBody, counter_mask) == 24);
static_assert(offsetof(RequestBody, instance_id) == 32);
static_assert(offsetof(RequestBody, pattern_bytes) == 36);
static_assert(offsetof(RequestBody, mask_words) == 38);
static_assert(offsetof(RequestBody, collect_many) == 39);
static_assert(sizeof(RequestBody) == 40);
static_assert(std::has_unique_object_representations_v<RequestBody>);

// Of kRefused.
struct RefusedBody {
  ChannelRefusal reason;   //  0
  std::uint32_t reserved;  //  4  zero
};
static_assert(offsetof(RefusedBody, reason) == 0);
static_assert(offsetof(RefusedBody, reserved) == 4);
static_assert(sizeof(RefusedBody) == 8);

// Of kDone and kRows. The text follows, zeros to a multiple of 8, then the rows, unless they are in
// the memfd that comes along.
struct RowsBody {
  CallbackOutcome outcome;    //  0
  std::uint32_t code;         //  4  the callback's own
  std::uint32_t rows;         //  8  none in kDone
  std::uint32_t flags;        // 12  kRows...
  std::uint64_t rows_bytes;   // 16
  std::uint64_t finished_ns;  // 24  CLOCK_MONOTONIC when the callback returned
  std::uint32_t text_bytes;   // 32  UTF-8, what the callback threw; kAnswerTextBytesMax at most
  std::uint32_t reserved;     // 36  zero
};
static_assert(offsetof(RowsBody, outcome) == 0);
static_assert(offsetof(RowsBody, code) == 4);
static_assert(offsetof(RowsBody, rows) == 8);
static_assert(offsetof(RowsBody, flags) == 12);
static_assert(offsetof(RowsBody, rows_bytes) == 16);
static_assert(offsetof(RowsBody, finished_ns) == 24);
static_assert(offsetof(RowsBody, text_bytes) == 32);
static_assert(offsetof(RowsBody, reserved) == 36);
static_assert(sizeof(RowsBody) == 40);
static_assert(std::has_unique_object_representations_v<RowsBody>);
inline constexpr std::uint32_t kRowsInMemory = 1;
inline constexpr std::uint32_t kRowsIncomplete = 2;  // no room for more
inline constexpr std::size_t kAnswerTextBytesMax = 255;
inline constexpr std::uint64_t kAnswerBytesMax = std::uint64_t{64} << 20;  // of rows, in a memfd

// A row: this, the values, the name, zeros to a multiple of 8.
struct RowHead {
  std::uint32_t id;          //  0
  std::uint16_t name_bytes;  //  4  UTF-8
  std::uint16_t words;       //  6  values; none in an answer to kEnumerate
};
static_assert(offsetof(RowHead, id) == 0);
static_assert(offsetof(RowHead, name_bytes) == 4);
static_assert(offsetof(RowHead, words) == 6);
static_assert(sizeof(RowHead) == 8);
static_assert(std::has_unique_object_representations_v<RowHead>);

// What a request says, on its way in or out.
struct ChannelRequest {
  MessageType type = MessageType::kCollect;
  std::uint64_t id = 0;
  Ref registration = 0;
  std::uint64_t generation = 0;
  std::uint64_t timeout_ns = 0;
  std::vector<std::uint64_t> counter_mask{~std::uint64_t{0}};  // never empty
  std::uint32_t instance_id = kAnyInstanceId;
  std::string pattern;
  bool collect_many = true;
};

// A packet of a request. Precondition: the pattern has kNameBytesMax bytes at most, the mask 256
// words.
[[nodiscard]] std::vector<std::byte> encode(const ChannelRequest& request);

struct DecodedRequest {
  std::optional<ChannelRefusal> refusal;  // then only id is there, 0 where it could not be read
  ChannelRequest request;
};
[[nodiscard]] DecodedRequest decode_request(std::span<const std::byte> packet);

// What an answer says, on its way in or out.
struct ChannelAnswer {
  MessageType type = MessageType::kRows;
  std::uint64_t id = 0;
  ChannelRefusal refusal{};  // kRefused
  CallbackOutcome outcome = CallbackOutcome::kFinished;
  std::uint32_t code = 0;
  std::uint32_t rows = 0;
  std::uint32_t flags = 0;
  std::uint64_t rows_bytes = 0;
  std::uint64_t finished_ns = 0;
  std::string_view text;             // decoded: in the packet
  std::span<const std::byte> bytes;  // the rows, unless they are in a memfd; decoded: in the packet
};

// A packet of an answer; text beyond kAnswerTextBytesMax is cut between characters. Precondition:
// `bytes` fit in the packet.
[[nodiscard]] std::vector<std::byte> encode(const ChannelAnswer& answer);
// Nothing: the packet is no answer. What the rows contain is for RowsWalker to find out.
// Precondition: aligned to 8.
[[nodiscard]] std::optional<ChannelAnswer> decode_answer(std::span<const std::byte> packet);
// Rows of this size go in the packet, whatever the text.
inline constexpr std::size_t kRowsInPacketMax =
    kPacketBytesMax - sizeof(MessageHeader) - sizeof(RowsBody) - (kAnswerTextBytesMax + 1);

// While one lives, its thread runs a callback: asking for rows of this process could only wait for
// itself.
class InsideCallback {
 public:
  InsideCallback() noexcept;
  InsideCallback(const InsideCallback&) = delete;
  InsideCallback& operator=(const InsideCallback&) = delete;
  ~InsideCallback();
};
[[nodiscard]] bool is_inside_callback() noexcept;

// One row at a time into an answer.
class RowsEncoder {
 public:
  // Precondition: the name has kNameBytesMax bytes at most; 4,096 values at most.
  void add(std::uint32_t id, std::string_view name, std::span<const std::uint64_t> values);

  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t rows_ = 0;
};

struct ChannelRow {
  std::uint32_t id = 0;
  std::string_view name;  // in the bytes that were walked
  std::span<const std::uint64_t> values;
};

// Walks rows of a stranger: every size is checked before it is used, and a walk ends.
class RowsWalker {
 public:
  // Precondition: aligned to 8.
  RowsWalker(std::span<const std::byte> bytes, std::uint32_t rows) noexcept
      : rest_(bytes), rows_(rows) {}

  // Nothing at the end, and at the first row that does not hold together; then is_sound() is false.
  [[nodiscard]] std::optional<ChannelRow> next() noexcept;
  [[nodiscard]] bool is_sound() const noexcept { return sound_; }

 private:
  std::span<const std::byte> rest_;
  std::uint32_t rows_;
  bool sound_ = true;
};

}  // namespace meterbank
