// SPDX-License-Identifier: Apache-2.0
//
// The ledger: which process has which counter, in memory that anyone may read and only the arbiter
// can write. One load answers "free? whose? still mine?".
//
//   LedgerHeader                 192 bytes
//   LedgerPlace  [places]        one for each PMU and CPU: where its slot words begin
//   slot words   [slots]         one for each counter
//   lease words  [leases]        one for each lease, at the number that its token has
//
//    63      60 59        48 47              32 31                    0
//   +----------+------------+------------------+-----------------------+
//   |  state   |   flags    |  lease           |  generation           |   either sort of word
//   +----------+------------+------------------+-----------------------+
//                            \______ the low 48 bits of the Token _____/
//
// Rules
//   1. The memory is a memfd that passes the attach gate (segment.hpp): nothing in it moves, and it
//      lasts as long as a process has it mapped.
//   2. The header and the places are constant, but for its words marked [L...] and `owner_mutex`.
//   3. A lease is in force while its lease word shows its token in state kActive or kRevoking. The
//      arbiter changes the word before it takes counters away [L1], so a reader that sees the token
//      after reading a value knows that the value was counted for that token.
//   4. A slot word shows who has the counter. Of several leases that share it, or take turns on
//      it, the one that has it longest, or now.
//   5. After any change of words `changes` grows and is woken as a futex [L2].
//   6. When the arbiter dies nothing changes any more: `alive_ns` grows old [L3], and the kernel
//      sets kOwnerDied in `owner_mutex` at once; from then on a reader cannot tell whether a
//      lease is in force. When it goes on in a new ledger it says so in `state` before [L4].
//
//      arbiter                                     client, after it has read a value
//                                                  fence                    acquire   [L5]
// [L1] lease or slot word := new   release         lease or slot word       acquire   [L6]
// [L2] changes := changes + 1      release         changes                  acquire   [L7]
// [L3] alive_ns := now             relaxed         alive_ns                 relaxed
// [L4] state := how it ended       release         state                    acquire   [L8]
//
//      L1 pairs with L6: a client that sees who has a counter sees the word of that lease. L5 puts
//      the look at the words behind the reading of the value; the arbiter takes counters away by a
//      call of the kernel, which interrupts the CPU that counts. L2 pairs with L7 and L4 with L8: a
//      client that sees the count, or the end, sees the words from before.
//
// Names of holders, queue and outsiders are rows of the arbiter's countersets (tools/arbiter), not
// here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "meterbank/shm/pmu/lease_parts.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::pmu {

inline constexpr std::uint64_t kLedgerMagic = 0x31726764656c626d;  // "mbledgr1"
inline constexpr std::uint32_t kLedgerVersion = 1;
inline constexpr std::uint64_t kLedgerBytesMax = std::uint64_t{4} << 20;
inline constexpr std::uint32_t kLedgerPlacesMax = 1u << 14;
inline constexpr std::uint32_t kLedgerSlotsMax = 1u << 18;
inline constexpr std::uint32_t kLedgerLeasesMax = 1u << 12;
inline constexpr std::uint32_t kLedgerCountersMax = 32;  // general ones of a place; fixed ones

// Who has one hardware counter of one CPU, in its slot word.
enum class CounterState : std::uint64_t {
  kFree,
  kGuarded,  // kept from outsiders by the arbiter
  kLeased,
  kForeign,   // a process without a lease has it
  kKernel,    // the kernel itself: a watchdog, guests
  kLimbo,     // given back, and the kernel has not let go yet
  kOffline,   // the CPU is
  kBroken,    // refused though no owner is known
  kRevoking,  // leased, and about to be taken away
};

enum class LeaseState : std::uint64_t {
  kNone,       // this number is not in use
  kQueued,     // waits
  kPreparing,  // booked, and being opened
  kActive,
  kSuspended,  // its counters are away for now
  kRevoking,   // in force until its deadline
  kFenced,     // has ended: no value with this token is accepted any more
  kLimbo,      // given back, and the kernel has not let go yet
};
[[nodiscard]] std::string_view name_of(CounterState state) noexcept;
[[nodiscard]] std::string_view name_of(LeaseState state) noexcept;

// Flags of either word.
inline constexpr std::uint64_t kSlotTagged = 1;     // the lease has an identification tag
inline constexpr std::uint64_t kSlotHasSource = 2;  // and an event that is known
inline constexpr std::uint64_t kSlotShared = 4;     // several leases count on it; this is the first
inline constexpr std::uint64_t kSlotSliced = 8;     // it takes turns; this lease has it now
inline constexpr std::uint64_t kSlotExact = 16;     // asked for by its number
inline constexpr std::uint64_t kSlotReserved = 32;  // kept for processes without a lease

template <typename State>
[[nodiscard]] constexpr std::uint64_t ledger_word(State state, std::uint64_t flags,
                                                  Token token) noexcept {
  static_assert(std::is_same_v<State, CounterState> || std::is_same_v<State, LeaseState>);
  return static_cast<std::uint64_t>(state) << 60 | (flags & 0xfff) << 48 | (token & 0xffffffffffff);
}
template <typename State>
[[nodiscard]] constexpr State state_of(std::uint64_t word) noexcept {
  return static_cast<State>(word >> 60);
}
[[nodiscard]] constexpr std::uint64_t flags_of(std::uint64_t word) noexcept {
  return word >> 48 & 0xfff;
}
[[nodiscard]] constexpr std::uint64_t low_token_of(std::uint64_t word) noexcept {
  return word & 0xffffffffffff;
}
// Whether a lease word says that `token`, which is of the ledger's epoch, is in force.
[[nodiscard]] constexpr bool is_in_force(std::uint64_t lease_word, Token token) noexcept {
  const LeaseState state = state_of<LeaseState>(lease_word);
  return low_token_of(lease_word) == (token & 0xffffffffffff) &&
         (state == LeaseState::kActive || state == LeaseState::kRevoking);
}

enum class LedgerState : std::uint32_t { kLive, kReplaced, kEnded };

struct LedgerHeader {
  std::uint64_t magic;                     //   0  kLedgerMagic
  std::uint32_t version;                   //   8  kLedgerVersion
  std::uint32_t epoch;                     //  12  of all tokens in here
  std::uint64_t arbiter_pid;               //  16  text for people
  std::uint64_t start_ns;                  //  24  when this ledger began
  std::uint32_t place_count;               //  32
  std::uint32_t slot_count;                //  36
  std::uint64_t places_at;                 //  40  bytes from the beginning
  std::uint64_t slots_at;                  //  48
  std::uint64_t leases_at;                 //  56  kLedgerLeasesMax lease words
  SharedWord alive_ns;                     //  64  [L3] CLOCK_MONOTONIC, every 100 ms
  SharedWord32 changes;                    //  72  [L2] futex
  SharedWord32 state;                      //  76  [L4] LedgerState
  std::array<std::uint64_t, 6> reserved1;  //  80  zero; readers do not look
  alignas(kCacheLine) std::array<std::uint64_t, 8> owner_mutex;  // 128  as in SegmentHeader
};
static_assert(offsetof(LedgerHeader, magic) == 0);
static_assert(offsetof(LedgerHeader, version) == 8);
static_assert(offsetof(LedgerHeader, epoch) == 12);
static_assert(offsetof(LedgerHeader, arbiter_pid) == 16);
static_assert(offsetof(LedgerHeader, start_ns) == 24);
static_assert(offsetof(LedgerHeader, place_count) == 32);
static_assert(offsetof(LedgerHeader, slot_count) == 36);
static_assert(offsetof(LedgerHeader, places_at) == 40);
static_assert(offsetof(LedgerHeader, slots_at) == 48);
static_assert(offsetof(LedgerHeader, leases_at) == 56);
static_assert(offsetof(LedgerHeader, alive_ns) == 64);
static_assert(offsetof(LedgerHeader, changes) == 72);
static_assert(offsetof(LedgerHeader, state) == 76);
static_assert(offsetof(LedgerHeader, reserved1) == 80);
static_assert(offsetof(LedgerHeader, owner_mutex) == 128);
static_assert(sizeof(LedgerHeader) == 192);

struct LedgerPlace {
  std::uint32_t cpu;         //  0
  std::uint32_t first_slot;  //  4  slot words of general counters, then of fixed ones
  std::uint16_t general;     //  8
  std::uint16_t fixed;       // 10
  Grade grade;               // 12
  WireName pmu;              // 16
};
static_assert(offsetof(LedgerPlace, cpu) == 0);
static_assert(offsetof(LedgerPlace, first_slot) == 4);
static_assert(offsetof(LedgerPlace, general) == 8);
static_assert(offsetof(LedgerPlace, fixed) == 10);
static_assert(offsetof(LedgerPlace, grade) == 12);
static_assert(offsetof(LedgerPlace, pmu) == 16);
static_assert(sizeof(LedgerPlace) == 88);

}  // namespace meterbank::pmu
