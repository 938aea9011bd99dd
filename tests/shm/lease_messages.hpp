// SPDX-License-Identifier: Apache-2.0
//
// One message of each sort in which every field has a value of its own.
#pragma once

#include <vector>

#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu::test {

inline Item sample_item() {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kNamedEvent),
          .flags = kItemExcludesKernel,
          .begin = 1,
          .end = 2,
          .count = 3,
          .code = 4,
          .unit_mask = 5,
          .entry_size = 6,
          .threshold = 7,
          .tag = 8,
          .configuration = 9,
          .name = wire_name("llc-misses")};
}

inline std::vector<CpuGroup> sample_groups() {
  return {{.mask = 0xf0f0, .group = 0}, {.mask = ~std::uint64_t{0}, .group = 63}};
}

inline std::vector<ClientMessage> client_samples() {
  const AllocateHead head{.flags = kAllocateHasGroups | kAllocateHasItems | kAllocateShares,
                          .group_count = 2,
                          .item_count = 1,
                          .priority = 3,
                          .wait_ns = kForever,
                          .term_ns = 11,
                          .hold_ns = 12,
                          .duty_permille = 500,
                          .task = 4242,
                          .reclaims = make_token(1, 2, 3),
                          .pmu = wire_name("cpu_core"),
                          .label = wire_name("nightly run")};
  AllocateHead bare;
  bare.group_count = 9;  // wrong, and the arbiter's to say so
  return {Hello{},
          Allocate{.head = head, .groups = sample_groups(), .items = {sample_item()}},
          Free{.token = 21},
          Cancel{.request = 22},
          Renew{.token = 23},
          Drained{.token = 24},
          Read{.token = 25},
          Offer{.token = 26, .kernel_id = 27},
          Probe{.flags = kAllocateHasGroups,
                .group_count = 2,
                .pmu = wire_name("cpu_atom"),
                .item = sample_item(),
                .groups = sample_groups()},
          Owners{.cpu = 28, .reserved = 0, .pmu = wire_name("uncore")},
          AdminRevoke{.token = 29, .drain_ns = 30},
          AdminReserve{.flags = kAllocateHasGroups,
                       .group_count = 2,
                       .count = 31,
                       .reserved = 0,
                       .pmu = wire_name("cpu"),
                       .groups = sample_groups()},
          Allocate{.head = bare, .groups = {}, .items = {}},
          Probe{.flags = 0, .group_count = 7, .pmu = {}, .item = {}, .groups = {}},
          AdminReserve{}};
}

inline std::vector<ArbiterMessage> arbiter_samples() {
  const Blocker blocker{.token = 41,
                        .since_ns = 42,
                        .ends_ns = 43,
                        .pid = 44,
                        .uid = 45,
                        .priority = Priority::kKernel,
                        .is_waiting = 1,
                        .name = wire_name("perf"),
                        .label = wire_name("a label")};
  const RefusedHead refused{.answer = Answer::kInsufficientResources,
                            .reason = Reason::kTaken,
                            .item = 46,
                            .cpu = 47,
                            .earliest_ns = 48,
                            .ahead = 49,
                            .blocker_count = 2,
                            .blockers_left_out = 50,
                            .sentence_bytes = 13};
  const GrantedHead granted{.token = 51,
                            .ends_ns = 52,
                            .term_ns = 53,
                            .grade = Grade::kGuarded,
                            .quality = Quality::kSliced,
                            .threshold = 54,
                            .counter_count = 2,
                            .descriptor_count = 1,
                            .duty_permille = 250};
  const CounterOwner owner{.counter = 33,
                           .kind = OwnerKind::kLimbo,
                           .token = 61,
                           .tag = 62,
                           .code = 63,
                           .unit_mask = 64,
                           .reserved = 0};
  return {
      Welcome{.flags = kWelcomeHasPmu | kWelcomeAdministrator, .epoch = 71, .client = 72},
      Granted{.head = granted,
              .counters = {{.item = 1, .cpu = 2, .counter = 3, .slot = 4, .kernel_id = 5},
                           {.item = 6, .cpu = kNoCpu, .counter = 7, .slot = kNoSlot}}},
      Counter{.token = 73, .position = 74, .reserved = 0},
      Refused{.head = refused, .blockers = {blocker, blocker}, .sentence = "CPU 3 is t\u00e4k"},
      Queued{.ahead = 75, .reserved = 0, .estimate_ns = 76},
      Done{},
      LeaseValues{
          .head = {.token = 77, .sampled_ns = 78, .quality = Quality::kFenced, .value_count = 2},
          .values = {{.item = 1, .cpu = 2, .value = 3, .enabled_ns = 4, .running_ns = 5},
                     {.item = 6, .cpu = 7, .value = 8, .enabled_ns = 9, .running_ns = 10}}},
      Room{.counters = 79, .is_probed = 1},
      OwnersAnswer{.owner_count = 2, .reserved = 0, .owners = {owner, owner}},
      Rejected{.reason = Rejection::kNotAllowed, .reserved = 0},
      Notice{.token = 80,
             .kind = NoticeKind::kResumed,
             .cause = Cause::kPolicyChanged,
             .deadline_ns = 81},
      NewLedger{},
      Granted{},
      Refused{},
      LeaseValues{},
      OwnersAnswer{}};
}

// An id that the message may have.
inline std::uint64_t id_for(const ClientMessage&) { return 99; }
inline std::uint64_t id_for(const ArbiterMessage& message) {
  const bool is_unasked =
      std::holds_alternative<Notice>(message) || std::holds_alternative<NewLedger>(message);
  return is_unasked ? 0 : 99;
}

}  // namespace meterbank::pmu::test
