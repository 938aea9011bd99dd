// SPDX-License-Identifier: Apache-2.0
//
// The actions of pmu_grammar.cpp in words.
#pragma once

#include <array>

#include "cli/arguments/verb_parser.hpp"
#include "cli/pmu/grammar/pmu_options.hpp"

namespace meterbank::cli {

inline constexpr std::array kPmuActions{
    VerbWords<PmuAction>{
        PmuAction::kList,
        {"list", " [PMU]", "Lists PMUs, how many counters each CPU has, and how many are free.",
         "  meterbank pmu list\n"
         "  meterbank pmu list -l breakpoint\n"}},
    VerbWords<PmuAction>{
        PmuAction::kLeases,
        {"leases", "",
         "Lists leases: holder, counters, age and label. Also lists processes that use\n"
         "counters without a lease, and the kernel.",
         "  meterbank pmu leases\n"
         "  meterbank pmu leases --queue\n"
         "  meterbank pmu leases -f json\n"}},
    VerbWords<PmuAction>{
        PmuAction::kWho,
        {"who", " [CPU|COUNTER...]",
         "Lists each counter of a PMU on the given CPUs (0, 2-5) and its owner. General\n"
         "counters are c0, c1 ...; fixed ones are f0, f1 ...",
         "  meterbank pmu who 0\n"
         "  meterbank pmu who 0-3 c2\n"
         "  meterbank pmu who --pmu breakpoint\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRun,
        {"run", " -e EVENTS [--] COMMAND [ARGUMENT...]",
         "Leases counters, runs a command and prints the counts: of everything that runs\n"
         "on --cpus, else of the command with its threads and children. The exit code is\n"
         "the command's.",
         "  meterbank pmu run -e cycles,instructions -- ./bench\n"
         "  meterbank pmu run -e cycles:u --cpus 0-3 --wait 30s -- ./bench --all\n"
         "  meterbank pmu run -e mem:0x4c2010/8:w -- ./bench\n"}},
    VerbWords<PmuAction>{
        PmuAction::kHold,
        {"hold", " N | -e EVENTS",
         "Prints the lease's token, then holds its counters until stopped or until --for\n"
         "has passed.",
         "  meterbank pmu hold 2 --cpus 0-3\n"
         "  meterbank pmu hold -e cycles --for 10s --label 'nightly bench'\n"}},
    VerbWords<PmuAction>{
        PmuAction::kWait,
        {"wait", " N | -e EVENTS",
         "Waits in the queue until the counters are available, then gives them back.",
         "  meterbank pmu wait 4 --cpus 0 --for 5m && ./bench\n"}},
    VerbWords<PmuAction>{
        PmuAction::kProbe,
        {"probe", " N | -e EVENT",
         "Prints how many more counters could be leased now. Where possible, asks the\n"
         "kernel.",
         "  meterbank pmu probe -e cycles --cpus 0-3\n"
         "  meterbank pmu probe --pmu breakpoint 1\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRevoke,
        {"revoke", " TOKEN",
         "Ends a lease once its holder has read its last values, or --drain has passed.\n"
         "For administrators. A lease also ends when its holder exits.",
         "  meterbank pmu revoke 0001000200000003\n"
         "  meterbank pmu revoke 0001000200000003 --drain 0s\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRevoke,
        {"release", " TOKEN",
         "Ends a lease without waiting for the holder. For administrators. A lease also\n"
         "ends when its holder exits.",
         "  meterbank pmu release 0001000200000003\n"}},
    VerbWords<PmuAction>{
        PmuAction::kReserve,
        {"reserve", " N",
         "Keeps N counters of a PMU free for programs without a lease, such as perf.\n"
         "Replaces the earlier reserve on these CPUs. For administrators.",
         "  meterbank pmu reserve 1 --cpus 0-3\n"
         "  meterbank pmu reserve 0\n"}}};

inline constexpr const char* kPmuOverview =
    R"(usage: meterbank pmu ACTION [OPTION...]

Leases hardware counters from the arbiter (meterbank-pmud), so that two programs do not use the
same counters.

Look     list       list PMUs and their free counters
         leases     list leases and their holders
         who        list each counter of a CPU and its owner
         probe      print how many more counters are available
Count    run        lease counters, run a command, print the counts
Hold     hold       lease counters and hold them until stopped
         wait       wait until counters are available
Manage   revoke     end a lease after its holder has read its last values
         release    end a lease at once
         reserve    keep counters free for programs without a lease

EVENTS   cycles,instructions   event names; cycles:u counts in user mode only
         r01c2                 raw: unit mask 01, event c2
         mem:0x4c2010/8:w      a breakpoint: address, bytes, r w rw or x
         2*low4, 2             two counters of an event class; two of any kind

Options of an action: meterbank pmu ACTION --help. More: docs/arbiter.md

Examples:
  meterbank pmu leases
  meterbank pmu run -e cycles,instructions -- ./bench
  meterbank pmu hold 2 --cpus 0-3 --for 10s
)";

}  // namespace meterbank::cli
