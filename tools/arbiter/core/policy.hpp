// SPDX-License-Identifier: Apache-2.0
//
// The rights of clients: the policy file, which is TOML, and what it means for one client.
//
//   outsiders = "refuse"          # exact indexes beside programs without a lease; or "allow"
//
//   [[rule]]                      # allow, deny or admin, and for which users
//   user = "alice"                # a name or a number
//   allow = []                    # may count; these limits replace those of earlier rules
//   priority = "interactive"      # its highest class
//   counters = 4                  # on one CPU, all leases of the user together
//   leases = 8                    # of the user
//   waits = 1                     # of the user
//   cpus = "0-3"                  # only on these
//
//   [[rule]]
//   group = "perf"
//   allow = ["whole-cpu", "kernel", "exclusive", "buffer", "delegate"]
//
//   [[rule]]
//   executable = "/usr/bin/node_*"
//   cgroup = "/system.slice/*"
//   allow = ["whole-cpu"]
//
//   [[rule]]
//   user = "guest"
//   deny = "everything"           # or a list of rights
//
//   [[rule]]
//   group = "wheel"
//   admin = true                  # everything, and to take from others
//
//   [class.interactive]           # or batch, monitoring, critical
//   hold = "15m"                  # longest hold: ms, s, m or h; 0 for no end
//   renewable = true              # default: false
//   preemptible = false           # gives way to higher classes; default: false
//   quota = "50%"                 # of a CPU's counters, all leases together; default: 100%
//
//   [whole]
//   hold = "60s"                  # longest hold of a PMU alone, whatever the class
//
//   [[reserve]]                   # kept free for programs without a lease
//   pmu = "cpu_core"
//   cpus = "0-3"
//   counters = 1
//
//   [[guard]]                     # keeps what is not leased from programs without a lease
//   pmu = "cpu_core"
//   cpus = "0-3"
//
// Of the rules that match a client, the last one that mentions a right decides it. A rule without
// user, group, executable and cgroup matches every client; one with several of them matches a
// client that fits all. `*` stands for any characters, slashes too.
//
// A client that no rule matches may count its own tasks in user mode, at priority monitoring. Root
// and the user that the arbiter runs as are administrators and may do all of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arbiter/core/cpu_set.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

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

// Over Policy::standard(). Errors: kInvalidArgument with "FILE:LINE:COLUMN: what" of the first
// fault, kLimit in the same form. Names of users and groups are looked up while it is read.
[[nodiscard]] Result<Policy> parse_policy(std::string_view text, const std::string& file);

}  // namespace meterbank::arbiter
