// SPDX-License-Identifier: Apache-2.0
//
// The verbs of grammar.cpp in words: what they are called, what they do, and examples.
#pragma once

#include <array>

#include "cli/arguments/verb_parser.hpp"
#include "cli/invocation.hpp"

namespace meterbank::cli {

inline constexpr std::array kVerbs{
    VerbWords<Verb>{
        Verb::kList,
        {"list", " [PATH...]",
         "Lists countersets, or the counters that match the paths. See also: meterbank help\n"
         "paths",
         "  meterbank list\n"
         "  meterbank list -l processor_information/user_time\n"
         "  meterbank list --instances network_interface\n"}},
    VerbWords<Verb>{
        Verb::kGet,
        {"get", " [PATH...]",
         "Prints values, once or several times. A rate needs two samples, so get takes a second\n"
         "one after one interval. Without a path, it prints all counters.",
         "  meterbank get processor_information/_Total/processor_time\n"
         "  meterbank get '\\Memory\\Available Bytes' -n 5 -i 250ms\n"
         "  meterbank get 'network_interface/*/bytes_*' -X '*/lo/*' -f csv -n 60 -o net.csv\n"}},
    VerbWords<Verb>{
        Verb::kWatch,
        {"watch", " [PATH...]",
         "Shows live screens, or with PATH a live list. Without a terminal, prints rows like get.",
         "  meterbank watch\n"
         "  meterbank watch processor_information/_Total -i 250ms\n"
         "  meterbank watch 'demo_orders/*/accepted' --for 10s\n"}},
    VerbWords<Verb>{
        Verb::kHost,
        {"host", "",
         "Publishes this machine's processors, memory, disks, networks and processes until\n"
         "stopped.",
         "  meterbank host\n"
         "  meterbank host --period 1s --no-processes\n"
         "  meterbank host --name web7 --for 1h\n"}},
    VerbWords<Verb>{
        Verb::kDemo,
        {"demo", "",
         "Publishes this machine's counters and a small order gateway under load, and shows\n"
         "them live. Without a terminal, or with -f, prints three samples of five counters.",
         "  meterbank demo\n"
         "  meterbank demo --for 10s\n"
         "  meterbank demo -n 5 -i 250ms -f jsonl\n"}},
    VerbWords<Verb>{Verb::kDoctor,
                    {"doctor", "", "Finds out why counters cannot be published or read.",
                     "  meterbank doctor\n"
                     "  meterbank doctor --clean\n"
                     "  meterbank doctor --dir /dev/shm/meterbank-1000\n"}},
    VerbWords<Verb>{
        Verb::kVersion,
        {"version", "", "Prints the versions of this program and of the layout that it reads.",
         "  meterbank version\n"
         "  meterbank version -f json\n"
         "  meterbank --version\n"}},
    VerbWords<Verb>{Verb::kHelp,
                    {"help", " [VERB|TOPIC]",
                     "Prints the overview, the help of a verb, or a topic: paths, formats,\n"
                     "expressions, exit-codes.",
                     "  meterbank help\n"
                     "  meterbank help get\n"
                     "  meterbank help paths\n"}}};

}  // namespace meterbank::cli
