// SPDX-License-Identifier: Apache-2.0
//
// What there is to lend: the PMUs of a machine, and which counters can count which event. Filled
// from discovery at run time, or from a topology file:
//
//   pmu    cpu_core cpus=0-15 gp=8 fixed=4 width=48 flags=overflow,userread
//   cores  cpu_core siblings=0,8                    CPUs that share a core; one line each
//   class  low4     cpu_core gp=0x0f                which counters will do for an event of it
//   class  inst     cpu_core gp=0xff fixed=0        fixed= is a list of fixed counters
//   block  pair     cpu_core len=2 align=2          several counters beside each other
//   unit   lbr      cpu_core scope=cpu n=1 conflicts=pt,bts
//   unit   eventbuf cpu_core scope=cpu n=1 shareable=threshold-min
//   extra  offcore_rsp cpu_core scope=core n=2 share=same-config
//   event  cpu_core 0x80-0x8f -> low4               0x3c:0x00 with a unit mask
//   foreign watchdog cpu_core cpus=0-15 event=0x3c  held by a process without a lease
//
// A PMU with flags=named is not meant by requests that name none; one with flags=closed counts only
// what its event lines name.
//
// `#` begins a comment. A line may name what stands above it; conflicts may be named below, too,
// are between units of one PMU, and hold both ways though one side says so. Counts are facts of one
// machine and never written into code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arbiter/core/cpu_set.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

// Counters of one PMU on one CPU: bit i is general counter i, bit 32 + i fixed counter i.
using CounterMask = std::uint64_t;
inline constexpr std::uint32_t kGeneralMax = 32;
inline constexpr std::uint32_t kFixedFirst = 32;
inline constexpr std::uint32_t kFixedMax = 32;

// Bounds of a topology file, far beyond any machine and small enough for quadratic searches.
inline constexpr std::size_t kTopologyBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kTopologyLineBytesMax = 4096;  // without its newline
inline constexpr std::size_t kTopologyRulesMax = 8192;      // lines that say something
inline constexpr std::size_t kTopologyPmusMax = 256;
inline constexpr std::size_t kTopologyUnitsMax = 1024;
inline constexpr std::size_t kTopologyConflictsMax = 16;  // of one line
inline constexpr std::uint32_t kUnitCountMax = 1024;      // n= of units and extras
inline constexpr std::size_t kNameBytesMax = 64;

using PmuIndex = std::uint32_t;  // position in Topology::pmus

struct Pmu {
  std::string name;  // "cpu_core"
  CpuSet cpus;
  std::uint32_t general = 0;
  std::uint32_t fixed = 0;
  std::uint32_t width = 64;  // bits of a counter
  bool has_overflow = false;
  bool has_user_read = false;
  bool is_named_only = false;  // never meant by a request that names no PMU
  bool is_closed = false;      // counts only the events that have a rule

  [[nodiscard]] CounterMask counters() const noexcept;  // all of them
};

// Any one counter of the mask will do for an event of the class.
struct EventClass {
  std::string name;
  PmuIndex pmu = 0;
  CounterMask counters = 0;
};

// `length` adjacent general counters, the first of which is a multiple of `alignment`.
struct BlockRule {
  std::string name;
  PmuIndex pmu = 0;
  std::uint32_t length = 1;
  std::uint32_t alignment = 1;
};

enum class Scope : std::uint8_t { kCpu, kCore, kPmu };

// Event buffers, branch records and the like: a number of them for each `scope`.
struct UnitRule {
  std::string name;
  PmuIndex pmu = 0;
  Scope scope = Scope::kCpu;
  std::uint32_t count = 1;
  std::vector<std::string> conflicts;  // of units that cannot be used at the same time
  bool is_shareable = false;           // by holders that agree on the lowest threshold
};

// Registers beside the counters, that several may hold if they want the same in it.
struct ExtraRule {
  std::string name;
  PmuIndex pmu = 0;
  Scope scope = Scope::kCpu;
  std::uint32_t count = 1;
};

struct EventRule {
  PmuIndex pmu = 0;
  std::uint32_t first = 0, last = 0;            // event codes
  std::optional<std::uint32_t> unit_mask = {};  // any, if not said
  std::uint32_t event_class = 0;                // position in Topology::classes
};

struct ForeignHolder {
  std::string name;  // "watchdog"
  PmuIndex pmu = 0;
  CpuSet cpus;
  std::uint32_t event_class = 0;
};

struct Topology {
  std::vector<Pmu> pmus;
  std::vector<CpuSet> cores;  // sets of CPUs that share a core; a CPU in none has its own
  std::vector<EventClass> classes;
  std::vector<BlockRule> blocks;
  std::vector<UnitRule> units;
  std::vector<ExtraRule> extras;
  std::vector<EventRule> events;
  std::vector<ForeignHolder> foreign;

  [[nodiscard]] std::optional<PmuIndex> find_pmu(std::string_view name) const noexcept;
  // Of an event: the first rule that fits, one with a unit mask before one without. Nothing: the
  // event may be on any general counter of the PMU.
  [[nodiscard]] std::optional<std::uint32_t> class_of(PmuIndex pmu, std::uint32_t code,
                                                      std::uint32_t unit_mask) const noexcept;
  // The counters that such an event can be on.
  [[nodiscard]] CounterMask counters_for(PmuIndex pmu, std::uint32_t code,
                                         std::uint32_t unit_mask) const noexcept;
  // The CPUs that share a resource of this scope with `cpu`, itself included. Empty if the PMU is
  // not on that CPU.
  [[nodiscard]] CpuSet sharing(PmuIndex pmu, Scope scope, std::uint32_t cpu) const;
};

// The first fault ends it. Errors: kInvalidArgument with "FILE:LINE: what"; kLimit, in the same
// form, beyond the bounds above. A text without any PMU is a machine that has nothing to lend.
[[nodiscard]] Result<Topology> parse_topology(std::string_view text, const std::string& file);

}  // namespace meterbank::arbiter
