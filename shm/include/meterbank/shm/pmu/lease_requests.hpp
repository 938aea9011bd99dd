// SPDX-License-Identifier: Apache-2.0
//
// What a client asks the PMU arbiter: the bodies of its packets. lease_wire.hpp has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "meterbank/shm/pmu/lease_parts.hpp"

namespace meterbank::pmu {

// The first message. With it may come a heartbeat: a memfd of one page that passes the attach gate,
// in whose first word the client stores the time whenever it uses its counters.
struct Hello {
  std::uint64_t reserved = 0;
};
static_assert(offsetof(Hello, reserved) == 0);
static_assert(sizeof(Hello) == 8);

inline constexpr std::uint32_t kAllocateHasGroups = 1;   // without: all CPUs that are online
inline constexpr std::uint32_t kAllocateHasItems = 2;    // without: the whole PMU, alone
inline constexpr std::uint32_t kAllocateDryRun = 4;      // say what you would say, and do nothing
inline constexpr std::uint32_t kAllocateShares = 8;      // others may count the same on my counters
inline constexpr std::uint32_t kAllocateDelegates = 16;  // descriptors please; own tasks only
inline constexpr std::uint32_t kAllocateDetached = 32;   // survives a lost connection for a while
inline constexpr std::uint32_t kAllocateRestorable = 64;  // may be preempted: served again later
inline constexpr std::uint32_t kAllocateFlags = 127;

// Answer: Granted, Refused; Queued before it. The counts are the client's: they are wrong without
// the flags that go with them, and answered kInvalidParameter.
struct AllocateHead {
  std::uint32_t flags = 0;
  std::uint32_t group_count = 0;
  std::uint32_t item_count = 0;
  std::uint32_t priority = 1;  // a Priority below kKernel
  std::uint64_t wait_ns = 0;   // how long it may wait in the queue; kForever
  std::uint64_t term_ns = 0;   // it ends without a heartbeat in this time (1 s at least); 0: never
  std::uint64_t hold_ns = 0;   // ends it after so long; 0: as long as its class may
  std::uint32_t duty_permille = 1000;  // content with counters for this part of the time
  std::uint32_t task = 0;              // count this thread of the client, not CPUs
  Token reclaims = 0;                  // a lease of an arbiter before this one
  WireName pmu = {};                   // empty: on each CPU the first one that covers it
  WireName label = {};                 // shown to others: what it is for
};
static_assert(offsetof(AllocateHead, flags) == 0);
static_assert(offsetof(AllocateHead, group_count) == 4);
static_assert(offsetof(AllocateHead, item_count) == 8);
static_assert(offsetof(AllocateHead, priority) == 12);
static_assert(offsetof(AllocateHead, wait_ns) == 16);
static_assert(offsetof(AllocateHead, term_ns) == 24);
static_assert(offsetof(AllocateHead, hold_ns) == 32);
static_assert(offsetof(AllocateHead, duty_permille) == 40);
static_assert(offsetof(AllocateHead, task) == 44);
static_assert(offsetof(AllocateHead, reclaims) == 48);
static_assert(offsetof(AllocateHead, pmu) == 56);
static_assert(offsetof(AllocateHead, label) == 128);
static_assert(sizeof(AllocateHead) == 200);
static_assert(std::is_trivially_copyable_v<AllocateHead>);

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};
struct Allocate {
  AllocateHead head;
  std::vector<CpuGroup> groups;  // none without kAllocateHasGroups, else group_count of them
  std::vector<Item> items;       // none without kAllocateHasItems, else item_count of them
};

// Answers: Done; Refused with kMalformed, if this client has no such lease.
struct Free {
  Token token = 0;
};
static_assert(offsetof(Free, token) == 0);
static_assert(sizeof(Free) == 8);

// Ends a wait. Not answered; the request that it names is.
struct Cancel {
  std::uint64_t request = 0;
};
static_assert(offsetof(Cancel, request) == 0);
static_assert(sizeof(Cancel) == 8);

// Begins the maximum hold anew, where the class allows that. Answer: Done, Refused.
struct Renew {
  Token token = 0;
};
static_assert(offsetof(Renew, token) == 0);
static_assert(sizeof(Renew) == 8);

// The holder has read what it wanted after a Notice of kRevoking. Answer: Done, Refused.
struct Drained {
  Token token = 0;
};
static_assert(offsetof(Drained, token) == 0);
static_assert(sizeof(Drained) == 8);

// Answer: LeaseValues, Refused.
struct Read {
  Token token = 0;
};
static_assert(offsetof(Read, token) == 0);
static_assert(sizeof(Read) == 8);

// Before an Allocate that reclaims: a counter that the client holds, with its descriptor. Answer:
// Done, Refused.
struct Offer {
  Token token = 0;
  std::uint64_t kernel_id = 0;  // PERF_EVENT_IOC_ID
};
static_assert(offsetof(Offer, token) == 0);
static_assert(offsetof(Offer, kernel_id) == 8);
static_assert(sizeof(Offer) == 16);

// How many more counters for `item`, an event or a class, could be leased on each of the CPUs.
// Asks the kernel where it can be asked, so that it is true. Answer: Room, Refused.
struct Probe {
  std::uint32_t flags = 0;  // kAllocateHasGroups
  std::uint32_t group_count = 0;
  WireName pmu = {};
  Item item;
  std::vector<CpuGroup> groups;
};
// The holder of each counter of a PMU on a CPU. Answer: OwnersAnswer, Refused.
struct Owners {
  std::uint32_t cpu = 0;
  std::uint32_t reserved = 0;
  WireName pmu = {};
};
static_assert(offsetof(Owners, cpu) == 0);
static_assert(offsetof(Owners, reserved) == 4);
static_assert(offsetof(Owners, pmu) == 8);
static_assert(sizeof(Owners) == 80);

// Takes a lease away. Administrators only. Answer: Done once it is fenced, Refused.
struct AdminRevoke {
  Token token = 0;
  std::uint64_t drain_ns = 0;  // how long the holder may take to read its last values
};
static_assert(offsetof(AdminRevoke, token) == 0);
static_assert(offsetof(AdminRevoke, drain_ns) == 8);
static_assert(sizeof(AdminRevoke) == 16);

// Keeps `count` counters of a PMU on CPUs for processes without a lease; replaces an earlier
// reserve of those CPUs. Administrators only. Answer: Done, Refused.
struct AdminReserve {
  std::uint32_t flags = 0;  // kAllocateHasGroups
  std::uint32_t group_count = 0;
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
  WireName pmu = {};
  std::vector<CpuGroup> groups;
};

}  // namespace meterbank::pmu
