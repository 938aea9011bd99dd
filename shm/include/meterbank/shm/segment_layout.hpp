// SPDX-License-Identifier: Apache-2.0
//
// Every struct that lies in a segment. Read block.hpp first, and this header second.
//
// ---- A segment ----------------------------------------------------------------------------------
//
// A segment is all memory that one provider publishes. It consists of extents. An extent is one
// memfd, fully allocated before it is mapped, and then sealed against shrinking, growing and
// further writable maps. Growth adds extents. Nothing ever moves, so a pointer of the owner and a
// mapping of a reader stay valid for as long as they are held.
//
//   extent 0                                                extent 1, 2, ...
//   +--------------+--------+-------+-------+----           +-------+-------+--------
//   | SegmentHeader| schema | regi- | group | free ->       | group | names | free ->
//   |  3584 bytes  |        | strat.|       |               |       |       |
//   +--------------+--------+-------+-------+----           +-------+-------+--------
//        |  |                 ^  |     ^  |                   ^
//        |  +--registrations--+  +-----+  +---next------------+
//        +--extents: descriptor, inode, size of each
//
// A `Ref` names a place: extent << 32 | offset. Zero means none, because offset 0 of extent 0 is
// the header. A reader turns a Ref into a pointer only through MappedSegment::at(), which uses the
// sizes that the kernel reports. A segment's own size fields are never trusted.
//
// ---- A group ------------------------------------------------------------------------------------
//
// A slot is the place of one instance. The slots of one registration are in a list of groups, each
// twice as large as the one before, up to kGroupSlotsMax. A group is four dense arrays. The place
// of each value depends only on the registration's form (struct BlockForm):
//
//   +-------------+----------------------+------------------+--------------+--------------------+
//   | GroupHeader | heads: seq, slot     | second: copy 1   | checkpoints  | SlotDescriptor     |
//   |  64 bytes   |   words and copy 0   |                  | cold         | one a slot, cold   |
//   +-------------+----------------------+------------------+--------------+--------------------+
//
//   line (lanes = 1), 8 words            tile (lanes = 8), 3 words
//   +-----+------+----+----+-- --+----+  +-------+-------+-- --+-------+
//   | seq | slot | w0 | w1 | ..  | w5 |  | seq 0 | seq 1 | ..  | seq 7 |
//   +-----+------+----+----+-- --+----+  +-------+-------+-- --+-------+
//   | w6  | w7   |    unused          |  | slot 0| slot 1| ..  | slot 7|
//   +-----+------+--------------------+  +-------+-------+-- --+-------+
//   copy 1 of up to three words shares   | w0 w1 w2 of slot 0 | w0 w1 w2 of slot 1 | ..
//   the first line, else lies in second  +----------------------------------------
//
// The slot word is drawn in slot.hpp, the two pairs of copies in checkpoint.hpp and epoch_pair.hpp.
//
// ---- Shards -------------------------------------------------------------------------------------
//
// A set that any thread may write to is sharded: a slot has several blocks, each with one writer at
// a time, and a reader joins their words. Block k of slot i has index i * shards + k in the arrays
// heads, second and checkpoints. The part of each array that holds one block is rounded up to whole
// pairs of cache lines, because processors fetch lines in pairs.
//
//   |<--------------------- slot i --------------------->|<- slot i + 1 -
//   +--------------+--------------+-- --+----------------+--------------+--
//   | shard 0      | shard 1      | ..  | shared shard   | shard 0      | ..     heads
//   |              |              |     | k = shards - 1 |              |
//   +--------------+--------------+-- --+----------------+--------------+--
//   | seq          | seq          |     | seq, even      |
//   | slot word:   | slot word:   |     | slot word      |
//   |  of the slot |  LIVE: in use|     |                |
//   | copy 0       | copy 0       |     | copy 0         |
//   +--------------+--------------+-- --+----------------+
//     one writer     one writer           atomic adds of
//     at a time      at a time            any thread
//
// The slot word of shard 0 is the slot word of the whole slot. Any other shard is in use if its own
// slot word is LIVE in the current life (one use of the slot by one instance). When a life begins,
// every shard already holds its first values. Any thread may add to the last shard, the shared one:
// such an add is atomic, changes copy 0 only and is not a commit.
//
// ---- Who writes what ----------------------------------------------------------------------------
//
// Only the provider writes. It holds one private mutex for every write, except for writes to
// values, slot words of shards, liveness words, `settled_epoch`, `channel_refused` and `interest`.
// It writes each non-atomic field once, before the word that publishes the field, and never again.
// Every word that the provider may store while a reader loads it is an atomic of 8 or 4 bytes.
//
//      provider stores                 what readers may use    reader loads
// [P1] magic                release   the header              in attach    acquire   [Q1]
// [P2] extents_count        release   the entry of the extent in refresh   acquire   [Q2]
// [P3] registration word    release   the schema              in refresh   acquire   [Q3]
// [P4] first_group, next    release   the group               in refresh   acquire   [Q4]
// [P5] directory_version    release   the changed directory   in collect   acquire   [Q5]
// [P6] registrations_count  release   the record and its Ref  in refresh   acquire   [Q6]
// [P7] state: closed        release   the final values        in collect   acquire   [Q7]
// [P8] changes[n % 64]      release   version n - 1 or later  in refresh   acquire   [Q8]
//
// Each P pairs with the Q of the same number: a reader that sees the word also sees everything
// written before it.
//
// Thread safety  As above: one provider writes, any number of readers load.
// Errors         None here: the formulas below expect numbers that were checked before, by
//                BlockForm::valid() and MappedSegment::at().
// Lifetime       A memfd lasts as long as a process has it open or mapped. Nothing in it moves.
// Units          Offsets and sizes are bytes unless a name says words; times are nanoseconds unless
//                a comment says otherwise. Numbers are little-endian. There are no pointers, no
//                size_t, no bool, no bit-fields.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meterbank/base/guid.hpp"
#include "meterbank/shm/block.hpp"
#include "meterbank/shm/directory_change.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/slot.hpp"

namespace meterbank {

using SharedWord = std::atomic<std::uint64_t>;
using SharedWord32 = std::atomic<std::uint32_t>;
static_assert(SharedWord32::is_always_lock_free);
static_assert(sizeof(SharedWord32) == 4);

inline constexpr std::uint64_t kSegmentMagic = 0x0a6b6e6162746d89;  // "\x89mtbank\n"
inline constexpr std::uint16_t kLayoutMajor = 1;                    // a reader refuses a newer one
inline constexpr std::uint16_t kLayoutMinor = 2;       // adds at the end; older readers skip it
inline constexpr std::uint32_t kAbiMark = 0x01020308;  // byte order, and 8-byte words

inline constexpr std::size_t kCacheLine = 64;  // ours: a layout must not depend on a compiler
inline constexpr std::uint32_t kExtentsMax = 24;
inline constexpr std::uint32_t kRegistrationsMax = 256;
inline constexpr std::uint32_t kCountersMax = kBlockWordsMax;  // of one set
inline constexpr std::uint32_t kProviderNameBytesMax = 63;
inline constexpr std::uint32_t kGroupSlotsFirst = 8;
inline constexpr std::uint32_t kGroupSlotsMax = 4096;
inline constexpr std::uint32_t kGroupsMax = 4096;  // of one registration
inline constexpr std::uint32_t kShardsMax = 1025;  // blocks of a slot, the shared one among them
inline constexpr std::uint64_t kLinePair = 2 * kCacheLine;
inline constexpr std::uint64_t kExtentBytesMin = 64 * 1024;
inline constexpr std::uint64_t kExtentBytesMax = std::uint64_t{1} << 31;

using Ref = std::uint64_t;
constexpr Ref make_ref(std::uint32_t extent, std::uint32_t offset) noexcept {
  return std::uint64_t{extent} << 32 | offset;
}
constexpr std::uint32_t extent_of(Ref ref) noexcept {
  return static_cast<std::uint32_t>(ref >> 32);
}
constexpr std::uint32_t offset_of(Ref ref) noexcept { return static_cast<std::uint32_t>(ref); }

// ---- The header, offset 0 of extent 0 ----

enum class SegmentState : std::uint32_t {
  kStarting = 0,  // fresh pages are zero
  kLive = 1,
  kClosed = 2,  // orderly end; values are final
};

// Why a creation was refused; index into SegmentHeader::refused.
enum class Refusal : std::uint32_t {
  kInstanceLimit,
  kRegistrationLimit,
  kMemoryLimit,
  kSystem,
};
inline constexpr std::size_t kRefusals = 8;  // room for more reasons

// How to open one extent. Written by the provider before [P2].
struct ExtentEntry {
  std::uint64_t bytes;       //  0  as allocated
  std::uint64_t inode;       //  8  inode of the memfd; reveals a reused descriptor number
  std::uint32_t descriptor;  // 16  number in the provider's table
  std::uint32_t reserved;    // 20  zero
};
static_assert(offsetof(ExtentEntry, bytes) == 0);
static_assert(offsetof(ExtentEntry, inode) == 8);
static_assert(offsetof(ExtentEntry, descriptor) == 16);
static_assert(offsetof(ExtentEntry, reserved) == 20);
static_assert(sizeof(ExtentEntry) == 24);
static_assert(std::has_unique_object_representations_v<ExtentEntry>);

struct alignas(kCacheLine) SegmentHeader {
  // Identity: written before [P1], constant ever after.
  SharedWord magic;                         //    0  kSegmentMagic, stored last [P1]
  std::uint16_t layout_major;               //    8
  std::uint16_t layout_minor;               //   10
  std::uint32_t abi_mark;                   //   12  kAbiMark
  std::uint32_t header_bytes;               //   16  sizeof(SegmentHeader) of the writer
  std::uint32_t pid;                        //   20  informational, never an identity
  std::array<std::uint64_t, 2> segment_id;  //   24  random; differs at every provider start
  std::array<std::uint64_t, 2> boot_id;     //   40
  std::uint64_t start_time;                 //   56  of the process, clock ticks since boot
  std::uint64_t created_monotonic_ns;       //   64
  std::uint64_t created_realtime_ns;        //   72
  std::uint64_t time_namespace;             //   80  inode; monotonic stamps compare only within it
  std::uint32_t uid;                        //   88  informational; the kernel's st_uid decides
  std::uint32_t name_bytes;                 //   92
  std::array<char, 64> name;                //   96  UTF-8, not terminated
  std::array<std::uint64_t, 4> reserved0;   //  160  zero

  // Directory: changed by the provider under its mutex.
  SharedWord directory_version;               //  192  [P5] the only word loaded to detect changes
  SharedWord32 state;                         //  200  [P7] SegmentState
  SharedWord32 extents_count;                 //  204  [P2]
  SharedWord32 registrations_count;           //  208  [P6]
  std::uint32_t reserved1;                    //  212  zero
  std::array<SharedWord, kRefusals> refused;  // 216  creations refused, by Refusal
  SharedWord channel_refused;                 //  280  rejected connections and requests
  SharedWord settled_epoch;                   //  288  latest epoch at which cuts can be read
  std::array<std::uint64_t, 3> reserved2;     //  296  zero

  // Liveness: written by the keeper thread.
  // A robust mutex that the keeper locks for as long as the process lives. At death the kernel sets
  // bit 30 of its first 32-bit word. This is only a hint: a hostile provider can forge it.
  alignas(kCacheLine) std::array<std::uint64_t, 8> owner_mutex;  //  320
  SharedWord heartbeat_ns;                 //  384  CLOCK_MONOTONIC_COARSE, once a period
  SharedWord heartbeat_period_ns;          //  392  0: this provider has no keeper
  std::array<std::uint64_t, 6> reserved3;  //  400  zero

  std::array<ExtentEntry, kExtentsMax> extents;             //  448
  std::array<SharedWord, kRegistrationsMax> registrations;  // 1024  Ref of each, before [P6]

  // Since 1.2; a header of an older provider ends here, see kHeaderBytesMin.
  std::array<SharedWord, kChangesKept> changes;  // 3072  DirectoryChange, before [P5] [P8]
};
static_assert(offsetof(SegmentHeader, magic) == 0);
static_assert(offsetof(SegmentHeader, layout_major) == 8);
static_assert(offsetof(SegmentHeader, layout_minor) == 10);
static_assert(offsetof(SegmentHeader, abi_mark) == 12);
static_assert(offsetof(SegmentHeader, header_bytes) == 16);
static_assert(offsetof(SegmentHeader, pid) == 20);
static_assert(offsetof(SegmentHeader, segment_id) == 24);
static_assert(offsetof(SegmentHeader, boot_id) == 40);
static_assert(offsetof(SegmentHeader, start_time) == 56);
static_assert(offsetof(SegmentHeader, created_monotonic_ns) == 64);
static_assert(offsetof(SegmentHeader, created_realtime_ns) == 72);
static_assert(offsetof(SegmentHeader, time_namespace) == 80);
static_assert(offsetof(SegmentHeader, uid) == 88);
static_assert(offsetof(SegmentHeader, name_bytes) == 92);
static_assert(offsetof(SegmentHeader, name) == 96);
static_assert(offsetof(SegmentHeader, reserved0) == 160);
static_assert(offsetof(SegmentHeader, directory_version) == 192);
static_assert(offsetof(SegmentHeader, state) == 200);
static_assert(offsetof(SegmentHeader, extents_count) == 204);
static_assert(offsetof(SegmentHeader, registrations_count) == 208);
static_assert(offsetof(SegmentHeader, reserved1) == 212);
static_assert(offsetof(SegmentHeader, refused) == 216);
static_assert(offsetof(SegmentHeader, channel_refused) == 280);
static_assert(offsetof(SegmentHeader, settled_epoch) == 288);
static_assert(offsetof(SegmentHeader, reserved2) == 296);
static_assert(offsetof(SegmentHeader, owner_mutex) == 320);
static_assert(offsetof(SegmentHeader, heartbeat_ns) == 384);
static_assert(offsetof(SegmentHeader, heartbeat_period_ns) == 392);
static_assert(offsetof(SegmentHeader, reserved3) == 400);
static_assert(offsetof(SegmentHeader, extents) == 448);
static_assert(offsetof(SegmentHeader, registrations) == 1024);
static_assert(offsetof(SegmentHeader, changes) == 3072);
static_assert(kRegistrationsMax == 256, "an entry of `changes` has 8 bits for a registration");
static_assert(sizeof(SegmentHeader) == 3584);
static_assert(std::is_standard_layout_v<SegmentHeader>);

// Size of the header in layout 1.0. Later members exist if SegmentHeader::header_bytes covers them.
inline constexpr std::uint32_t kHeaderBytesMin = 3072;
static_assert(offsetof(SegmentHeader, changes) == kHeaderBytesMin);

inline constexpr std::uint32_t kOwnerDied = 0x40000000;    // FUTEX_OWNER_DIED, linux/futex.h
inline constexpr std::uint32_t kOwnerThread = 0x3fffffff;  // FUTEX_TID_MASK: its thread id, 0: free

// ---- A registration: one provider's live declaration of a counterset ----

// Modelled on the ETW registration entry. The state moves inserted -> closing -> closed and never
// back. Registering the same schema again starts a new generation of the word.
enum class RegistrationState : std::uint64_t {
  kFree = 0,
  kInserted = 1,
  kClosing = 2,
  kClosed = 3,
};

// RegistrationRecord::word is generation << 16 | flags << 8 | state.
struct RegistrationWord {
  std::uint64_t generation = 0;
  std::uint64_t flags = 0;  // kRegistration... bits
  RegistrationState state = RegistrationState::kFree;

  static constexpr RegistrationWord of(std::uint64_t raw) noexcept {
    return {raw >> 16, raw >> 8 & 0xff, static_cast<RegistrationState>(raw & 3)};
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
    return generation << 16 | flags << 8 | static_cast<std::uint64_t>(state);
  }
};
inline constexpr std::uint64_t kRegistrationCallback = 1;  // rows are also computed on demand
inline constexpr std::uint64_t kRegistrationInterest = 2;  // receives notice of interested readers

// How the values of an instance are kept consistent.
enum class Consistency : std::uint32_t {
  kBlock = 0,        // one writer, all counters of an instance belong to one moment
  kIndependent = 1,  // each counter is exact by itself; the cheapest increment
};

// The address formula: where the parts of the block of slot i lie in its group.
struct BlockForm {
  std::uint32_t words = 0;
  std::uint32_t lanes = 1;  // slots that share a head: 1 = line, 8 = tile
  Consistency consistency = Consistency::kBlock;
  std::uint32_t checkpoint = 0;  // 1: each block has a checkpoint pair
  std::uint32_t cut_pair = 0;    // 1: an epoch pair follows the checkpoint pair
  std::uint32_t shards = 1;      // blocks of a slot; 1: not sharded

  static constexpr std::uint64_t lines(std::uint64_t words) noexcept {
    return (words * 8 + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  // Copy 1 of a narrow line shares the line of its head: 2 + 3 + 3 words.
  [[nodiscard]] constexpr bool inline_second() const noexcept { return lanes == 1 && words <= 3; }
  [[nodiscard]] constexpr bool sharded() const noexcept { return shards > 1; }
  // Bytes for `block_words` words, rounded up to whole lines (in a sharded set, to pairs of lines).
  [[nodiscard]] constexpr std::uint64_t stride(std::uint64_t block_words) const noexcept {
    const std::uint64_t bytes = lines(block_words);
    return sharded() ? (bytes + kLinePair - 1) / kLinePair * kLinePair : bytes;
  }
  [[nodiscard]] constexpr std::uint64_t head_stride() const noexcept {
    const std::uint64_t copies = inline_second() && consistency == Consistency::kBlock ? 2 : 1;
    return stride(std::uint64_t{lanes} * (2 + copies * words));
  }
  [[nodiscard]] constexpr std::uint64_t second_stride() const noexcept {
    if (consistency != Consistency::kBlock || inline_second()) return 0;
    return stride(std::uint64_t{lanes} * words);
  }
  [[nodiscard]] constexpr std::uint64_t checkpoint_stride() const noexcept {
    if (checkpoint == 0) return 0;
    return stride(checkpoint_words(words) + (cut_pair == 0 ? 0 : cut_words(words)));
  }
  [[nodiscard]] constexpr bool valid() const noexcept {
    return words >= 1 && words <= kBlockWordsMax && (lanes == 1 || lanes == 8) &&
           (consistency == Consistency::kBlock ||
            (consistency == Consistency::kIndependent && checkpoint == 0)) &&
           checkpoint <= 1 && cut_pair <= checkpoint && shards >= 1 && shards <= kShardsMax &&
           (shards == 1 || (lanes == 1 && cut_pair == 0));
  }
  friend constexpr bool operator==(const BlockForm&, const BlockForm&) noexcept = default;
};
static_assert(BlockForm{.words = 3}.head_stride() == 64);
static_assert(BlockForm{.words = 6}.head_stride() == 64);
static_assert(BlockForm{.words = 8}.head_stride() + BlockForm{.words = 8}.second_stride() == 192);
static_assert(BlockForm{.words = 8, .lanes = 8}.head_stride() +
                  BlockForm{.words = 8, .lanes = 8}.second_stride() ==
              8 * 144);
static_assert(BlockForm{.words = 8, .checkpoint = 1}.checkpoint_stride() == 192);
static_assert(BlockForm{.words = 3, .shards = 2}.head_stride() == 128);
static_assert(BlockForm{.words = 8, .checkpoint = 1, .shards = 5}.checkpoint_stride() == 256);
static_assert(BlockForm{.words = 8, .checkpoint = 1, .cut_pair = 1}.checkpoint_stride() == 384);

struct alignas(kCacheLine) RegistrationRecord {
  SharedWord word;            //   0  RegistrationWord [P3]
  SharedWord membership;      //   8  incremented before each create [S1] or close
  SharedWord first_group;     //  16  Ref [P4]
  SharedWord live_instances;  //  24  advisory, for listings
  SharedWord interest;        //  32  connections that declared interest
  // Constant since [P6].
  Ref schema;                              //  40  SchemaHeader
  std::uint32_t schema_bytes;              //  48
  std::uint32_t words;                     //  52  BlockForm
  std::uint32_t lanes;                     //  56
  std::uint32_t consistency;               //  60
  std::uint32_t checkpoint;                //  64
  std::uint32_t cut_pair;                  //  68
  std::uint32_t shards;                    //  72
  std::uint32_t reserved0;                 //  76  zero
  std::array<std::uint64_t, 6> reserved1;  //  80  zero
};
static_assert(offsetof(RegistrationRecord, word) == 0);
static_assert(offsetof(RegistrationRecord, membership) == 8);
static_assert(offsetof(RegistrationRecord, first_group) == 16);
static_assert(offsetof(RegistrationRecord, live_instances) == 24);
static_assert(offsetof(RegistrationRecord, interest) == 32);
static_assert(offsetof(RegistrationRecord, schema) == 40);
static_assert(offsetof(RegistrationRecord, schema_bytes) == 48);
static_assert(offsetof(RegistrationRecord, words) == 52);
static_assert(offsetof(RegistrationRecord, lanes) == 56);
static_assert(offsetof(RegistrationRecord, consistency) == 60);
static_assert(offsetof(RegistrationRecord, checkpoint) == 64);
static_assert(offsetof(RegistrationRecord, cut_pair) == 68);
static_assert(offsetof(RegistrationRecord, shards) == 72);
static_assert(offsetof(RegistrationRecord, reserved0) == 76);
static_assert(offsetof(RegistrationRecord, reserved1) == 80);
static_assert(sizeof(RegistrationRecord) == 128);

// ---- A group of slots ----

struct alignas(kCacheLine) GroupHeader {
  SharedWord next;                         //   0  Ref of the next group of the registration [P4]
  std::uint32_t slots;                     //   8  a multiple of 8, at most kGroupSlotsMax
  std::uint32_t reserved0;                 //  12  zero
  std::array<std::uint64_t, 6> reserved1;  //  16  zero
};
static_assert(offsetof(GroupHeader, next) == 0);
static_assert(offsetof(GroupHeader, slots) == 8);
static_assert(offsetof(GroupHeader, reserved0) == 12);
static_assert(offsetof(GroupHeader, reserved1) == 16);
static_assert(sizeof(GroupHeader) == 64);

// Describes the instance in a slot. The provider rewrites it at each life, between [S2] and [S3].
// Every field is an atomic, because a reader may be copying it meanwhile; the reader's check of the
// generation detects that.
struct SlotDescriptor {
  SharedWord identity;                  //  0  instance id | name bytes << 32
  SharedWord name;                      //  8  Ref of a long name, 0: it is in name_here
  SharedWord created_ns;                // 16  CLOCK_MONOTONIC_COARSE
  std::array<SharedWord, 5> name_here;  // 24  up to 40 bytes of UTF-8
};
static_assert(offsetof(SlotDescriptor, identity) == 0);
static_assert(offsetof(SlotDescriptor, name) == 8);
static_assert(offsetof(SlotDescriptor, created_ns) == 16);
static_assert(offsetof(SlotDescriptor, name_here) == 24);
static_assert(sizeof(SlotDescriptor) == 64);
inline constexpr std::uint32_t kNameHereBytes = 40;

inline constexpr std::uint32_t kAnyInstanceId = 0xffffffff;  // Windows: PCW_ANY_INSTANCE_ID
inline constexpr std::uint32_t kInstanceIdMax =
    0xfffffffd;  // 0xfffffffe and 0xffffffff are reserved

// Offsets of the arrays of a group from its header. Owner and reader use the same formula.
struct GroupLayout {
  std::uint64_t heads = 0;
  std::uint64_t second = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t bytes = 0;

  static constexpr GroupLayout of(const BlockForm& form, std::uint64_t slots) noexcept {
    GroupLayout layout;
    const std::uint64_t heads = slots / form.lanes * form.shards;
    // Sharded heads begin at an even line, so that each pair is a pair that the processor fetches.
    layout.heads = form.sharded() ? kLinePair : sizeof(GroupHeader);
    layout.second = layout.heads + heads * form.head_stride();
    layout.checkpoints = layout.second + heads * form.second_stride();
    layout.descriptors = layout.checkpoints + slots * form.shards * form.checkpoint_stride();
    layout.bytes = layout.descriptors + slots * sizeof(SlotDescriptor);
    return layout;
  }
};

// The block of slot `slot` in the group that starts at `group`. `Byte` is std::byte, const for a
// reader. The caller has checked that the whole group lies in mapped memory, and shard < shards.
template <typename Byte>
[[nodiscard]] auto block_parts(Byte* group, const BlockForm& form, const GroupLayout& layout,
                               std::uint32_t slot, std::uint32_t shard = 0) noexcept {
  using W = std::conditional_t<std::is_const_v<Byte>, const SharedWord, SharedWord>;
  const std::uint64_t head = slot / form.lanes * std::uint64_t{form.shards} + shard;
  const std::uint64_t lane = slot % form.lanes;
  const auto words_at = [group](std::uint64_t offset) {
    return reinterpret_cast<W*>(group + offset);
  };
  W* const line = words_at(layout.heads + head * form.head_stride());
  BlockParts<W> parts;
  parts.words = form.words;
  parts.seq = line + lane;
  parts.slot = line + form.lanes + lane;
  parts.copy0 = line + 2 * std::uint64_t{form.lanes} + lane * form.words;
  parts.copy1 = parts.copy0;
  if (form.consistency == Consistency::kBlock) {
    parts.copy1 = form.inline_second()
                      ? parts.copy0 + form.words
                      : words_at(layout.second + head * form.second_stride()) + lane * form.words;
  }
  if (form.checkpoint != 0) {
    const std::uint64_t block = std::uint64_t{slot} * form.shards + shard;
    parts.checkpoint = words_at(layout.checkpoints + block * form.checkpoint_stride());
    if (form.cut_pair != 0) parts.cut = parts.checkpoint + checkpoint_words(form.words);
  }
  return parts;
}

// Shard `shard` of the slot whose shard 0 is `first`, for callers that do not have the group.
template <typename W>
[[nodiscard]] BlockParts<W> shard_parts(const BlockParts<W>& first, const BlockForm& form,
                                        std::uint32_t shard) noexcept {
  const std::uint64_t head = shard * form.head_stride() / sizeof(SharedWord);
  const std::uint64_t second = shard * form.second_stride() / sizeof(SharedWord);
  BlockParts<W> parts = first;
  parts.seq += head;
  parts.slot += head;
  parts.copy0 += head;
  parts.copy1 += second != 0 ? second : head;
  if (parts.checkpoint != nullptr) {
    parts.checkpoint += shard * form.checkpoint_stride() / sizeof(SharedWord);
  }
  return parts;
}

}  // namespace meterbank
