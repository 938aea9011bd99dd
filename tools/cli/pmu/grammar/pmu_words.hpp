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
        {"list", " [PMU]",
         "What there is to lend: PMUs, how many counters each CPU has, how many are free.",
         "  meterbank pmu list\n"
         "  meterbank pmu list -l breakpoint\n"}},
    VerbWords<PmuAction>{
        PmuAction::kLeases,
        {"leases", "",
         "Who has which counters, since when and what for. Also those who did not ask, and\n"
         "the kernel.",
         "  meterbank pmu leases\n"
         "  meterbank pmu leases --queue\n"
         "  meterbank pmu leases -f json\n"}},
    VerbWords<PmuAction>{
        PmuAction::kWho,
        {"who", " [CPU|COUNTER...]",
         "Each counter of a PMU on one CPU or several (0, 2-5), and who has it. Counters\n"
         "are written c0, c1 and, where they are fixed, f0.",
         "  meterbank pmu who 0\n"
         "  meterbank pmu who 0-3 c2\n"
         "  meterbank pmu who --pmu breakpoint\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRun,
        {"run", " -e EVENTS [--] COMMAND [ARGUMENT...]",
         "Leases counters, runs a command and says what was counted: of all that runs on\n"
         "--cpus, else of the command with its threads and children. The exit code is that\n"
         "of the command.",
         "  meterbank pmu run -e cycles,instructions -- ./bench\n"
         "  meterbank pmu run -e cycles:u --cpus 0-3 --wait 30s -- ./bench --all\n"
         "  meterbank pmu run -e mem:0x4c2010/8:w -- ./bench\n"}},
    VerbWords<PmuAction>{PmuAction::kHold,
                         {"hold", " N | -e EVENTS",
                          "Holds counters until stopped, or --for so long. Says its token first.",
                          "  meterbank pmu hold 2 --cpus 0-3\n"
                          "  meterbank pmu hold -e cycles --for 10s --label 'nightly bench'\n"}},
    VerbWords<PmuAction>{
        PmuAction::kWait,
        {"wait", " N | -e EVENTS",
         "Waits in the queue until the counters could be had, and gives them back at once.",
         "  meterbank pmu wait 4 --cpus 0 --for 5m && ./bench\n"}},
    VerbWords<PmuAction>{
        PmuAction::kProbe,
        {"probe", " N | -e EVENT",
         "How many more counters could be leased now. Asks the kernel where it can be\n"
         "asked.",
         "  meterbank pmu probe -e cycles --cpus 0-3\n"
         "  meterbank pmu probe --pmu breakpoint 1\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRevoke,
        {"revoke", " TOKEN",
         "Takes a lease away once its holder has read its last values, or --drain is over.\n"
         "For administrators; a holder gives back by itself when it ends.",
         "  meterbank pmu revoke 0001000200000003\n"
         "  meterbank pmu revoke 0001000200000003 --drain 0s\n"}},
    VerbWords<PmuAction>{
        PmuAction::kRevoke,
        {"release", " TOKEN",
         "The same without waiting for the holder. For administrators; your own process\n"
         "gives its counters back by itself when it ends.",
         "  meterbank pmu release 0001000200000003\n"}},
    VerbWords<PmuAction>{
        PmuAction::kReserve,
        {"reserve", " N",
         "Keeps N counters of a PMU for those who do not ask, such as perf. Replaces what\n"
         "was reserved on these CPUs before. For administrators.",
         "  meterbank pmu reserve 1 --cpus 0-3\n"
         "  meterbank pmu reserve 0\n"}}};

inline constexpr const char* kPmuOverview =
    R"(usage: meterbank pmu ACTION [OPTION...]

Counters of the processor, lent by the arbiter (meterbank-pmud), so that two programs do not use
the same ones.

Look     list       what there is to lend
         leases     who has which counters, since when, what for
         who        each counter of a CPU, and who has it
         probe      how many more could be had now
Count    run        lease, run a command, say what was counted
Hold     hold       lease, and hold until stopped
         wait       until counters could be had
Manage   revoke     take a lease away
         release    the same at once
         reserve    keep counters for those who do not ask

EVENTS   cycles,instructions   names that the arbiter knows; cycles:u in user mode only
         r01c2                 raw: unit mask 01, event c2
         mem:0x4c2010/8:w      a breakpoint: address, bytes, r w rw or x
         2*low4, 2             counters of an event class; of any kind

Options of an action: meterbank pmu ACTION --help. More: docs/arbiter.md

Examples:
  meterbank pmu leases
  meterbank pmu run -e cycles,instructions -- ./bench
  meterbank pmu hold 2 --cpus 0-3 --for 10s
)";

}  // namespace meterbank::cli
