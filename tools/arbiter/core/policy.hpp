// SPDX-License-Identifier: Apache-2.0
//
// Who may have what: the policy file, and what it means for one client.
//
//   # rules are tried from above; the last line that fits a client and says a right decides it
//   allow user=alice                         priority=interactive counters=4 cpus=0-3
//   allow group=perf                         whole-cpu kernel exclusive buffer
//   allow executable=/usr/bin/node_exporter  priority=monitoring whole-cpu
//   allow cgroup=/system.slice/*             counters=2 leases=8 waits=1 delegate
//   deny  user=guest                         everything; with words, these rights alone
//   admin group=wheel                        everything, and to take from others
//   class monitoring  hold=0 preemptible     longest hold; whether it may go on, and gives way
//   class interactive hold=15m renewable quota=50%
//   whole hold=60s                           longest hold of a PMU alone, whatever the class
//   reserve pmu=cpu_core cpus=0-3 counters=1 for those who do not ask
//   guard   pmu=cpu_core cpus=0-3            keeps what is not leased from those who do not ask
//   outsiders refuse                         exact indexes beside perf users: refuse, or allow
//
// A line without user, group, executable and cgroup fits every client; with several, who fits them
// all. `*` stands for any characters, slashes too. What a class line does not say is not so. `#`
// begins a comment.
//
// A client that no line fits may count its own tasks in user mode, at priority monitoring. Root and
// the user that the arbiter runs as are administrators and may do all of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arbiter/core/cpu_set.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/lease_wire.hpp"

namespace meterbank::arbiter {

// From the kernel, when the client connected.
struct ClientIdentity {
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // beside gid
  std::uint64_t start_time = 0;       // of its process, clock ticks since boot
  std::string program;                // comm
  std::string executable;             // empty: not known
  std::string cgroup;                 // of the unified hierarchy; empty: not known
};

struct Rights {
  bool is_denied = false;  // everything
  bool is_administrator = false;
  pmu::Priority priority_max = pmu::Priority::kMonitoring;
  std::uint32_t counters_max = 64;  // on one CPU, all leases of the user together
  std::uint32_t leases_max = 64;    // of the user
  std::uint32_t waits_max = 16;     // of the user
  std::optional<CpuSet> cpus;       // only these; nothing: any
  bool may_count_cpus = false;      // whatever runs on them, and uncore PMUs
  bool may_count_kernel = false;
  bool may_have_whole = false;   // a PMU alone
  bool may_have_buffer = false;  // event buffers and other units
  bool may_delegate = false;     // get descriptors of its own tasks' counters
};

struct ClassRules {
  std::uint64_t hold_ns_max = 0;  // 0: no end
  bool is_renewable = true;
  bool is_preemptible = false;          // by higher classes
  std::uint32_t quota_permille = 1000;  // of the counters of a CPU, all leases of the class
};

struct ReserveRule {
  std::string pmu;
  CpuSet cpus;
  std::uint32_t counters = 0;
};
struct GuardRule {
  std::string pmu;
  CpuSet cpus;
};

struct PolicyRule {
  std::optional<std::uint32_t> uid, gid;
  std::string executable, cgroup;  // globs with *; empty: any
  Rights rights;                   // those that `says` names
  std::uint32_t says = 0;          // bits, private to policy.cpp
};

struct Policy {
  std::vector<PolicyRule> rules;
  // By pmu::Priority. Batch and monitoring give way; interactive holds for 15 minutes and may be
  // renewed; a lease of a whole PMU ends after whole_hold_ns_max whatever its class.
  std::array<ClassRules, 4> classes;
  std::uint64_t whole_hold_ns_max = 60'000'000'000;
  std::vector<ReserveRule> reserves;
  std::vector<GuardRule> guards;
  bool mixes_exact_with_outsiders = false;

  [[nodiscard]] static Policy standard();
  // `own_uid`: of the arbiter.
  [[nodiscard]] Rights rights_of(const ClientIdentity& client, std::uint32_t own_uid) const;
};

inline constexpr std::size_t kPolicyBytesMax = std::size_t{1} << 16;

// Over Policy::standard(). The first fault ends it. Errors: kInvalidArgument with "FILE:LINE:
// what", kLimit in the same form. Users and groups may be numbers; names are looked up while it is
// read.
[[nodiscard]] Result<Policy> parse_policy(std::string_view text, const std::string& file);

}  // namespace meterbank::arbiter
